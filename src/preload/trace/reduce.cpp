// SPDX-License-Identifier: BSD-3-Clause
#include "preload/trace/reduce.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <string>
#include <vector>

#include "preload/trace/json.hpp"
#include "preload/trace/mpi_library.hpp"
#include "preload/trace/part_reader.hpp"
#include "preload/trace/recorder.hpp"
#include "preload/trace/settings.hpp"

namespace neve::trace {
namespace {

constexpr int tag = 1;

void say(const std::string& text) {
  const std::string line = "neve trace: " + text + "\n";
  syscall(SYS_write, STDERR_FILENO, line.data(), line.size());
}

// This process's counts so far, taken out of the recorder: what comes later begins another part.
struct Taken {
  Trace trace;
  std::string file;
};

Taken take_part() {
  std::vector<std::byte> bytes;
  Taken taken;
  {
    Recording recording;
    if (!recording) return taken;
    OwnWork own_work;
    const auto part = part_bytes();
    bytes.assign(part.begin(), part.end());
    taken.file = part_path();
    leave_part();
  }
  OwnWork own_work;
  auto trace = read_part(bytes);
  if (trace.ok()) {
    taken.trace = std::move(*trace);
  } else {
    say(trace.status().message());
    taken.trace.unreadable_parts = 1;
  }
  return taken;
}

// Messages are chunked, since a count of MPI is an int.
constexpr size_t message_bytes = size_t{1} << 30;

void send(const std::vector<uint8_t>& bytes, int to, MPI_Comm comm) {
  uint64_t size = bytes.size();
  NEVE_PMPI(Send)(&size, static_cast<int>(sizeof size), byte_type(), to, tag, comm);
  for (size_t at = 0; at < bytes.size(); at += message_bytes) {
    const auto count = static_cast<int>(std::min(message_bytes, bytes.size() - at));
    NEVE_PMPI(Send)(bytes.data() + at, count, byte_type(), to, tag, comm);
  }
}

std::vector<uint8_t> receive(int from, MPI_Comm comm) {
  uint64_t size = 0;
  NEVE_PMPI(Recv)(&size, static_cast<int>(sizeof size), byte_type(), from, tag, comm, MPI_STATUS_IGNORE);
  std::vector<uint8_t> bytes(size);
  for (size_t at = 0; at < bytes.size(); at += message_bytes) {
    const auto count = static_cast<int>(std::min(message_bytes, bytes.size() - at));
    NEVE_PMPI(Recv)(bytes.data() + at, count, byte_type(), from, tag, comm, MPI_STATUS_IGNORE);
  }
  return bytes;
}

// Along a binomial tree: after log2(ranks) rounds rank 0 has it all. What fails on one rank (memory) must not
// leave another waiting: an empty message says that something is missing.
void gather(Trace& trace, int rank, int ranks, MPI_Comm comm) {
  for (int step = 1; step < ranks; step *= 2) {
    if (rank % (2 * step) != 0) {
      std::vector<uint8_t> message;
      try {
        message = nlohmann::json::to_cbor(nlohmann::json(to_json(trace)));
      } catch (const std::exception& e) {
        say(std::string("reduction: ") + e.what());
      }
      send(message, rank - step, comm);
      return;
    }
    if (rank + step >= ranks) continue;
    const std::vector<uint8_t> message = receive(rank + step, comm);
    auto theirs = from_json(nlohmann::json::from_cbor(message, true, false));
    if (theirs.ok()) {
      trace.merge(*theirs);
    } else {
      ++trace.unreadable_parts;
    }
  }
}

bool write_result(const Trace& trace) {
  bool exists = false;
  Status status = write_trace_file(trace, output_path(), Existing::keep, exists);
  if (!status.ok() && exists) {
    // Another program of the same run was first; both are put together when the trace is read.
    const std::string beside = std::string(parts_folder()) + "/" + std::to_string(getpid()) + "." +
                               std::to_string(static_cast<int64_t>(trace.start() * 1e6)) + reduced_suffix;
    status = write_trace_file(trace, beside, Existing::replace, exists);
  }
  if (!status.ok()) say(status.message() + "; the parts stay in " + parts_folder());
  return status.ok();
}

}  // namespace

void reduce_to_first_rank() {
  MPI_Comm comm;
  int rank = 0, ranks = 1, written = 0;
  if (NEVE_PMPI(Comm_dup)(world(), &comm) != MPI_SUCCESS) return;
  NEVE_PMPI(Comm_rank)(comm, &rank);
  NEVE_PMPI(Comm_size)(comm, &ranks);
  try {
    Taken taken = take_part();
    OwnWork own_work;
    gather(taken.trace, rank, ranks, comm);
    if (rank == 0) written = write_result(taken.trace) ? 1 : 0;
    NEVE_PMPI(Bcast)(&written, static_cast<int>(sizeof written), byte_type(), 0, comm);
    if (written != 0 && !taken.file.empty()) unlink(taken.file.c_str());
    NEVE_PMPI(Barrier)(comm);
    if (rank == 0) rmdir(parts_folder());  // stays where another process still has a part
  } catch (const std::exception& e) {
    // Out of memory in the middle of the exchange: the other ranks wait for this one.
    say(std::string("reduction: ") + e.what());
    NEVE_PMPI(Abort)(comm, 1);
  }
  NEVE_PMPI(Comm_free)(&comm);
}

}  // namespace neve::trace
