// SPDX-License-Identifier: BSD-3-Clause
// A write that is killed leaves the earlier file whole, and nothing under the final name where there was
// none.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
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
    for (const std::string& phase : kind.phases(rank, ranks)) {
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

// Steps that are written behind the run's back, on two ranks that are killed at any moment.
class KilledSteps : public testing::TestWithParam<const char*> {
 protected:
  KilledSteps() : base_(fs::temp_directory_path() / ("neve-killed-" + std::to_string(::getpid()))) {
    fs::remove_all(base_);
    fs::create_directories(base_);
  }
  ~KilledSteps() override { fs::remove_all(base_); }

  static constexpr int steps = 400;
  static std::string command(const fs::path& folder, const std::string& behind, int count) {
    return std::string(NEVE_MPIEXEC) + " 2 " + NEVE_WRITE_STEPS + " " + folder.string() + " " + behind + " " +
           std::to_string(count);
  }
  // What each step's file is to be.
  std::vector<std::string> wanted(int count) const {
    const fs::path folder = base_ / "wanted";
    fs::create_directories(folder);
    EXPECT_EQ(std::system(command(folder, "none", count).c_str()), 0);
    std::vector<std::string> files;
    for (int i = 0; i < count; ++i) files.push_back(read_file(folder / ("step" + std::to_string(i) + ".h5")));
    return files;
  }
  // Numbers behind that word in the log.
  static std::vector<int> said(const fs::path& folder, const std::string& word) {
    std::vector<int> numbers;
    std::ifstream log(folder / "log");
    for (std::string what, number; log >> what >> number;) {
      if (what == word) numbers.push_back(std::stoi(number));
    }
    return numbers;
  }
  static std::vector<int> published(const fs::path& folder) {
    std::vector<int> numbers;
    for (int i = 0; i < steps; ++i) {
      if (fs::exists(folder / ("step" + std::to_string(i) + ".h5"))) numbers.push_back(i);
    }
    return numbers;
  }
  // Runs until `moment`, and kills both ranks, or the last one alone. What had been published before.
  static std::vector<int> run_and_kill(const fs::path& folder, const std::string& behind,
                                       std::chrono::microseconds moment, bool is_one_killed = false) {
    std::thread run(
        [&] { static_cast<void>(std::system((command(folder, behind, steps) + " 2>/dev/null").c_str())); });
    while (said(folder, "pid").size() < 2) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    std::this_thread::sleep_for(moment);
    std::vector<int> before = published(folder);
    std::vector<int> pids = said(folder, "pid");
    if (is_one_killed) pids.erase(pids.begin());
    for (const int pid : pids) ::kill(pid, SIGKILL);
    run.join();
    return before;
  }

  // In some runs one rank's frames leave the stage slowly, or find no room there.
  static void disturb(int kill) {
    constexpr const char* ways[] = {"", "drain:1:slow", "stage:1", "drain:0:slow"};
    ::setenv("NEVE_FAULT", ways[kill % 4], 1);
  }

  const fs::path base_;
};
INSTANTIATE_TEST_SUITE_P(Behind, KilledSteps, testing::Values("encode", "copy", "staged"),
                         [](const auto& param) { return std::string(param.param); });

TEST_P(KilledSteps, AreWholeAndNoneIsLostThatWasPublishedOrWaitedFor) {
  const bool is_long = std::getenv("NEVE_TEST_LONG") != nullptr;
  const int kills = is_long ? 100 : 4;
  constexpr int compared = 60;
  const std::vector<std::string> files = wanted(compared);
  std::mt19937 chance(1);
  int files_seen = 0, lost = 0, broken = 0;
  int done = 0;
  const bool is_staged = GetParam() == std::string("staged");
  // On a busy machine few files are there in so short a time: then some more kills, each later.
  for (; done < kills || (files_seen <= done && done < 4 * kills); ++done) {
    const fs::path folder = base_ / std::to_string(done);
    fs::create_directories(folder / "stage");
    if (is_staged) disturb(done);
    const std::chrono::microseconds moment(chance() % 400000 * static_cast<unsigned>(1 + done / kills));
    std::vector<int> due = run_and_kill(folder, GetParam(), moment, is_staged && done % 3 == 2);
    EXPECT_TRUE(fs::is_empty(folder / "stage"));
    const std::vector<int> waited = said(folder, "waited");
    for (int step = 0; !waited.empty() && step <= waited.back(); ++step) due.push_back(step);
    for (const int step : due) lost += fs::exists(folder / ("step" + std::to_string(step) + ".h5")) ? 0 : 1;
    for (const int step : published(folder)) {
      ++files_seen;
      if (step >= compared) continue;
      broken += read_file(folder / ("step" + std::to_string(step) + ".h5")) == files[step] ? 0 : 1;
    }
    fs::remove_all(folder);
  }
  ::unsetenv("NEVE_FAULT");
  std::printf("%s: %d kills, %d files, %d lost, %d broken\n", GetParam(), done, files_seen, lost, broken);
  EXPECT_EQ(lost, 0);
  EXPECT_EQ(broken, 0);
  EXPECT_GT(files_seen, kills);
}

}  // namespace

// No MPI here: the programs that it starts have their own.
int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
