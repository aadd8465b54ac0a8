// SPDX-License-Identifier: BSD-3-Clause
// A write that fails fails on every rank, with the same words, and leaves everything as it was.
#include <sys/mount.h>
#include <sys/resource.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "tests/mpi/generated.hpp"

namespace neve {
namespace {

using test::OwnedBoxes;
using test::world_rank;
using test::world_size;

constexpr std::array all_ways = {"skeleton",     "filtered",       "aggregated",     "independent",
                                 "raw_skeleton", "raw_aggregated", "raw_collective", "raw_independent"};

class Failure : public testing::TestWithParam<const char*> {
 protected:
  Failure()
      : hierarchy_(test::make_hierarchy({})),
        owned_(hierarchy_, distribute_boxes(hierarchy_, world_size()), world_rank()),
        directory_(test::make_directory("failure")) {}
  ~Failure() override {
    ::unsetenv("NEVE_FAULT");
    test::remove_directory(directory_);
  }

  // After a barrier, so that the files are as the writer left them.
  Status write(const std::string& path, WriteOptions options = {}) {
    options.strategy = strategy();
    options.compress = compresses();
    const Status status = write_plotfile(MPI_COMM_WORLD, path, hierarchy_, owned_.boxes(), options).status();
    test::barrier();
    return status;
  }
  Status write_amrex(const std::string& path) {
    const Status status = write_amrex_plotfile(MPI_COMM_WORLD, path, hierarchy_, owned_.boxes());
    test::barrier();
    return status;
  }
  // "raw_" before a strategy's name: uncompressed.
  bool compresses() const { return !std::string_view(GetParam()).starts_with("raw_"); }
  std::string strategy() const { return std::string(GetParam()).substr(compresses() ? 0 : 4); }
  void set_fault(const std::string& phase, int rank) {
    ::setenv("NEVE_FAULT", (phase + ":" + std::to_string(rank)).c_str(), 1);
  }
  std::string expected(const std::string& phase, int rank) {
    const std::string words = "injected fault in phase " + phase;
    return world_size() == 1 ? words : "rank " + std::to_string(rank) + ": " + words;
  }

  Hierarchy hierarchy_;
  OwnedBoxes owned_;
  std::string directory_;
};

INSTANTIATE_TEST_SUITE_P(Strategies, Failure, testing::ValuesIn(all_ways),
                         [](const auto& param) { return std::string(param.param); });

TEST_P(Failure, OnAnyRankInAnyPhaseIsOneErrorAndLeavesTheEarlierFile) {
  const std::string path = directory_ + "/plot.h5";
  ASSERT_TRUE(write(path).ok());
  const std::string earlier = test::read_file(path);
  WriteOptions other;  // would make a different file
  other.bound = {BoundMode::rel, 1e-5};
  if (!compresses()) hierarchy_.time = 2;
  for (const std::string phase :
       {"range", "plan", "encode", "place", "skeleton", "write", "sync", "rename"}) {
    if (!compresses() && (phase == "range" || phase == "encode")) continue;  // there are none
    for (int rank = 0; rank < world_size(); ++rank) {
      set_fault(phase, rank);
      const Status status = write(path, other);
      EXPECT_EQ(status.message(), expected(phase, rank));
      EXPECT_EQ(status.code(), Code::failure);
      EXPECT_EQ(test::list_directory(directory_), std::vector<std::string>{"plot.h5"})
          << phase << " " << rank;
      EXPECT_TRUE(test::read_file(path) == earlier) << phase << " " << rank;
      test::barrier();
    }
  }
  ::unsetenv("NEVE_FAULT");
  ASSERT_TRUE(write(path, other).ok());
  EXPECT_FALSE(test::read_file(path) == earlier);
}

TEST_P(Failure, OfAnAmrexWriteLeavesTheEarlierPlotfile) {
  const std::string path = directory_ + "/plt00001";
  ASSERT_TRUE(write_amrex(path).ok());
  const std::string earlier = test::read_file(path + "/Header");
  ASSERT_FALSE(earlier.empty());
  hierarchy_.time = 99;
  for (const char* phase : {"write", "sync", "rename"}) {
    for (int rank = 0; rank < world_size(); ++rank) {
      set_fault(phase, rank);
      EXPECT_EQ(write_amrex(path).message(), expected(phase, rank));
      EXPECT_EQ(test::list_directory(directory_), std::vector<std::string>{"plt00001"});
      EXPECT_EQ(test::read_file(path + "/Header"), earlier);
      test::barrier();
    }
  }
  ::unsetenv("NEVE_FAULT");
  ASSERT_TRUE(write_amrex(path).ok());
  EXPECT_EQ(test::list_directory(directory_), std::vector<std::string>{"plt00001"});
  EXPECT_NE(test::read_file(path + "/Header"), earlier);
}

TEST_P(Failure, MissingDirectoriesAndTargetsThatAreNoFilesAreNamed) {
  const auto refused = [&](const std::string& path) {
    const Status status = write(path);
    EXPECT_FALSE(status.ok());
    EXPECT_TRUE(test::same_on_all_ranks(status.message()));
    return status.message();
  };
  EXPECT_NE(refused(directory_ + "/no/plot.h5").find("directory " + directory_ + "/no does not exist"),
            std::string::npos);
  EXPECT_NE(refused(directory_).find("is not a regular file"), std::string::npos);
  EXPECT_NE(refused("").find("the path to write is empty"), std::string::npos);
  EXPECT_TRUE(test::list_directory(directory_).empty());
}

TEST_P(Failure, AFileSizeLimitStopsTheWriteOnAllRanks) {
  // The skeleton fits under one limit and the frames do not; under the other nothing fits.
  const std::string path = directory_ + "/plot.h5";
  ASSERT_TRUE(write(path).ok());
  const std::string earlier = test::read_file(path);
  const auto before = std::signal(SIGXFSZ, SIG_IGN);
  rlimit old_limit;
  getrlimit(RLIMIT_FSIZE, &old_limit);
  for (const rlim_t bytes : {rlim_t{100}, static_cast<rlim_t>(earlier.size() - 1000)}) {
    rlimit low = old_limit;
    low.rlim_cur = bytes;
    test::barrier();
    setrlimit(RLIMIT_FSIZE, &low);
    const Status status = write(path);
    setrlimit(RLIMIT_FSIZE, &old_limit);
    EXPECT_EQ(status.code(), Code::failure);
    EXPECT_TRUE(test::same_on_all_ranks(status.message()));
    EXPECT_NE(status.message().find(directory_), std::string::npos) << status.message();
    EXPECT_EQ(test::list_directory(directory_), std::vector<std::string>{"plot.h5"});
    EXPECT_TRUE(test::read_file(path) == earlier);
  }
  std::signal(SIGXFSZ, before);
}

// A file system of its own, made by rank 0, which needs the right to mount.
class MountedFailure : public Failure {
 protected:
  bool mount_here(unsigned long flags, const char* options) {
    int mounted = 0;
    if (world_rank() == 0) {
      std::filesystem::create_directory(directory_ + "/mounted");
      mounted = ::mount("neve-test", (directory_ + "/mounted").c_str(), "tmpfs", flags, options) == 0 ? 1 : 0;
    }
    MPI_Bcast(&mounted, 1, MPI_INT, 0, MPI_COMM_WORLD);
    is_mounted_ = mounted != 0;
    return is_mounted_;
  }
  ~MountedFailure() override {
    test::barrier();
    if (is_mounted_ && world_rank() == 0) ::umount2((directory_ + "/mounted").c_str(), MNT_DETACH);
  }
  bool is_mounted_ = false;
};

INSTANTIATE_TEST_SUITE_P(Strategies, MountedFailure, testing::ValuesIn(all_ways),
                         [](const auto& param) { return std::string(param.param); });

TEST_P(MountedFailure, AFullDiskIsOneErrorAndLeavesNothing) {
  if (!mount_here(0, "size=64k")) GTEST_SKIP() << "mounting a small file system needs more rights";
  WriteOptions exact;  // too large for the file system
  exact.bound = {BoundMode::lossless, 0};
  const Status status = write(directory_ + "/mounted/plot.h5", exact);
  EXPECT_EQ(status.code(), Code::failure);
  EXPECT_NE(status.message().find("No space left on device"), std::string::npos) << status.message();
  EXPECT_TRUE(test::same_on_all_ranks(status.message()));
  EXPECT_TRUE(test::list_directory(directory_ + "/mounted").empty());
  const Status amrex = write_amrex(directory_ + "/mounted/plt");
  EXPECT_NE(amrex.message().find("No space left on device"), std::string::npos) << amrex.message();
  EXPECT_TRUE(test::list_directory(directory_ + "/mounted").empty());
}

TEST_P(MountedFailure, AReadOnlyTargetIsOneErrorOnAllRanks) {
  if (!mount_here(MS_RDONLY, "size=1m")) GTEST_SKIP() << "mounting a small file system needs more rights";
  for (const Status& status :
       {write(directory_ + "/mounted/plot.h5"), write_amrex(directory_ + "/mounted/plt")}) {
    EXPECT_EQ(status.code(), Code::failure);
    EXPECT_NE(status.message().find("directory " + directory_ +
                                    "/mounted cannot be written: Read-only file system"),
              std::string::npos)
        << status.message();
    EXPECT_TRUE(test::same_on_all_ranks(status.message()));
  }
}

}  // namespace
}  // namespace neve
