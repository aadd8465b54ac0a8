// SPDX-License-Identifier: BSD-3-Clause
// A write that is killed leaves the earlier file whole, and nothing under the final name where there was
// none.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "tests/mpi/write_kinds.hpp"

namespace {

namespace fs = std::filesystem;

std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

enum class End { well, badly, never };

// One write, within a minute.
End write_once(int ranks, const fs::path& path, const std::string& kind, int version,
               const std::string& fault) {
  ::setenv("NEVE_FAULT", fault.c_str(), 1);
  const std::string command = std::string("timeout 60 ") + NEVE_MPIEXEC + " " + std::to_string(ranks) + " " +
                              NEVE_WRITE_ONCE + " " + path.string() + " " + kind + " " +
                              std::to_string(version) + " 2>/dev/null";
  const int ended = std::system(command.c_str());
  if (ended == 0) return End::well;
  return WIFEXITED(ended) && WEXITSTATUS(ended) == 124 ? End::never : End::badly;
}

std::vector<std::string> names_in(const fs::path& directory) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(directory))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

class Killed : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Kinds, Killed, testing::Values("plot_skeleton", "plot_filtered"),
                         [](const auto& param) { return std::string(param.param); });

TEST_P(Killed, TheEarlierFileIsWholeAndNoHalfFileHasTheName) {
  const std::string kind = GetParam();
  const fs::path directory = fs::temp_directory_path() / ("neve-killed-" + std::to_string(::getpid()));
  fs::create_directories(directory);
  const fs::path path = directory / "plot.h5";
  for (const char* fault : {"write:1:kill", "write:0:kill", "sync:1:kill", "rename:0:kill"}) {
    EXPECT_EQ(write_once(2, path, kind, 1, fault), End::badly) << fault;
    EXPECT_FALSE(fs::exists(path)) << fault;
  }
  ASSERT_EQ(write_once(2, path, kind, 1, ""), End::well);
  const std::string whole = read_file(path);
  ASSERT_GT(whole.size(), 1000u);
  for (const char* fault : {"write:1:kill", "write:0:kill", "sync:1:kill", "rename:0:kill"}) {
    EXPECT_EQ(write_once(2, path, kind, 1, fault), End::badly) << fault;
    EXPECT_TRUE(read_file(path) == whole) << fault;
  }
  // What the killed left does not stand in the way; the next write to the same target clears it away, and
  // nothing else.
  const std::string others[] = {".other.h5.neve-tmp-0000000000000000-1-00000000",
                                ".plot.h5.neve-tmp-0000000000000000-1-00000000", "plot.h5-backup"};
  for (const std::string& name : others) std::ofstream(directory / name) << "kept";
  EXPECT_EQ(write_once(3, path, kind, 1, ""), End::well);
  // mpirun may end before the last of the ranks that it stops has gone.
  for (int i = 0; i < 20 && names_in(directory).size() > 4; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    EXPECT_EQ(write_once(1, path, kind, 1, ""), End::well);
  }
  EXPECT_EQ(names_in(directory), (std::vector<std::string>{others[0], others[1], "plot.h5", others[2]}));
  fs::remove_all(directory);
}

// Every phase that a kind of write has, killed on every rank. The short form takes the last phase on the last
// rank of two.
class KilledEverywhere : public testing::TestWithParam<neve::test::WriteKind> {};
INSTANTIATE_TEST_SUITE_P(Kinds, KilledEverywhere, testing::ValuesIn(neve::test::write_kinds()),
                         [](const auto& param) {
                           std::string name = param.param.name;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

std::vector<std::string> faults_of(const neve::test::WriteKind& kind, int ranks, bool is_long) {
  std::vector<std::string> faults;
  for (int rank = is_long ? 0 : ranks - 1; rank < ranks; ++rank) {
    for (const std::string& phase : kind.phases(rank)) {
      faults.push_back(phase + ":" + std::to_string(rank) + ":kill");
    }
  }
  if (!is_long) faults.erase(faults.begin(), faults.end() - 1);
  return faults;
}

TEST_P(KilledEverywhere, LeavesTheEarlierFileAndEnds) {
  const neve::test::WriteKind& kind = GetParam();
  const bool is_long = std::getenv("NEVE_TEST_LONG") != nullptr;
  const fs::path directory = fs::temp_directory_path() / ("neve-killed-" + std::to_string(::getpid()));
  const std::string path = (directory / "file").string();
  for (int ranks = 2; ranks <= (is_long ? 4 : 2); ++ranks) {
    fs::create_directories(directory);
    ASSERT_EQ(write_once(ranks, path, kind.name, 1, ""), End::well);
    const std::string before = neve::test::contents(path);
    int kills = 0, hangs = 0, lost = 0;
    for (const std::string& fault : faults_of(kind, ranks, is_long)) {
      const End end = write_once(ranks, path, kind.name, 2, fault);
      const bool is_kept = neve::test::is_kept(kind, before, neve::test::contents(path));
      EXPECT_EQ(end, End::badly) << kind.name << " " << fault;
      EXPECT_TRUE(is_kept) << kind.name << " " << fault;
      ++kills;
      hangs += end == End::never ? 1 : 0;
      lost += is_kept ? 0 : 1;
    }
    // What was killed does not stand in the way.
    EXPECT_EQ(write_once(ranks, path, kind.name, 2, ""), End::well);
    std::printf("%s, %d ranks: %d kills, %d hangs, %d lost\n", kind.name.c_str(), ranks, kills, hangs, lost);
    fs::remove_all(directory);
  }
}

}  // namespace

// No MPI here: the programs that it starts have their own.
int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
