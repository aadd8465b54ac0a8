// SPDX-License-Identifier: BSD-3-Clause
// A write that is killed leaves the earlier file whole, and nothing under the final name where there was
// none.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace {

namespace fs = std::filesystem;

std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

bool write_once(int ranks, const fs::path& path, const std::string& fault) {
  ::setenv("NEVE_FAULT", fault.c_str(), 1);
  const std::string command = std::string(NEVE_MPIEXEC) + " " + std::to_string(ranks) + " " +
                              NEVE_WRITE_ONCE + " " + path.string() + " 2>/dev/null";
  return std::system(command.c_str()) == 0;
}

TEST(Killed, TheEarlierFileIsWholeAndNoHalfFileHasTheName) {
  const fs::path directory = fs::temp_directory_path() / ("neve-killed-" + std::to_string(::getpid()));
  fs::create_directories(directory);
  const fs::path path = directory / "plot.h5";
  for (const char* fault : {"put:1:kill", "put:0:kill", "sync:1:kill", "rename:0:kill"}) {
    EXPECT_FALSE(write_once(2, path, fault)) << fault;
    EXPECT_FALSE(fs::exists(path)) << fault;
  }
  ASSERT_TRUE(write_once(2, path, ""));
  const std::string whole = read_file(path);
  ASSERT_GT(whole.size(), 1000u);
  for (const char* fault : {"put:1:kill", "put:0:kill", "sync:1:kill", "rename:0:kill"}) {
    EXPECT_FALSE(write_once(2, path, fault)) << fault;
    EXPECT_TRUE(read_file(path) == whole) << fault;
  }
  // What the killed left lies under names of their own and does not stand in the way.
  EXPECT_TRUE(write_once(3, path, ""));
  fs::remove_all(directory);
}

}  // namespace
