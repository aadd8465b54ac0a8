// SPDX-License-Identifier: BSD-3-Clause
// Files that wait on a fast folder of each machine: the same as others in the end, whatever becomes of the
// stage.
#include <sys/mount.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "neve/checkpoint.hpp"
#include "neve/plotfile_reader.hpp"
#include "tests/mpi/generated.hpp"

namespace neve {
namespace {

namespace fs = std::filesystem;
using test::world_rank;
using test::world_size;

// Steps of a simulation, written to a folder by way of another.
class Staged : public testing::Test {
 protected:
  Staged() : directory_(test::make_directory("staged")), stage_(directory_ + "/stage") {
    if (world_rank() == 0) fs::create_directories(stage_);
    if (world_rank() == 0) fs::create_directories(directory_ + "/out");
    test::barrier();
  }
  ~Staged() override {
    ::unsetenv("NEVE_FAULT");
    const Status waited = wait_for_writes(MPI_COMM_WORLD);
    EXPECT_TRUE(waited.ok()) << waited.message();
    test::remove_directory(directory_);
  }

  WriteOptions options() const {
    WriteOptions options;
    options.stage = stage_;
    return options;
  }
  std::string path(int number) const { return directory_ + "/out/step" + std::to_string(number) + ".h5"; }
  Result<WriteReport> write_to(const std::string& path, int number, const WriteOptions& options,
                               MPI_Comm comm = MPI_COMM_WORLD) const {
    Hierarchy h = test::make_hierarchy({});
    h.time = number;
    const test::OwnedBoxes owned(h, distribute_boxes(h, world_size()), world_rank());
    auto written = write_plotfile(comm, path, h, owned.boxes(), options);
    for (const LocalBox& box : owned.boxes()) {  // what a simulation does with its memory then
      auto* const first = static_cast<std::byte*>(const_cast<void*>(box.data.data));
      std::fill_n(first, dtype_bytes(h.dtype), std::byte{0x5a});
    }
    return written;
  }
  Result<WriteReport> write(int number, const WriteOptions& options) const {
    return write_to(path(number), number, options);
  }
  // What the same write leaves that is neither staged nor behind.
  std::string expected(int number, WriteOptions options) const {
    options.behind = Behind::none;
    options.stage.clear();
    options.stage_bytes = 0;
    const std::string file = directory_ + "/expected.h5";
    EXPECT_TRUE(write_to(file, number, options).ok());
    test::barrier();
    std::string bytes = test::read_file(file);
    test::barrier();
    return bytes;
  }
  std::vector<std::string> written() const { return test::list_directory(directory_ + "/out"); }
  void fail(const std::string& phase, int rank) const {
    ::setenv("NEVE_FAULT", (phase + ":" + std::to_string(rank)).c_str(), 1);
  }

  std::string directory_, stage_;
};

TEST_F(Staged, FilesAreThoseOfWritesThatAreWaitedFor) {
  WriteOptions close = options(), one_by_one = options(), automatic = options(), across = options(),
               copied = options();
  close.bound = {BoundMode::rel, 1e-6};
  close.encode.threads = 3;
  one_by_one.strategy = "amrex-1d";
  automatic.covered = Covered::automatic;
  across.cross_level = true;
  across.codec = Codec::interpolation;
  copied.behind = Behind::copy;
  int number = 0;
  for (const WriteOptions& given : {options(), close, one_by_one, automatic, across, copied}) {
    const auto report = write(number, given);
    ASSERT_TRUE(report.ok()) << report.status().message();
    EXPECT_EQ(report->file_bytes, 0u);
    EXPECT_EQ(report->staged_bytes, report->data_bytes) << number;
    EXPECT_EQ(report->data_bytes > 0, given.behind != Behind::copy);
    ASSERT_TRUE(wait_for_writes(MPI_COMM_WORLD).ok());
    EXPECT_TRUE(test::read_file(path(number)) == expected(number, given)) << number;
    EXPECT_TRUE(test::list_directory(stage_).empty());
    test::barrier();
    ++number;
  }
}

TEST_F(Staged, CheckpointsAreThoseOfWritesThatAreWaitedFor) {
  const Hierarchy h = test::make_hierarchy({});
  const test::OwnedBoxes owned(h, distribute_boxes(h, world_size()), world_rank());
  Variable close;
  close.name = "close";
  close.components = h.components;
  close.bound = {BoundMode::rel, 1e-4};
  Variable whole = close;
  whole.name = "whole";
  whole.bound = {BoundMode::lossless, 0};
  const std::vector<Variable> variables = {close, whole};
  const std::vector<std::vector<LocalBox>> boxes = {owned.boxes(), owned.boxes()};
  for (const Behind behind : {Behind::none, Behind::copy}) {
    WriteOptions given = options();
    given.behind = behind;
    const auto staged = write_checkpoint(MPI_COMM_WORLD, path(1), h, variables, boxes, given);
    ASSERT_TRUE(staged.ok()) << staged.status().message();
    EXPECT_EQ(staged->staged_bytes, staged->data_bytes);
    ASSERT_TRUE(write_checkpoint(MPI_COMM_WORLD, path(2), h, variables, boxes, {}).ok());
    ASSERT_TRUE(wait_for_writes(MPI_COMM_WORLD).ok());
    EXPECT_TRUE(test::read_file(path(1)) == test::read_file(path(2)));
    test::barrier();
  }
}

// With frames in memory two files at most are still to be put when a call returns.
TEST_F(Staged, TheRunGoesOnWhileTheStageEmptiesSlowly) {
  constexpr int steps = 6, tries = 5;
  size_t most = 0;
  for (int t = 0; t < tries && most <= 2; ++t) {
    ::setenv("NEVE_FAULT", "drain:0:slow", 1);
    for (int number = 0; number < steps; ++number) {
      const auto report = write(t * steps + number, options());
      ASSERT_TRUE(report.ok()) << report.status().message();
      EXPECT_EQ(report->staged_bytes, report->data_bytes);
    }
    size_t there = 0;
    for (int number = 0; number < steps; ++number) there += fs::exists(path(t * steps + number)) ? 1 : 0;
    MPI_Bcast(&there, sizeof there, MPI_BYTE, 0, MPI_COMM_WORLD);
    most = std::max(most, steps - there);
    ASSERT_TRUE(wait_for_writes(MPI_COMM_WORLD).ok());
    ::unsetenv("NEVE_FAULT");
  }
  EXPECT_GT(most, 2u);
  for (const int number : {0, steps - 1}) {
    auto source = open_plotfile(path(number));
    ASSERT_TRUE(source.ok()) << source.status().message();
    EXPECT_EQ((*source)->hierarchy().time, number);
  }
  EXPECT_TRUE(test::read_file(path(1)) == expected(1, {}));
}

TEST_F(Staged, WhatHasNoRoomStaysInMemoryAndTheFileIsTheSame) {
  WriteOptions nothing = options(), little = options();
  nothing.stage_bytes = 1;
  const auto whole = write(0, options());
  ASSERT_TRUE(whole.ok());
  little.stage_bytes = whole->data_bytes / static_cast<uint64_t>(2 * world_size());
  for (const WriteOptions& given : {nothing, little}) {
    for (int number = 1; number <= 4; ++number) {
      const auto report = write(number, given);
      ASSERT_TRUE(report.ok()) << report.status().message();
      EXPECT_EQ(report->data_bytes, whole->data_bytes);
      EXPECT_LT(report->staged_bytes, whole->data_bytes);
      EXPECT_LE(report->staged_bytes, given.stage_bytes * static_cast<uint64_t>(world_size()));
    }
    ASSERT_TRUE(wait_for_writes(MPI_COMM_WORLD).ok());
    for (const int number : {1, 4})
      EXPECT_TRUE(test::read_file(path(number)) == expected(number, given)) << number;
    test::barrier();
  }
}

// Room for one file and nothing of the next.
TEST_F(Staged, AFullStageIsWaitedForWhileFilesLeaveIt) {
  const auto whole = write(0, options());
  ASSERT_TRUE(whole.ok());
  ASSERT_TRUE(wait_for_writes(MPI_COMM_WORLD).ok());
  WriteOptions one = options();
  one.stage_bytes = whole->data_bytes;
  for (const bool is_slow : {false, true}) {
    if (is_slow) ::setenv("NEVE_FAULT", "drain:0:slow", 1);
    for (int number = 1; number <= 5; ++number) {
      const auto report = write(number, one);
      ASSERT_TRUE(report.ok()) << report.status().message();
      EXPECT_EQ(report->staged_bytes, whole->data_bytes) << number;
    }
    ASSERT_TRUE(wait_for_writes(MPI_COMM_WORLD).ok());
    ::unsetenv("NEVE_FAULT");
    for (const int number : {1, 5}) EXPECT_TRUE(test::read_file(path(number)) == expected(number, one));
    test::barrier();
  }
}

TEST_F(Staged, ARankWhoseStageFailsKeepsItsFramesInMemory) {
  for (int rank = 0; rank < world_size(); ++rank) {
    fail("stage", rank);
    for (const Behind behind : {Behind::encode, Behind::copy}) {
      WriteOptions given = options();
      given.behind = behind;
      const auto report = write(1, given);
      ASSERT_TRUE(report.ok()) << report.status().message();
      const bool may_be_all = behind == Behind::copy || rank > 0;  // not yet, or of ranks without boxes
      EXPECT_TRUE(may_be_all || report->staged_bytes < report->data_bytes) << report->staged_bytes;
      const Status waited = wait_for_writes(MPI_COMM_WORLD);
      ASSERT_TRUE(waited.ok()) << waited.message();
      EXPECT_TRUE(test::read_file(path(1)) == expected(1, given)) << rank;
      test::barrier();
    }
    ::unsetenv("NEVE_FAULT");
  }
}

TEST_F(Staged, AFullDeviceOrOneThatHasGoneIsNoError) {
  const std::string disk = directory_ + "/disk";
  int mounted = 0;
  if (world_rank() == 0) {
    fs::create_directory(disk);
    mounted = ::mount("neve-test", disk.c_str(), "tmpfs", 0, "size=16k") == 0 ? 1 : 0;
  }
  MPI_Bcast(&mounted, 1, MPI_INT, 0, MPI_COMM_WORLD);
  if (mounted == 0) GTEST_SKIP() << "mounting a small file system needs more rights";
  WriteOptions given = options();
  given.stage = disk;
  given.bound = {BoundMode::lossless, 0};
  for (int number = 1; number <= 5; ++number) {
    const auto report = write(number, given);
    ASSERT_TRUE(report.ok()) << report.status().message();
    EXPECT_LT(report->staged_bytes, report->data_bytes) << number;
  }
  test::barrier();
  if (world_rank() == 0) ::umount2(disk.c_str(), MNT_DETACH);
  if (world_rank() == 0) fs::remove(disk);
  test::barrier();
  const auto report = write(6, given);
  ASSERT_TRUE(report.ok()) << report.status().message();
  EXPECT_EQ(report->staged_bytes, 0u);
  ASSERT_TRUE(wait_for_writes(MPI_COMM_WORLD).ok());
  for (const int number : {1, 5, 6}) EXPECT_TRUE(test::read_file(path(number)) == expected(number, given));
  test::barrier();
}

TEST_F(Staged, ADeviceWithoutRoomForAFileIsNoErrorFromTheFirstWriteOn) {
  const std::string disk = directory_ + "/disk";
  int mounted = 0;
  if (world_rank() == 0) {
    fs::create_directory(disk);
    mounted = ::mount("neve-test", disk.c_str(), "tmpfs", 0, "nr_inodes=1") == 0 ? 1 : 0;
  }
  MPI_Bcast(&mounted, 1, MPI_INT, 0, MPI_COMM_WORLD);
  if (mounted == 0) GTEST_SKIP() << "mounting a small file system needs more rights";
  WriteOptions given = options();
  given.stage = disk;
  for (const int number : {1, 2}) {
    const auto report = write(number, given);
    ASSERT_TRUE(report.ok()) << report.status().message();
    EXPECT_EQ(report->staged_bytes, 0u);
  }
  ASSERT_TRUE(wait_for_writes(MPI_COMM_WORLD).ok());
  for (const int number : {1, 2}) EXPECT_TRUE(test::read_file(path(number)) == expected(number, given));
  test::barrier();
  if (world_rank() == 0) ::umount2(disk.c_str(), MNT_DETACH);
  test::barrier();
}

TEST_F(Staged, WhatCannotBeReadBackLosesItsStepAloneAndIsTold) {
  for (int rank = 0; rank < world_size(); ++rank) {
    ASSERT_TRUE(write(1, options()).ok());
    ASSERT_TRUE(wait_for_writes(MPI_COMM_WORLD).ok());
    const std::string before = test::read_file(path(1));
    for (const std::string phase : {"drain", "write"}) {
      fail(phase, rank);
      WriteOptions other = options();
      other.bound = {BoundMode::rel, 1e-5};
      ASSERT_TRUE(write(1, other).ok());
      const Status told = wait_for_writes(MPI_COMM_WORLD);
      ::unsetenv("NEVE_FAULT");
      test::barrier();
      EXPECT_EQ(told.code(), Code::failure);
      EXPECT_NE(told.message().find("step1.h5, which was written behind, is lost"), std::string::npos)
          << told.message();
      EXPECT_NE(told.message().find("injected fault in phase " + phase), std::string::npos) << told.message();
      EXPECT_TRUE(test::same_on_all_ranks(told.message()));
      EXPECT_TRUE(test::read_file(path(1)) == before);
      const auto next = write(2, options());
      ASSERT_TRUE(next.ok()) << next.status().message();
      EXPECT_EQ(next->staged_bytes, next->data_bytes);
      ASSERT_TRUE(wait_for_writes(MPI_COMM_WORLD).ok());
      EXPECT_EQ(written(), (std::vector<std::string>{"step1.h5", "step2.h5"}));
      test::barrier();
    }
  }
}

// What a lost file took of the stage is there for others.
TEST_F(Staged, ALostFileLeavesItsRoom) {
  const auto whole = write(0, options());
  ASSERT_TRUE(whole.ok());
  WriteOptions one = options();
  one.stage_bytes = whole->data_bytes;
  ASSERT_TRUE(wait_for_writes(MPI_COMM_WORLD).ok());
  fail("sync", world_size() - 1);
  ASSERT_TRUE(write(1, one).ok());
  EXPECT_FALSE(wait_for_writes(MPI_COMM_WORLD).ok());
  ::unsetenv("NEVE_FAULT");
  test::barrier();
  const auto next = write(2, one);
  ASSERT_TRUE(next.ok()) << next.status().message();
  EXPECT_EQ(next->staged_bytes, whole->data_bytes);
}

TEST_F(Staged, RunsShareAFolderWhichMayBeThatOfTheFilesAndRelative) {
  MPI_Comm comm = MPI_COMM_NULL;
  ASSERT_EQ(MPI_Comm_dup(MPI_COMM_WORLD, &comm), MPI_SUCCESS);
  const fs::path here = fs::current_path();
  fs::current_path(directory_ + "/out");
  WriteOptions given = options();
  given.stage = ".";
  ::setenv("NEVE_FAULT", "drain:0:slow", 1);
  Status all;
  for (int number = 0; number < 3; ++number) {
    for (const bool is_own : {true, false}) {
      const std::string file = (is_own ? "own" : "other") + std::to_string(number) + ".h5";
      const Status status = write_to(file, number, given, is_own ? comm : MPI_COMM_WORLD).status();
      if (all.ok()) all = status;
    }
  }
  fs::current_path(here);
  EXPECT_TRUE(all.ok()) << all.message();
  MPI_Comm_free(&comm);
  EXPECT_TRUE(wait_for_writes(MPI_COMM_WORLD).ok());
  ::unsetenv("NEVE_FAULT");
  EXPECT_EQ(written(), (std::vector<std::string>{"other0.h5", "other1.h5", "other2.h5", "own0.h5", "own1.h5",
                                                 "own2.h5"}));
  EXPECT_TRUE(test::read_file(directory_ + "/out/own1.h5") == test::read_file(directory_ + "/out/other1.h5"));
  test::barrier();
}

TEST_F(Staged, AFolderThatCannotBeIsRefusedWithItsMachine) {
  char host[256] = {};
  ::gethostname(host, sizeof host - 1);
  if (world_rank() == 0) std::ofstream(directory_ + "/file") << "x";
  test::barrier();
  const std::string last = world_size() > 1 ? "rank " + std::to_string(world_size() - 1) + ": " : "";
  const std::pair<std::string, std::string> wrong[] = {{"nowhere", "No such file or directory"},
                                                       {"file", "is no folder; one is needed"}};
  for (const auto& [name, why] : wrong) {
    WriteOptions given = options();  // ranks may have folders of their own
    if (world_rank() == world_size() - 1) given.stage = directory_ + "/" + name;
    const Status status = write(1, given).status();
    EXPECT_FALSE(status.ok());
    EXPECT_NE(status.message().find(last + "stage " + directory_ + "/" + name + " on " + host),
              std::string::npos)
        << status.message();
    EXPECT_NE(status.message().find(why), std::string::npos) << status.message();
    EXPECT_TRUE(test::same_on_all_ranks(status.message()));
  }
  EXPECT_TRUE(written().empty());
}

TEST_F(Staged, WhatCannotBeStagedIsRefused) {
  const auto message = [&](const WriteOptions& given) {
    const Status status = write(1, given).status();
    EXPECT_EQ(status.code(), Code::usage) << status.message();
    EXPECT_TRUE(test::same_on_all_ranks(status.message()));
    return status.message();
  };
  const std::string mine = "stage is " + stage_ + ", but ";
  for (const char* strategy : {"filtered", "aggregated", "collective", "independent"}) {
    WriteOptions given = options();
    given.strategy = strategy;
    EXPECT_NE(message(given).find(mine + "strategy " + strategy), std::string::npos);
  }
  WriteOptions plain = options(), gathered = options(), like = options(), no_stage;
  plain.compress = false;
  gathered.layout.aggregators = 1;
  like.like = path(1);
  no_stage.stage_bytes = 5;
  for (const WriteOptions& given : {plain, gathered, like})
    EXPECT_NE(message(given).find(mine), std::string::npos);
  EXPECT_NE(message(no_stage).find("stage_size is 5, but no stage is named"), std::string::npos);
  test::GeneratedSource source(test::make_hierarchy({}));
  const Status read = write_plotfile(MPI_COMM_WORLD, path(1), source.hierarchy(), source, options()).status();
  EXPECT_EQ(read.code(), Code::usage);
  EXPECT_NE(read.message().find("read as they are written"), std::string::npos) << read.message();
  if (world_size() > 1) {
    WriteOptions some = options();
    if (world_rank() == 0) some.stage.clear();
    EXPECT_NE(message(some).find("(stage)"), std::string::npos);
  }
  EXPECT_TRUE(written().empty());
}

}  // namespace
}  // namespace neve
