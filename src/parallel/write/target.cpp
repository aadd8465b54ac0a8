// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/write/target.hpp"

#include <array>
#include <filesystem>
#include <utility>

#include "parallel/comm/broadcast.hpp"
#include "parallel/comm/fault.hpp"
#include "parallel/comm/patient_wait.hpp"
#include "parallel/comm/stopwatch.hpp"

namespace neve::mpi {

namespace {

constexpr size_t kept_times = 5;

std::array<double*, kept_times> times_of(WriteReport& report) {
  return {&report.plan_seconds, &report.encode_seconds, &report.place_seconds, &report.write_seconds,
          &report.sync_seconds};
}

}  // namespace

Status Target::prepare(int rank, const std::string& path, const WriteOptions& options) {
  NEVE_ASSIGN(hints_, hints_for(options.layout, options.mpi_hints));
  if (rank != 0) return {};
  // What is written behind must find it wherever the program has gone meanwhile.
  const bool is_behind = behind_of(options) != Behind::none;
  NEVE_ASSIGN(files::TemporaryFile beside,
              files::TemporaryFile::beside(is_behind ? std::filesystem::absolute(path).string() : path));
  temporary_path_ = beside.path();
  temporary_.emplace(std::move(beside));
  return {};
}

Result<Target> Target::begin(const Comm& comm, const std::string& path, const WriteOptions& options) {
  Target target;
  NEVE_TRY(agree(comm, guarded("open", [&] { return target.prepare(comm.rank(), path, options); })));
  NEVE_TRY(broadcast(comm, target.temporary_path_));
  return target;
}

Result<Target::Finished> Target::finish(const Comm& comm) {
  struct Outcome {
    uint64_t key = 0;
    Finished finished;
  } outcome;
  static_assert(sizeof(Outcome) == 3 * sizeof(uint64_t));
  Stopwatch stopwatch;
  const Status renamed = guarded("rename", [&]() -> Status {
    if (comm.rank() != 0) return {};
    std::error_code error;
    outcome.finished.bytes = std::filesystem::file_size(temporary_path_, error);
    if (error) return failure(temporary_path_ + ": " + error.message());
    return commit();
  });
  outcome.key = agreement_key(comm, renamed);
  outcome.finished.seconds = stopwatch.lap();
  NEVE_TRY(broadcast_patiently(&outcome, 3, MPI_UINT64_T, 0, comm.get(), "broadcast of the outcome"));
  if (!all_agree(outcome.key)) return lowest_failure(comm, outcome.key, renamed);
  return outcome.finished;
}

Exchange make_closing() { return Exchange(kept_times, 2); }

Status close_write(const Comm& comm, Target& target, const Status& mine, Exchange& exchange,
                   WriteReport& report) {
  const std::array<double*, kept_times> times = times_of(report);
  for (size_t i = 0; i < kept_times; ++i) exchange.minima()[i] = reversed(ordered(*times[i]));
  exchange.sums()[0] = report.mpi_writes;
  exchange.sums()[1] = report.data_bytes;
  // (A copy of an error takes memory, which may be what has ended.)
  const Status renaming = mine.ok() ? injected_fault(Phase::rename, comm.rank()) : Status();
  NEVE_TRY(exchange.run(comm, mine.ok() ? std::as_const(renaming) : mine));
  for (size_t i = 0; i < kept_times; ++i) *times[i] = from_ordered(reversed(exchange.minima()[i]));
  report.mpi_writes = exchange.sums()[0];
  report.data_bytes = exchange.sums()[1];
  NEVE_ASSIGN(const Target::Finished finished, target.finish(comm));
  report.file_bytes = finished.bytes;
  report.sync_seconds += finished.seconds;
  return {};
}

}  // namespace neve::mpi
