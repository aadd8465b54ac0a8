// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/write/put.hpp"

#include <cstdlib>

#include "parallel/comm/fault.hpp"
#include "parallel/comm/stopwatch.hpp"
#include "parallel/file/direct_put.hpp"
#include "parallel/file/space.hpp"

namespace neve::mpi {
namespace {

constexpr int few_ranks = 64;
constexpr uint64_t large_part_bytes = uint64_t{256} << 10;  // of a rank

Status put_alone(const Comm& comm, const PutWork& work, FilePieces& pieces, WriteReport& report) {
  NEVE_TRY(injected_fault(Phase::write, comm.rank()));
  report.hints = work.hints;
  for (const Piece& piece : pieces.pieces()) report.data_bytes += piece.rows.bytes();
  NEVE_TRY(put_directly(work.path, pieces.pieces(), pieces.load(), !work.is_synced_later, report.mpi_writes));
  return injected_fault(Phase::sync, comm.rank());
}

Status put_by_mpi_io(const Comm& comm, const PutWork& work, FilePieces& pieces, Status& mine,
                     WriteReport& report) {
  if (mine.ok() && comm.rank() == 0)
    mine = guarded("write", [&] { return reserve_space(work.path, work.end); });
  NEVE_TRY(agree(comm, mine));
  NEVE_ASSIGN(PiecesReport put, write_pieces(comm, work.path, work.hints, work.order, work.datasets,
                                             pieces.pieces(), pieces.call_bytes(), pieces.load()));
  report.write_seconds = put.write_seconds;
  report.sync_seconds = put.sync_seconds;
  report.hints = std::move(put.hints);
  if (comm.rank() != 0) return {};
  report.mpi_writes = put.mpi_writes;
  report.data_bytes = put.data_bytes;
  return {};
}

}  // namespace

bool asks_for_mpi_io(const WriteOptions& options) {
  const char* const hints = std::getenv("NEVE_MPI_HINTS");
  return !options.mpi_hints.empty() || (hints != nullptr && *hints != '\0') ||
         options.layout.aggregators > 0 || options.layout.buffer_bytes > 0;
}

bool puts_directly(Strategy strategy, bool any_asks_for_mpi_io, int ranks, uint64_t bytes) {
  if (strategy != Strategy::skeleton && strategy != Strategy::amrex_1d) return false;
  return !any_asks_for_mpi_io &&
         (ranks <= few_ranks || bytes / static_cast<uint64_t>(ranks) >= large_part_bytes);
}

Status put_pieces(const Comm& comm, const PutWork& work, FilePieces& pieces, Status& mine,
                  WriteReport& report) {
  if (!work.is_direct) return put_by_mpi_io(comm, work, pieces, mine, report);
  Stopwatch stopwatch;
  if (mine.ok()) mine = guarded("write", [&] { return put_alone(comm, work, pieces, report); });
  report.write_seconds = stopwatch.lap();
  return {};
}

}  // namespace neve::mpi
