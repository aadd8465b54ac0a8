// SPDX-License-Identifier: BSD-3-Clause
// A write that is killed leaves the earlier file whole, and nothing under the final name where there was
// none.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

namespace {

namespace fs = std::filesystem;

std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

bool write_once(int ranks, const fs::path& path, const std::string& strategy, const std::string& fault) {
  ::setenv("NEVE_FAULT", fault.c_str(), 1);
  const std::string command = std::string(NEVE_MPIEXEC) + " " + std::to_string(ranks) + " " +
                              NEVE_WRITE_ONCE + " " + path.string() + " " + strategy + " 2>/dev/null";
  return std::system(command.c_str()) == 0;
}

std::vector<std::string> names_in(const fs::path& directory) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(directory))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

class Killed : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Strategies, Killed, testing::Values("skeleton", "filtered"),
                         [](const auto& param) { return std::string(param.param); });

TEST_P(Killed, TheEarlierFileIsWholeAndNoHalfFileHasTheName) {
  const std::string strategy = GetParam();
  const fs::path directory = fs::temp_directory_path() / ("neve-killed-" + std::to_string(::getpid()));
  fs::create_directories(directory);
  const fs::path path = directory / "plot.h5";
  for (const char* fault : {"put:1:kill", "put:0:kill", "sync:1:kill", "rename:0:kill"}) {
    EXPECT_FALSE(write_once(2, path, strategy, fault)) << fault;
    EXPECT_FALSE(fs::exists(path)) << fault;
  }
  ASSERT_TRUE(write_once(2, path, strategy, ""));
  const std::string whole = read_file(path);
  ASSERT_GT(whole.size(), 1000u);
  for (const char* fault : {"put:1:kill", "put:0:kill", "sync:1:kill", "rename:0:kill"}) {
    EXPECT_FALSE(write_once(2, path, strategy, fault)) << fault;
    EXPECT_TRUE(read_file(path) == whole) << fault;
  }
  // What the killed left does not stand in the way; the next write to the same target clears it away, and
  // nothing else.
  const std::string others[] = {".other.h5.neve-tmp-0000000000000000-1-00000000",
                                ".plot.h5.neve-tmp-0000000000000000-1-00000000", "plot.h5-backup"};
  for (const std::string& name : others) std::ofstream(directory / name) << "kept";
  EXPECT_TRUE(write_once(3, path, strategy, ""));
  // mpirun may end before the last of the ranks that it stops has gone.
  for (int i = 0; i < 20 && names_in(directory).size() > 4; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    EXPECT_TRUE(write_once(1, path, strategy, ""));
  }
  EXPECT_EQ(names_in(directory), (std::vector<std::string>{others[0], others[1], "plot.h5", others[2]}));
  fs::remove_all(directory);
}

}  // namespace
