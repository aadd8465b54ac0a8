// SPDX-License-Identifier: BSD-3-Clause
// Files that are written behind the caller's back: the same as others in the end, there when they are waited
// for, and never lost in silence.
#include <sys/mount.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include "neve/checkpoint.hpp"
#include "neve/plotfile.h"
#include "neve/plotfile_reader.hpp"
#include "tests/mpi/generated.hpp"

namespace neve {
namespace {

namespace fs = std::filesystem;
using test::world_rank;
using test::world_size;

// Steps of a simulation, each with values of its own.
class Step {
 public:
  explicit Step(int number, const test::Shape& shape = {})
      : hierarchy_(at(number, shape)),
        owned_(hierarchy_, distribute_boxes(hierarchy_, world_size()), world_rank()) {}

  const Hierarchy& hierarchy() const { return hierarchy_; }
  const std::vector<LocalBox>& boxes() const { return owned_.boxes(); }
  // What the simulation does with its memory when the call has returned.
  void overwrite() {
    for (const LocalBox& box : owned_.boxes()) {
      auto* const first = static_cast<std::byte*>(const_cast<void*>(box.data.data));
      const uint64_t bytes = dtype_bytes(hierarchy_.dtype);
      std::fill_n(first, bytes, std::byte{0x5a});
    }
  }

 private:
  static Hierarchy at(int number, const test::Shape& shape) {
    Hierarchy h = test::make_hierarchy(shape);
    h.time = number;
    return h;
  }
  Hierarchy hierarchy_;
  test::OwnedBoxes owned_;
};

class Written : public testing::TestWithParam<Behind> {
 protected:
  Written() : directory_(test::make_directory("behind")) {}
  ~Written() override {
    ::unsetenv("NEVE_FAULT");
    const Status waited = wait_for_writes(MPI_COMM_WORLD);
    EXPECT_TRUE(waited.ok()) << waited.message();
    test::remove_directory(directory_);
  }

  WriteOptions options() const {
    WriteOptions options;
    options.behind = GetParam();
    return options;
  }
  std::string path(int number) const { return directory_ + "/step" + std::to_string(number) + ".h5"; }
  Status write(int number, const WriteOptions& options, MPI_Comm comm = MPI_COMM_WORLD) const {
    Step step(number);
    const Status written =
        write_plotfile(comm, path(number), step.hierarchy(), step.boxes(), options).status();
    step.overwrite();
    return written;
  }
  // What the same write leaves that is not behind.
  std::string expected(int number, WriteOptions options) const {
    options.behind = Behind::none;
    const std::string path = directory_ + "/expected.h5";
    const Step step(number);
    const Status written =
        write_plotfile(MPI_COMM_WORLD, path, step.hierarchy(), step.boxes(), options).status();
    EXPECT_TRUE(written.ok()) << written.message();
    test::barrier();
    std::string bytes = test::read_file(path);
    test::barrier();
    if (world_rank() == 0) fs::remove(path);
    test::barrier();
    return bytes;
  }
  // Until what this rank's thread does with a write of this size has been done, on a busy machine as well.
  static void let_threads_work() { ::usleep(700000); }
  void fail(const std::string& phase, int rank) const {
    ::setenv("NEVE_FAULT", (phase + ":" + std::to_string(rank)).c_str(), 1);
  }

  std::string directory_;
};

INSTANTIATE_TEST_SUITE_P(Behind, Written, testing::Values(Behind::encode, Behind::copy),
                         [](const auto& param) { return std::string(behind_name(param.param)); });

TEST_P(Written, FilesAreThoseOfWritesThatAreWaitedFor) {
  for (const char* strategy : {"skeleton", "amrex-1d"}) {
    for (const double bound : {1e-1, 1e-6}) {
      WriteOptions given = options();
      given.strategy = strategy;
      given.bound = {BoundMode::rel, bound};
      ASSERT_TRUE(write(1, given).ok());
      ASSERT_TRUE(wait_for_writes(MPI_COMM_WORLD).ok());
      const std::string got = test::read_file(path(1));
      EXPECT_TRUE(got == expected(1, given)) << strategy << " " << bound;
      EXPECT_EQ(test::list_directory(directory_).size(), 1u);
      test::barrier();
    }
  }
}

TEST_P(Written, ReportsSayWhatIsKnownWhenTheCallReturns) {
  Step step(1);
  const auto behind = write_plotfile(MPI_COMM_WORLD, path(1), step.hierarchy(), step.boxes(), options());
  ASSERT_TRUE(behind.ok()) << behind.status().message();
  const auto waited = write_plotfile(MPI_COMM_WORLD, path(2), step.hierarchy(), step.boxes(), {});
  ASSERT_TRUE(waited.ok());
  EXPECT_EQ(behind->file_bytes, 0u);
  EXPECT_EQ(behind->mpi_writes, 0u);
  EXPECT_EQ(behind->write_seconds + behind->place_seconds + behind->sync_seconds, 0);
  EXPECT_EQ(behind->raw_bytes, waited->raw_bytes);
  EXPECT_EQ(behind->levels.empty(), GetParam() == Behind::copy);
  EXPECT_GT(behind->plan_seconds + behind->encode_seconds, 0);
}

TEST_P(Written, ManyStepsAllArriveAndTheLastOneNeedsNoNextCall) {
  constexpr int steps = 12;
  for (int number = 0; number < steps; ++number) ASSERT_TRUE(write(number, options()).ok()) << number;
  ASSERT_TRUE(wait_for_writes(MPI_COMM_WORLD).ok());
  ASSERT_TRUE(wait_for_writes(MPI_COMM_WORLD).ok());
  EXPECT_EQ(test::list_directory(directory_).size(), static_cast<size_t>(steps));
  for (const int number : {0, 7, steps - 1}) {
    auto source = open_plotfile(path(number));
    ASSERT_TRUE(source.ok()) << source.status().message();
    EXPECT_EQ((*source)->hierarchy().time, number);
  }
}

// (Of copies the places are agreed on in the next call.)
class WrittenWhenEncoded : public Written {};
INSTANTIATE_TEST_SUITE_P(Behind, WrittenWhenEncoded, testing::Values(Behind::encode),
                         [](const auto& param) { return std::string(behind_name(param.param)); });

TEST_P(WrittenWhenEncoded, TheNameIsTakenWithoutAnyFurtherCallOfMpi) {
  ASSERT_TRUE(write(1, options()).ok());
  for (int tries = 0; tries < 2000 && !fs::exists(path(1)); ++tries) ::usleep(5000);
  EXPECT_TRUE(fs::exists(path(1)));
}

// Which is a write of the other kind: it must not be overtaken.
TEST_P(Written, ALaterWriteOfTheSameFileIsTheOneThatStays) {
  const std::string last = expected(2, {});
  for (const Behind behind : {Behind::none, GetParam()}) {
    for (int number = 0; number < 3; ++number) {
      const Step step(number);
      WriteOptions given = options();
      if (number == 2) given.behind = behind;
      ASSERT_TRUE(write_plotfile(MPI_COMM_WORLD, path(0), step.hierarchy(), step.boxes(), given).ok());
    }
    ASSERT_TRUE(wait_for_writes(MPI_COMM_WORLD).ok());
    EXPECT_TRUE(test::read_file(path(0)) == last);
    EXPECT_EQ(test::list_directory(directory_).size(), 1u);
    test::barrier();
  }
}

TEST_P(Written, ErrorsOfAnEarlierFileAreToldByTheNextCallWhoseFileIsWrittenAllTheSame) {
  for (int rank = 0; rank < world_size(); ++rank) {
    for (const std::string phase : {"encode", "skeleton", "write", "sync", "rename"}) {
      if (phase == "rename" && rank != 0) continue;
      // Those that come when the call has returned, and not in the next one, which is to write something
      // else.
      if ((phase == "encode") != (GetParam() == Behind::copy)) continue;
      ASSERT_TRUE(write(1, options()).ok());
      ASSERT_TRUE(wait_for_writes(MPI_COMM_WORLD).ok());
      const std::string before = test::read_file(path(1));
      fail(phase, rank);
      WriteOptions other = options();
      other.bound = {BoundMode::rel, 1e-5};
      const Status written = write(1, other);
      // The error is known when this rank has put its part: a second later at the latest.
      EXPECT_TRUE(written.ok()) << written.message();
      ::usleep(400000);
      ::unsetenv("NEVE_FAULT");
      test::barrier();
      Status told = write(2, options());
      const Status waited = wait_for_writes(MPI_COMM_WORLD);
      EXPECT_TRUE(waited.ok() || told.ok()) << "told twice";
      if (told.ok()) told = waited;
      EXPECT_EQ(told.code(), Code::failure) << phase << " " << rank;
      EXPECT_NE(told.message().find("step1.h5, which was written behind, is lost"), std::string::npos)
          << told.message();
      EXPECT_NE(told.message().find("injected fault in phase " + phase), std::string::npos) << told.message();
      EXPECT_TRUE(test::same_on_all_ranks(told.message()));
      EXPECT_TRUE(test::read_file(path(1)) == before) << phase;
      EXPECT_TRUE(fs::exists(path(2))) << phase;
      EXPECT_EQ(test::list_directory(directory_).size(), 2u) << phase << " " << rank;
      test::barrier();
    }
  }
}

// The communicator goes before anybody has asked; a caller's own is as good as the world.
TEST_P(Written, FilesArriveWhereTheCommunicatorIsFreed) {
  MPI_Comm comm = MPI_COMM_NULL;
  ASSERT_EQ(MPI_Comm_dup(MPI_COMM_WORLD, &comm), MPI_SUCCESS);
  ASSERT_TRUE(write(1, options(), comm).ok());
  ASSERT_TRUE(write(2, options(), comm).ok());
  MPI_Comm_free(&comm);
  test::barrier();
  EXPECT_EQ(test::list_directory(directory_), (std::vector<std::string>{"step1.h5", "step2.h5"}));
}

// What the first write behind on a communicator needs is then on some ranks alone.
TEST_P(Written, NothingWaitsForRanksOnWhichTheFirstCallHasFailed) {
  for (const bool is_path : {true, false}) {
    MPI_Comm comm = MPI_COMM_NULL;
    ASSERT_EQ(MPI_Comm_dup(MPI_COMM_WORLD, &comm), MPI_SUCCESS);
    Step step(1);
    std::vector<LocalBox> boxes = step.boxes();
    if (!is_path && world_rank() == world_size() - 1 && !boxes.empty()) boxes[0].data.data = nullptr;
    const std::string target = is_path ? directory_ + "/nowhere/step.h5" : path(1);
    EXPECT_FALSE(write_plotfile(comm, target, step.hierarchy(), boxes, options()).ok());
    EXPECT_TRUE(wait_for_writes(comm).ok());
    EXPECT_TRUE(write(2, {}, comm).ok());
    EXPECT_TRUE(wait_for_writes(comm).ok());
    MPI_Comm_free(&comm);
  }
}

// Its boxes have no owner: an error of the exchange that tells of the lost file as well.
TEST_P(Written, ALossIsToldByACallThatFailsItself) {
  fail(GetParam() == Behind::copy ? "encode" : "write", 0);
  ASSERT_TRUE(write(1, options()).ok());
  let_threads_work();
  ::unsetenv("NEVE_FAULT");
  test::barrier();
  const Step step(3);
  const Status told =
      write_plotfile(MPI_COMM_WORLD, path(3), step.hierarchy(), std::vector<LocalBox>(), options()).status();
  EXPECT_NE(told.message().find("step1.h5, which was written behind, is lost"), std::string::npos)
      << told.message();
  EXPECT_NE(told.message().find("owned 0 times"), std::string::npos) << told.message();
  EXPECT_TRUE(test::same_on_all_ranks(told.message()));
  static_cast<void>(wait_for_writes(MPI_COMM_WORLD));
}

// Nor does the program have to call anything else before it ends with its communicator.
TEST_P(Written, TheFileOfACallThatTellsOfALossArrives) {
  MPI_Comm comm = MPI_COMM_NULL;
  ASSERT_EQ(MPI_Comm_dup(MPI_COMM_WORLD, &comm), MPI_SUCCESS);
  fail(GetParam() == Behind::copy ? "encode" : "write", world_size() - 1);
  ASSERT_TRUE(write(1, options(), comm).ok());
  let_threads_work();
  ::unsetenv("NEVE_FAULT");
  test::barrier();
  EXPECT_FALSE(write(2, options(), comm).ok());
  MPI_Comm_free(&comm);
  test::barrier();
  EXPECT_EQ(test::list_directory(directory_), std::vector<std::string>{"step2.h5"});
}

TEST_P(Written, ALossGoesToTheCallersPlaceWhereThereIsOne) {
  fail(GetParam() == Behind::copy ? "encode" : "write", 0);
  ASSERT_TRUE(write(1, options()).ok());
  let_threads_work();
  ::unsetenv("NEVE_FAULT");
  test::barrier();
  const Step step(2);
  Status earlier;
  const auto own =
      write_plotfile_if(MPI_COMM_WORLD, {}, path(2), step.hierarchy(), step.boxes(), options(), &earlier);
  EXPECT_TRUE(own.ok()) << own.status().message();
  EXPECT_NE(earlier.message().find("step1.h5"), std::string::npos) << earlier.message();
  EXPECT_TRUE(wait_for_writes(MPI_COMM_WORLD).ok());
}

TEST_P(Written, APathIsThatOfTheCallWhereverTheProgramGoes) {
  const fs::path here = fs::current_path();
  fs::current_path(directory_);
  const Step step(1);
  const auto written = write_plotfile(MPI_COMM_WORLD, "step1.h5", step.hierarchy(), step.boxes(), options());
  fs::current_path(here);
  ASSERT_TRUE(written.ok()) << written.status().message();
  EXPECT_TRUE(wait_for_writes(MPI_COMM_WORLD).ok());
  EXPECT_EQ(test::list_directory(directory_), std::vector<std::string>{"step1.h5"});
}

TEST_P(Written, RowsThatAreNotOneAfterAnotherAreRefused) {
  for (const bool compresses : {true, false}) {
    Step step(1);
    std::vector<LocalBox> boxes = step.boxes();
    if (world_rank() == 0) boxes.at(0).data.stride[0] = 2;
    WriteOptions given = options();
    given.compress = compresses;
    if (!compresses) given.behind = Behind::none;
    const Status status = write_plotfile(MPI_COMM_WORLD, path(1), step.hierarchy(), boxes, given).status();
    EXPECT_EQ(status.code(), Code::usage);
    EXPECT_NE(status.message().find("x stride is 2; 1 is needed"), std::string::npos) << status.message();
  }
}

TEST_P(Written, AnErrorOfACallKeepsWhatIsUnderWay) {
  ASSERT_TRUE(write(1, options()).ok());
  WriteOptions wrong = options();
  wrong.chunk_bytes = 1;
  EXPECT_EQ(write(2, wrong).code(), Code::usage);
  WriteOptions differing = options();
  differing.bound.value = 1 + world_rank();
  EXPECT_EQ(write(2, differing).ok(), world_size() == 1);
  ASSERT_TRUE(write(3, options()).ok());
  ASSERT_TRUE(wait_for_writes(MPI_COMM_WORLD).ok());
  EXPECT_TRUE(fs::exists(path(1)));
  EXPECT_TRUE(fs::exists(path(3)));
}

TEST_P(Written, CheckpointsAreThoseOfWritesThatAreWaitedFor) {
  const Step step(1);
  const Hierarchy& h = step.hierarchy();
  Variable close;
  close.name = "close";
  close.components = h.components;
  close.bound = {BoundMode::rel, 1e-4};
  Variable whole = close;
  whole.name = "whole";
  whole.bound = {BoundMode::lossless, 0};
  const std::vector<Variable> variables = {close, whole};
  const std::vector<std::vector<LocalBox>> boxes = {step.boxes(), step.boxes()};
  ASSERT_TRUE(write_checkpoint(MPI_COMM_WORLD, path(1), h, variables, boxes, options()).ok());
  ASSERT_TRUE(write_checkpoint(MPI_COMM_WORLD, path(2), h, variables, boxes, {}).ok());
  ASSERT_TRUE(wait_for_writes(MPI_COMM_WORLD).ok());
  EXPECT_TRUE(test::read_file(path(1)) == test::read_file(path(2)));
}

TEST_P(Written, WhatCannotBeWrittenBehindIsRefused) {
  const auto message = [&](const WriteOptions& given) {
    const Status status = write(1, given);
    EXPECT_EQ(status.code(), Code::usage) << status.message();
    EXPECT_TRUE(test::same_on_all_ranks(status.message()));
    return status.message();
  };
  const std::string mine = std::string("behind is ") + behind_name(GetParam());
  for (const char* strategy : {"filtered", "aggregated", "collective", "independent"}) {
    WriteOptions given = options();
    given.strategy = strategy;
    EXPECT_NE(message(given).find(mine + ", but strategy " + strategy), std::string::npos);
  }
  WriteOptions plain = options(), gathered = options(), like = options(), unknown = options();
  plain.compress = false;
  gathered.layout.aggregators = 1;
  like.like = path(1);
  unknown.behind = static_cast<Behind>(9);
  for (const WriteOptions& given : {plain, gathered, like})
    EXPECT_NE(message(given).find(mine), std::string::npos);
  if (GetParam() == Behind::copy) {
    WriteOptions leaving_out = options();
    leaving_out.covered = Covered::automatic;
    EXPECT_NE(message(leaving_out).find(mine), std::string::npos);
  }
  EXPECT_NE(message(unknown).find("behind is 9; none, encode, copy are allowed"), std::string::npos);
  test::GeneratedSource source(Step(1).hierarchy());
  for (const char* strategy : {"skeleton", "amrex-1d"}) {  // the latter would hold all values
    WriteOptions given = options();
    given.strategy = strategy;
    const Status read = write_plotfile(MPI_COMM_WORLD, path(1), source.hierarchy(), source, given).status();
    EXPECT_EQ(read.code(), Code::usage);
    EXPECT_NE(read.message().find("read as they are written"), std::string::npos) << read.message();
  }
  EXPECT_TRUE(test::list_directory(directory_).empty());
}

// A file that cannot become as long on one rank, and then can again.
TEST_P(Written, AFullDiskInTheMiddleLosesOneStepAndSaysIt) {
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit unlimited{};
  ::getrlimit(RLIMIT_FSIZE, &unlimited);
  std::vector<std::string> told;
  constexpr int steps = 9, full = 4;
  for (int number = 0; number < steps; ++number) {
    if (number == full) {
      ASSERT_TRUE(wait_for_writes(MPI_COMM_WORLD).ok());
    }
    test::barrier();
    rlimit limited = unlimited;
    if (number == full && world_rank() == world_size() - 1) limited.rlim_cur = 2100;
    ::setrlimit(RLIMIT_FSIZE, &limited);
    const Status status = write(number, options());
    if (!status.ok()) told.push_back(status.message());
    if (number != full) continue;
    const Status waited = wait_for_writes(MPI_COMM_WORLD);
    if (!waited.ok()) told.push_back(waited.message());
    ::setrlimit(RLIMIT_FSIZE, &unlimited);
  }
  ASSERT_TRUE(wait_for_writes(MPI_COMM_WORLD).ok());
  ASSERT_EQ(told.size(), 1u);
  EXPECT_NE(told[0].find("step4.h5"), std::string::npos) << told[0];
  EXPECT_TRUE(test::same_on_all_ranks(told[0]));
  for (int number = 0; number < steps; ++number) EXPECT_EQ(fs::exists(path(number)), number != full);
  EXPECT_EQ(test::list_directory(directory_).size(), static_cast<size_t>(steps - 1));
}

// What is left of a lost file must not keep the disk full.
TEST_P(Written, StepsThatFitAreWrittenWhenOneDidNot) {
  const Step large(0, {.box_cells = 16}), small(1);
  const auto write_to = [&](const std::string& file, const Step& step, const WriteOptions& given) {
    return write_plotfile(MPI_COMM_WORLD, file, step.hierarchy(), step.boxes(), given).status();
  };
  WriteOptions lossless;
  lossless.bound = {BoundMode::lossless, 0};
  ASSERT_TRUE(write_to(path(0), large, lossless).ok());
  lossless.behind = GetParam();
  const std::string disk = directory_ + "/disk";
  int mounted = 0;
  if (world_rank() == 0) {
    fs::create_directory(disk);
    const std::string size = "size=" + std::to_string(fs::file_size(path(0)) / 4 * 3);
    mounted = ::mount("neve-test", disk.c_str(), "tmpfs", 0, size.c_str()) == 0 ? 1 : 0;
  }
  MPI_Bcast(&mounted, 1, MPI_INT, 0, MPI_COMM_WORLD);
  if (mounted == 0) GTEST_SKIP() << "mounting a small file system needs more rights";
  std::vector<std::string> told;
  for (int i = 0; i < 5; ++i) {
    const Status status = i == 0 ? write_to(disk + "/large.h5", large, lossless)
                                 : write_to(disk + "/small.h5", small, options());
    if (!status.ok()) told.push_back(status.message());
    ::usleep(100000);
  }
  EXPECT_TRUE(wait_for_writes(MPI_COMM_WORLD).ok());
  EXPECT_EQ(told.size(), 1u);
  EXPECT_NE(told.at(0).find("large.h5, which was written behind, is lost"), std::string::npos) << told[0];
  EXPECT_EQ(test::list_directory(disk), std::vector<std::string>{"small.h5"});
  test::barrier();
  if (world_rank() == 0) ::umount2(disk.c_str(), MNT_DETACH);
}

}  // namespace
}  // namespace neve
