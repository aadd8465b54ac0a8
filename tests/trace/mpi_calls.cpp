// SPDX-License-Identifier: BSD-3-Clause
// An MPI program that makes known MPI-IO calls: mpi_calls MODE FILE. What each mode does is what the tests
// of the trace expect to be told.
#include <fcntl.h>
#include <mpi.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace {

int rank = 0, ranks = 1;
std::vector<char> data(1 << 20, 'x');

void check(int result, const char* what) {
  if (result == MPI_SUCCESS) return;
  std::fprintf(stderr, "mpi_calls: %s failed\n", what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}
#define CHECK(call) check(call, #call)

MPI_File open_file(const std::string& path, int mode = MPI_MODE_CREATE | MPI_MODE_RDWR) {
  MPI_File file;
  CHECK(MPI_File_open(MPI_COMM_WORLD, path.c_str(), mode, MPI_INFO_NULL, &file));
  return file;
}

MPI_Offset mine(int bytes) { return static_cast<MPI_Offset>(rank) * bytes; }

// 5 writes of 1000 bytes, rank + 1 of 64.
void independent(const std::string& path) {
  MPI_File file = open_file(path);
  for (int i = 0; i < 5; ++i) {
    CHECK(MPI_File_write_at(file, (i * ranks + rank) * 1000, data.data(), 1000, MPI_BYTE, MPI_STATUS_IGNORE));
  }
  CHECK(MPI_File_seek(file, ranks * 5000 + mine(64 * ranks), MPI_SEEK_SET));
  for (int i = 0; i <= rank; ++i) {
    CHECK(MPI_File_write(file, data.data(), 8, MPI_DOUBLE, MPI_STATUS_IGNORE));
  }
  CHECK(MPI_File_sync(file));
  CHECK(MPI_File_close(&file));
}

// 3 rounds of 4096 bytes; in the last only rank 0 has anything. One write_all of 100 bytes before.
void collective(const std::string& path) {
  MPI_File file = open_file(path);
  CHECK(MPI_File_seek(file, mine(100), MPI_SEEK_SET));
  CHECK(MPI_File_write_all(file, data.data(), 100, MPI_BYTE, MPI_STATUS_IGNORE));
  for (int round = 0; round < 3; ++round) {
    const int bytes = round == 2 && rank != 0 ? 0 : 4096;
    CHECK(MPI_File_write_at_all(file, 100 * ranks + (round * ranks + rank) * 4096, data.data(), bytes,
                                MPI_BYTE, MPI_STATUS_IGNORE));
  }
  CHECK(MPI_File_close(&file));
}

// 4 of iwrite_at and 1 of iwrite with 512 bytes, 2 of iwrite_at_all with 2048.
void nonblocking(const std::string& path) {
  MPI_File file = open_file(path);
  std::vector<MPI_Request> requests;
  for (int i = 0; i < 4; ++i) {
    CHECK(MPI_File_iwrite_at(file, (i * ranks + rank) * 512, data.data(), 512, MPI_BYTE,
                             &requests.emplace_back()));
  }
  CHECK(MPI_File_seek(file, (4 * ranks + rank) * 512, MPI_SEEK_SET));
  CHECK(MPI_File_iwrite(file, data.data(), 512, MPI_BYTE, &requests.emplace_back()));
  CHECK(MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE));
  for (int i = 0; i < 2; ++i) {
    MPI_Request request;
    CHECK(MPI_File_iwrite_at_all(file, 5 * ranks * 512 + (i * ranks + rank) * 2048, data.data(), 512, MPI_INT,
                                 &request));
    CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  }
  CHECK(MPI_File_close(&file));
}

// One of each split collective: 300, 500 and 700 bytes.
void split(const std::string& path) {
  MPI_File file = open_file(path);
  CHECK(MPI_File_write_at_all_begin(file, mine(300), data.data(), 300, MPI_BYTE));
  CHECK(MPI_File_write_at_all_end(file, data.data(), MPI_STATUS_IGNORE));
  CHECK(MPI_File_seek(file, 300 * ranks + mine(500), MPI_SEEK_SET));
  CHECK(MPI_File_write_all_begin(file, data.data(), 500, MPI_BYTE));
  CHECK(MPI_File_write_all_end(file, data.data(), MPI_STATUS_IGNORE));
  CHECK(MPI_File_write_ordered_begin(file, data.data(), 700, MPI_BYTE));
  CHECK(MPI_File_write_ordered_end(file, data.data(), MPI_STATUS_IGNORE));
  CHECK(MPI_File_close(&file));
}

// 2 of write_shared with 200 bytes, 1 of write_ordered with 400.
void shared(const std::string& path) {
  MPI_File file = open_file(path);
  for (int i = 0; i < 2; ++i)
    CHECK(MPI_File_write_shared(file, data.data(), 200, MPI_BYTE, MPI_STATUS_IGNORE));
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(MPI_File_write_ordered(file, data.data(), 400, MPI_BYTE, MPI_STATUS_IGNORE));
  CHECK(MPI_File_close(&file));
}

// Each rank a column block of a 64 x (16 * ranks) array of doubles, out of memory with a hole after each row.
void view(const std::string& path) {
  MPI_File file = open_file(path);
  int sizes[2] = {64, 16 * ranks}, part[2] = {64, 16}, from[2] = {0, 16 * rank};
  MPI_Datatype columns, rows;
  MPI_Type_create_subarray(2, sizes, part, from, MPI_ORDER_C, MPI_DOUBLE, &columns);
  MPI_Type_commit(&columns);
  MPI_Type_vector(64, 16, 20, MPI_DOUBLE, &rows);
  MPI_Type_commit(&rows);
  CHECK(MPI_File_set_view(file, 0, MPI_DOUBLE, columns, "native", MPI_INFO_NULL));
  CHECK(MPI_File_write_all(file, data.data(), 1, rows, MPI_STATUS_IGNORE));
  CHECK(MPI_File_close(&file));
  MPI_Type_free(&columns);
  MPI_Type_free(&rows);
}

// 1000 bytes read in each way; what is read was written before by rank 0, as POSIX.
void reads(const std::string& path) {
  if (rank == 0) {
    const int fd = open(path.c_str(), O_CREAT | O_WRONLY | O_TRUNC, 0666);
    if (fd < 0 || write(fd, data.data(), data.size()) != static_cast<ssize_t>(data.size())) std::abort();
    close(fd);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File file = open_file(path, MPI_MODE_RDONLY);
  MPI_Request request;
  CHECK(MPI_File_read_at(file, mine(1000), data.data(), 1000, MPI_BYTE, MPI_STATUS_IGNORE));
  CHECK(MPI_File_read(file, data.data(), 1000, MPI_BYTE, MPI_STATUS_IGNORE));
  CHECK(MPI_File_read_at_all(file, mine(1000), data.data(), 1000, MPI_BYTE, MPI_STATUS_IGNORE));
  CHECK(MPI_File_read_all(file, data.data(), 1000, MPI_BYTE, MPI_STATUS_IGNORE));
  CHECK(MPI_File_iread_at(file, mine(1000), data.data(), 1000, MPI_BYTE, &request));
  CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  CHECK(MPI_File_read_at_all_begin(file, mine(1000), data.data(), 1000, MPI_BYTE));
  CHECK(MPI_File_read_at_all_end(file, data.data(), MPI_STATUS_IGNORE));
  CHECK(MPI_File_close(&file));
}

// Phases "first" (2 writes) and "second" (3 writes) of 256 bytes; 7 writes while counting is switched off.
void phases(const std::string& path) {
  MPI_File file = open_file(path);
  const auto write = [&](int times) {
    for (int i = 0; i < times; ++i) {
      CHECK(MPI_File_write_at(file, mine(256), data.data(), 256, MPI_BYTE, MPI_STATUS_IGNORE));
    }
  };
  MPI_Pcontrol(2, "first");
  write(2);
  MPI_Pcontrol(2, "second");
  write(1);
  MPI_Pcontrol(0);
  write(7);
  MPI_Pcontrol(1);
  write(2);
  CHECK(MPI_File_close(&file));
}

void four_writes(const std::string& path) {
  MPI_File file = open_file(path);
  for (int i = 0; i < 4; ++i) {
    CHECK(MPI_File_write_at(file, mine(800), data.data(), 800, MPI_BYTE, MPI_STATUS_IGNORE));
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

// Four writes of 800 bytes a rank, and no MPI_Finalize: the last rank is killed, or everything aborts.
void killed(const std::string& path) {
  four_writes(path);
  if (rank == ranks - 1) raise(SIGKILL);
  MPI_Barrier(MPI_COMM_WORLD);
}
void aborted(const std::string& path) {
  four_writes(path);
  if (rank == 0) MPI_Abort(MPI_COMM_WORLD, 7);
  MPI_Barrier(MPI_COMM_WORLD);
}

// Written under another name and renamed by rank 0.
void renamed(const std::string& path) {
  MPI_File file = open_file(path + ".tmp");
  CHECK(MPI_File_write_at_all(file, mine(128), data.data(), 128, MPI_BYTE, MPI_STATUS_IGNORE));
  CHECK(MPI_File_close(&file));
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0 && std::rename((path + ".tmp").c_str(), path.c_str()) != 0) std::abort();
}

// 333 bytes by POSIX on every rank, after MPI_Finalize.
void after_finalize(const std::string& path) {
  const int fd = open((path + std::to_string(rank)).c_str(), O_CREAT | O_WRONLY | O_TRUNC, 0666);
  if (fd < 0 || write(fd, data.data(), 333) != 333) std::abort();
  close(fd);
}

// How long a call takes: N writes of 64 bytes.
void many(const std::string& path) {
  MPI_File file = open_file(path);
  constexpr int count = 20000;
  const double begin = MPI_Wtime();
  for (int i = 0; i < count; ++i) {
    CHECK(MPI_File_write_at(file, mine(64), data.data(), 64, MPI_BYTE, MPI_STATUS_IGNORE));
  }
  if (rank == 0) std::printf("%g\n", (MPI_Wtime() - begin) / count);
  CHECK(MPI_File_close(&file));
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const std::map<std::string, std::function<void(const std::string&)>> modes = {
      {"independent", independent},
      {"collective", collective},
      {"nonblocking", nonblocking},
      {"split", split},
      {"shared", shared},
      {"view", view},
      {"reads", reads},
      {"phases", phases},
      {"killed", killed},
      {"aborted", aborted},
      {"renamed", renamed},
      {"many", many},
      {"nothing", [](const std::string&) {}}};
  const std::string mode = argc > 2 ? argv[1] : "";
  const bool after = mode == "after-finalize";
  if (!after && modes.find(mode) == modes.end()) {
    std::fprintf(stderr, "mpi_calls: no mode '%s'\n", mode.c_str());
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  if (after) {
    independent(argv[2]);
  } else {
    modes.at(mode)(argv[2]);
  }
  MPI_Finalize();
  if (after) after_finalize(argv[2]);
  return 0;
}
