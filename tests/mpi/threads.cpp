// SPDX-License-Identifier: BSD-3-Clause
// Several threads of each rank write and read at a time, each on a communicator of its own, under
// MPI_THREAD_MULTIPLE. Ranks begin their threads in different orders, so that a lock held across an exchange
// would never be given back.
#include <gtest/gtest.h>
#include <mpi.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "neve/checkpoint.hpp"
#include "neve/plotfile_reader.hpp"
#include "neve/plotfile_writer.hpp"
#include "neve/transfer.h"
#include "tests/mpi/c_status.hpp"

namespace neve {
namespace {

using test::status_of;

constexpr int side = 16;
constexpr int threads = 4;

int rank = 0, ranks = 1;

Hierarchy row_of_boxes() {
  Hierarchy h;
  h.dims = 2;
  h.components = {"u", "v"};
  h.levels.resize(1);
  h.levels[0].domain = {{0, 0, 0}, {side * ranks - 1, side - 1, 0}};
  for (int r = 0; r < ranks; ++r)
    h.levels[0].boxes.push_back({{side * r, 0, 0}, {side * r + side - 1, side - 1, 0}});
  return h;
}

double value_at(int thread, int cell) { return 100.0 * thread + 0.25 * (cell % 97); }

Status check_values(int thread, const std::vector<double>& values, const char* what) {
  for (int i = 0; i < side * side; ++i) {
    const double error = values[static_cast<size_t>(i)] - value_at(thread, i);
    if (!(error <= 0.01 && error >= -0.01))
      return failure(std::string(what) + ": a value is not what was written");
  }
  return {};
}

// This rank's box, both components in `values`, which stay the caller's.
std::vector<LocalBox> box_of(const std::vector<double>& values) {
  LocalBox mine;
  mine.box = rank;
  mine.data = {values.data(), side * side, {1, side, side * side, 0}, nullptr};
  return {mine};
}

Status write_and_read(MPI_Comm comm, int thread, const std::string& folder, int round) {
  const Hierarchy h = row_of_boxes();
  std::vector<double> values(2 * side * side);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = value_at(thread, static_cast<int>(i % (side * side)));
  const std::vector<LocalBox> owned = box_of(values);
  const std::string base = folder + "/thread" + std::to_string(thread) + "_";
  WriteOptions options;
  options.bound = {BoundMode::abs, 0.01};
  const char* const strategies[] = {"skeleton", "filtered", "independent", "aggregated"};
  options.strategy = strategies[(round + thread) % 4];
  options.encode.threads = 2;
  std::vector<double> back(side * side);
  auto* const out = reinterpret_cast<std::byte*>(back.data());

  NEVE_TRY(write_plotfile(comm, base + "plot", h, owned, options).status());
  NEVE_ASSIGN(const auto source, open_plotfile(base + "plot"));
  NEVE_TRY(source->read_box(0, rank, 1, out));
  NEVE_TRY(check_values(thread, back, "plotfile"));

  options.strategy = "skeleton";
  const std::vector<Variable> variables = {{"h", {"u", "v"}}};
  const std::vector<std::vector<LocalBox>> boxes = {owned};
  NEVE_TRY(write_checkpoint(comm, base + "state", h, variables, boxes, options).status());
  NEVE_ASSIGN(const auto checkpoint, open_checkpoint(base + "state"));
  NEVE_TRY(checkpoint->read_box(0, 0, rank, 0, out));
  NEVE_TRY(check_values(thread, back, "checkpoint"));

  NEVE_TRY(write_amrex_plotfile(comm, base + "amrex", h, owned));
  NEVE_ASSIGN(const auto amrex, open_plotfile(base + "amrex"));
  NEVE_TRY(amrex->read_box(0, rank, 0, out));
  return check_values(thread, back, "AMReX plotfile");
}

// Collective I/O of another kind than plotfiles', each file open over several calls.
Status write_and_read_frames(MPI_Comm comm, int thread, const std::string& folder) {
  const std::string path = folder + "/thread" + std::to_string(thread) + "_frames";
  std::vector<double> values(side * side), back(values.size());
  for (size_t i = 0; i < values.size(); ++i) values[i] = value_at(thread, static_cast<int>(i));
  const uint64_t first = values.size() * static_cast<uint64_t>(rank);
  neve_mpi_file* file = nullptr;
  NEVE_TRY(status_of(neve_mpi_file_open(comm, path.c_str(), NEVE_MPI_FILE_CREATE, &file)));
  NEVE_TRY(status_of(neve_mpi_file_write_at_all(file, first, values.data(), values.size(), MPI_DOUBLE,
                                                "abs=0.01", nullptr)));
  NEVE_TRY(status_of(neve_mpi_file_sync(file)));
  NEVE_TRY(status_of(neve_mpi_file_close(&file)));
  NEVE_TRY(status_of(neve_mpi_file_open(comm, path.c_str(), NEVE_MPI_FILE_READ, &file)));
  NEVE_TRY(status_of(neve_mpi_file_read_at_all(file, first, back.data(), back.size(), MPI_DOUBLE, nullptr)));
  NEVE_TRY(status_of(neve_mpi_file_close(&file)));
  return check_values(thread, back, "frame file");
}

std::string make_folder() {
  std::string folder = std::filesystem::temp_directory_path() / ("neve_threads_" + std::to_string(getpid()));
  folder.resize(200);  // the name of rank 0's
  MPI_Bcast(folder.data(), static_cast<int>(folder.size()), MPI_CHAR, 0, MPI_COMM_WORLD);
  folder = folder.c_str();
  if (rank == 0) std::filesystem::create_directory(folder);
  MPI_Barrier(MPI_COMM_WORLD);
  return folder;
}

// `work` on every thread of this rank, with a communicator, a thread's number and a round, until one fails.
// Ranks begin their threads in different orders.
template <class Work>
void run_threads(int rounds, Work&& work) {
  std::vector<MPI_Comm> comms(threads);
  for (MPI_Comm& comm : comms) MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  std::vector<Status> statuses(threads);
  std::vector<std::thread> running;
  for (int i = 0; i < threads; ++i) {
    const int t = rank % 2 == 0 ? i : threads - 1 - i;
    running.emplace_back([&, t] {
      Status& status = statuses[static_cast<size_t>(t)];
      for (int round = 0; round < rounds && status.ok(); ++round)
        status = work(comms[static_cast<size_t>(t)], t, round);
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  for (std::thread& thread : running) thread.join();
  for (int t = 0; t < threads; ++t) {
    const Status& status = statuses[static_cast<size_t>(t)];
    EXPECT_TRUE(status.ok()) << "rank " << rank << " thread " << t << ": " << status.message();
  }
  for (MPI_Comm& comm : comms) MPI_Comm_free(&comm);
  MPI_Barrier(MPI_COMM_WORLD);
}

TEST(Threads, WriteAndReadOnCommunicatorsOfTheirOwn) {
  const int rounds = std::getenv("NEVE_TEST_LONG") != nullptr ? 40 : 2;
  const std::string folder = make_folder();
  run_threads(rounds, [&](MPI_Comm comm, int thread, int round) -> Status {
    NEVE_TRY(write_and_read(comm, thread, folder, round));
    return write_and_read_frames(comm, thread, folder);
  });
  if (rank == 0) std::filesystem::remove_all(folder);
}

// HDF5 duplicates communicators where one thread writes through its filter, and lets no other thread in
// meanwhile: not those either that read before they duplicate one, at another moment on each rank.
TEST(Threads, ReadAndSendWhileOneIsInHdf5OnAllRanks) {
  const int rounds = std::getenv("NEVE_TEST_LONG") != nullptr ? 500 : 50;
  const std::string folder = make_folder();
  const std::string path = folder + "/before";
  WriteOptions options;
  options.bound = {BoundMode::abs, 0.01};
  const std::vector<double> values(2 * side * side);
  const Hierarchy h = row_of_boxes();
  const std::vector<LocalBox> owned = box_of(values);
  ASSERT_TRUE(write_plotfile(MPI_COMM_WORLD, path, h, owned, options).ok());
  WriteOptions by_filter = options;
  by_filter.strategy = "filtered";
  run_threads(rounds, [&](MPI_Comm comm, int thread, int) -> Status {
    if (thread == 0) return write_plotfile(comm, folder + "/filtered", h, owned, by_filter).status();
    std::vector<double> sent(side * side), all(sent.size() * static_cast<size_t>(ranks));
    for (int i = 0; i < (rank + thread) % ranks; ++i) NEVE_TRY(open_plotfile(path).status());
    return status_of(
        neve_mpi_gather(sent.data(), sent.size(), MPI_DOUBLE, all.data(), 0, comm, "abs=0.01", nullptr));
  });
  if (rank == 0) std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace neve

int main(int argc, char** argv) {
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  testing::InitGoogleTest(&argc, argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &neve::rank);
  MPI_Comm_size(MPI_COMM_WORLD, &neve::ranks);
  int failed = 1;
  if (level == MPI_THREAD_MULTIPLE) {
    failed = RUN_ALL_TESTS();
  } else {
    std::printf("this MPI gives level %d, not MPI_THREAD_MULTIPLE\n", level);
  }
  MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  MPI_Finalize();
  return failed;
}
