// SPDX-License-Identifier: BSD-3-Clause
// Memory that ends on one rank, at any allocation of a collective call: the same failure on all ranks,
// nothing hangs, and the folder holds what it held.
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "neve/checkpoint.hpp"
#include "neve/plotfile_writer.hpp"
#include "neve/transfer.h"
#include "tests/mpi/c_status.hpp"
#include "tests/mpi/generated.hpp"
#include "tests/support/failing_new.hpp"

namespace neve {
namespace {

using test::OwnedBoxes;
using test::status_of;
using test::with_memory_for;
using test::world_rank;
using test::world_size;

int greatest(int mine) {
  MPI_Allreduce(MPI_IN_PLACE, &mine, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  return mine;
}

// Calls of several blocks, encoded by two threads.
struct SmallBlocks {
  SmallBlocks() {
    values.threads = 2;
    options.values = &values;
    options.block_bytes = 4096;
  }
  SmallBlocks(const SmallBlocks&) = delete;

  neve_compress_options values = NEVE_COMPRESS_OPTIONS_INIT;
  neve_mpi_options options = NEVE_MPI_OPTIONS_INIT;
};

template <class T>
void fill_with_waves(std::vector<T>& values) {
  for (size_t i = 0; i < values.size(); ++i) values[i] = T(0.5) * static_cast<T>(i % 50);
}

class OutOfMemoryOnOneRank : public testing::Test {
 protected:
  OutOfMemoryOnOneRank()
      : hierarchy_(test::make_hierarchy({2, DType::f64, 2})),
        owned_(hierarchy_, distribute_boxes(hierarchy_, world_size()), world_rank()),
        directory_(test::make_directory("out_of_memory")),
        path_(directory_ + "/file") {}
  ~OutOfMemoryOnOneRank() override { test::remove_directory(directory_); }

  // With memory for 0, 1, 2, ... allocations, ever more of them skipped in a short test, on the first and on
  // the last rank, until the call needs no more.
  void sweep(const std::string& name, const std::function<Status()>& call) {
    const bool is_long = std::getenv("NEVE_TEST_LONG") != nullptr;
    ASSERT_TRUE(call().ok()) << call().message();
    test::barrier();
    const std::vector<std::string> whole = test::list_directory(directory_);
    int refusals = 0;
    for (const int rank : {0, world_size() - 1}) {
      for (const bool once : {true, false}) {
        for (long n = 0;; n += is_long ? 1 : 1 + n / 4) {
          Status status;
          const bool is_refused =
              with_memory_for(rank == world_rank() ? n : -1, once, [&] { status = call(); });
          if (greatest(is_refused ? 1 : 0) == 0) break;
          ++refusals;
          const int code = static_cast<int>(status.code());
          ASSERT_EQ(greatest(code), -greatest(-code)) << name << " " << n << ": " << status.message();
          ASSERT_TRUE(status.ok() || status.code() == Code::failure)
              << name << " " << n << ": " << status.message();
          // With memory gone for good, the rank without it may have room for fewer words.
          if (once) {
            ASSERT_TRUE(test::same_on_all_ranks(status.message())) << name << " " << n;
          }
          test::barrier();
          ASSERT_EQ(test::list_directory(directory_), whole) << name << " " << n;
          test::barrier();
        }
      }
    }
    ASSERT_TRUE(call().ok()) << call().message();
    if (world_rank() == 0) std::printf("%s: memory ended %d times\n", name.c_str(), refusals);
  }

  Hierarchy hierarchy_;
  OwnedBoxes owned_;
  std::string directory_, path_;
};

TEST_F(OutOfMemoryOnOneRank, WritingAPlotfile) {
  for (const char* strategy : {"skeleton", "independent"}) {
    for (const bool compress : {true, false}) {
      WriteOptions options;
      options.strategy = strategy;
      options.compress = compress;
      sweep(std::string(strategy) + (compress ? " compressed" : " uncompressed"), [&] {
        return write_plotfile(MPI_COMM_WORLD, path_, hierarchy_, owned_.boxes(), options).status();
      });
      if (HasFatalFailure()) return;
    }
  }
}

TEST_F(OutOfMemoryOnOneRank, WritingValuesThatAreRead) {
  test::GeneratedSource source(hierarchy_);
  for (const bool compress : {true, false}) {
    WriteOptions options;
    options.compress = compress;
    options.covered = compress ? Covered::automatic : Covered::keep;
    sweep(compress ? "read, compressed" : "read, uncompressed",
          [&] { return write_plotfile(MPI_COMM_WORLD, path_, hierarchy_, source, options).status(); });
    if (HasFatalFailure()) return;
  }
  const Variable variable{"all", hierarchy_.components};
  PlotfileSource* const sources[] = {&source};
  sweep("read, checkpoint", [&] {
    return write_checkpoint(MPI_COMM_WORLD, path_, hierarchy_, std::span(&variable, 1), sources, {}).status();
  });
  if (HasFatalFailure()) return;
  const std::string folder = directory_ + "/folder";
  sweep("read, AMReX", [&] { return write_amrex_plotfile(MPI_COMM_WORLD, folder, source); });
}

TEST_F(OutOfMemoryOnOneRank, WritingAnAmrexPlotfile) {
  sweep("AMReX", [&] { return write_amrex_plotfile(MPI_COMM_WORLD, path_, hierarchy_, owned_.boxes()); });
}

TEST_F(OutOfMemoryOnOneRank, WritingACheckpoint) {
  const std::vector<Variable> variables = {{"all", hierarchy_.components}};
  const std::vector<std::vector<LocalBox>> boxes = {owned_.boxes()};
  sweep("checkpoint",
        [&] { return write_checkpoint(MPI_COMM_WORLD, path_, hierarchy_, variables, boxes, {}).status(); });
}

TEST_F(OutOfMemoryOnOneRank, Gathering) {
  std::vector<float> mine(3000), all(mine.size() * static_cast<size_t>(world_size()));
  fill_with_waves(mine);
  const SmallBlocks blocks;
  sweep("gather", [&]() -> Status {
    return status_of(neve_mpi_gather(mine.data(), mine.size(), MPI_FLOAT, all.data(), 0, MPI_COMM_WORLD,
                                     "rel=1e-3", &blocks.options));
  });
}

TEST_F(OutOfMemoryOnOneRank, OtherCollectiveCalls) {
  std::vector<float> mine(3000), all(mine.size() * static_cast<size_t>(world_size()));
  fill_with_waves(mine);
  const SmallBlocks blocks;
  const MPI_Comm comm = MPI_COMM_WORLD;
  sweep("allgather", [&]() -> Status {
    return status_of(neve_mpi_allgather(mine.data(), mine.size(), MPI_FLOAT, all.data(), comm, "rel=1e-3",
                                        &blocks.options));
  });
  sweep("alltoall", [&]() -> Status {
    return status_of(neve_mpi_alltoall(MPI_IN_PLACE, mine.size(), MPI_FLOAT, all.data(), comm, "rel=1e-3",
                                       &blocks.options));
  });
  sweep("bcast", [&]() -> Status {
    return status_of(
        neve_mpi_bcast(mine.data(), mine.size(), MPI_FLOAT, 0, comm, "rel=1e-3", &blocks.options));
  });
}

// Of a frame file: written by all ranks, by single ranks, closed.
TEST_F(OutOfMemoryOnOneRank, WritingAFrameFile) {
  std::vector<double> mine(3000);
  fill_with_waves(mine);
  const SmallBlocks blocks;
  const auto rank = static_cast<uint64_t>(world_rank());
  sweep("frame file", [&]() -> Status {
    neve_mpi_file* file = nullptr;
    NEVE_TRY(status_of(neve_mpi_file_open(MPI_COMM_WORLD, path_.c_str(), NEVE_MPI_FILE_CREATE, &file)));
    // What single ranks write fails for them alone, until the file is closed.
    (void)neve_mpi_file_write_at(file, rank * 2 * mine.size(), mine.data(), mine.size(), MPI_DOUBLE,
                                 "abs=0.01", &blocks.options);
    (void)neve_mpi_file_write_at_all(file, (rank * 2 + 1) * mine.size(), mine.data(), mine.size(), MPI_DOUBLE,
                                     "rel=1e-3", &blocks.options);
    return status_of(neve_mpi_file_close(&file));
  });
}

}  // namespace
}  // namespace neve
