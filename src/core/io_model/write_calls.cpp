// SPDX-License-Identifier: BSD-3-Clause
#include "core/io_model/write_calls.hpp"

#include <algorithm>

#include "core/io_model/ompio_writes.hpp"
#include "core/io_model/romio_writes.hpp"

namespace neve::io_model {
namespace {

void add_lustre_requests(const Call& call, uint64_t stripe_bytes, std::vector<Request>& requests) {
  if (!call.is_collective) {
    for (const CallPiece& piece : call.pieces) requests.push_back({piece.begin, piece.bytes, piece.rank});
    return;
  }
  for (const Range& range : joined_ranges(call.pieces)) {
    for (uint64_t at = range.begin; at < range.end;) {
      const uint64_t next =
          stripe_bytes == 0 ? range.end : std::min(range.end, (at / stripe_bytes + 1) * stripe_bytes);
      requests.push_back({at, next - at});
      at = next;
    }
  }
}

bool bounds_buffers(const Way& way) { return way.writer == Writer::neve && way.aggregate_boxes > 0; }

// With hints as Neve gives them: no data sieving, and no collective buffering of calls that take only some
// pieces of a rank, which leave gaps, unless aggregators are asked for.
RomioHints romio_hints(const FilePieces& file, const Way& way, const Buffering& buffering,
                       uint64_t largest_piece) {
  RomioHints hints;
  const int nodes = (file.ranks + buffering.ranks_per_node - 1) / buffering.ranks_per_node;
  hints.aggregators = std::min(nodes, file.ranks);
  hints.is_packed = way.writer == Writer::hdf5;
  if (!way.has_hints) return hints;
  hints.sieves = false;
  if (buffering.aggregators > 0) {
    hints.aggregators = std::min(buffering.aggregators, file.ranks);
    hints.buffering = RomioHints::Buffering::enable;
  } else if (way.strategy == Strategy::collective || way.aggregate_boxes > 0) {
    hints.buffering = RomioHints::Buffering::disable;
  }
  if (bounds_buffers(way)) hints.buffer_bytes = bounded_buffer_bytes(way.aggregate_boxes, largest_piece);
  return hints;
}

OmpioHints ompio_hints(const Way& way, const Buffering& buffering, uint64_t largest_piece) {
  OmpioHints hints;
  hints.is_packed = way.writer == Writer::hdf5;
  hints.has_view = way.writer == Writer::hdf5 || way.strategy != Strategy::collective;
  if (!way.has_hints) return hints;
  hints.aggregators = buffering.aggregators;
  if (bounds_buffers(way)) hints.buffer_bytes = bounded_buffer_bytes(way.aggregate_boxes, largest_piece);
  return hints;
}

uint64_t largest_piece_of(const FilePieces& file) {
  uint64_t largest = 0;
  for (const Dataset& dataset : file.datasets) {
    for (uint64_t bytes : dataset.piece_bytes) largest = std::max(largest, bytes);
  }
  return largest;
}

// What each rank has packed of a call it writes run by run: HDF5 makes a call of MPI-IO of each.
void write_runs_alone(const Call& call, int ranks, Step& step) {
  const std::vector<std::vector<Range>> by_rank = ranges_by_rank(call.pieces, ranks);
  step.is_collective = false;
  for (size_t rank = 0; rank < by_rank.size(); ++rank) {
    for (const Range& range : by_rank[rank]) {
      step.mpi_bytes.push_back(range.bytes());
      step.requests.push_back({range.begin, range.bytes(), static_cast<int>(rank)});
    }
  }
  std::ranges::sort(step.requests, {}, &Request::begin);
}

void describe_calls(const Call& call, int ranks, Step& step) {
  step.is_collective = call.is_collective;
  if (!call.is_collective) {
    for (const CallPiece& piece : call.pieces) step.mpi_bytes.push_back(piece.bytes);
    return;
  }
  step.mpi_bytes.assign(static_cast<size_t>(ranks), 0);
  for (const CallPiece& piece : call.pieces) step.mpi_bytes[static_cast<size_t>(piece.rank)] += piece.bytes;
}

}  // namespace

void for_each_step(const FilePieces& file, const Way& way, const Buffering& buffering,
                   const std::function<void(const Step&)>& visit) {
  const uint64_t largest = largest_piece_of(file);
  const RomioHints romio = romio_hints(file, way, buffering, largest);
  const OmpioHints ompio = ompio_hints(way, buffering, largest);
  const MpiIo mpi_io = way.writer == Writer::model ? MpiIo::lustre : buffering.mpi_io;
  for_each_call(file, way.strategy, way.aggregate_boxes, [&](const Call& call) {
    Step step;
    if (way.is_alone) {
      write_runs_alone(call, file.ranks, step);
      return visit(step);
    }
    describe_calls(call, file.ranks, step);
    switch (mpi_io) {
      case MpiIo::lustre:
        add_lustre_requests(call, buffering.stripe_bytes, step.requests);
        break;
      case MpiIo::romio:
        add_romio_requests(call, file.ranks, romio, step.requests);
        break;
      case MpiIo::ompio:
        add_ompio_requests(call, file.ranks, ompio, step.requests);
        break;
    }
    visit(step);
  });
}

void for_each_step(const FilePieces& file, Strategy strategy, int aggregate_boxes, uint64_t stripe_bytes,
                   const std::function<void(const Step&)>& visit) {
  Way way;
  way.strategy = strategy;
  way.aggregate_boxes = aggregate_boxes;
  Buffering buffering;
  buffering.stripe_bytes = stripe_bytes;
  for_each_step(file, way, buffering, visit);
}

uint64_t total_count(const SizeCounts& counts) {
  uint64_t total = 0;
  for (const auto& [bytes, count] : counts) total += count;
  return total;
}

uint64_t total_bytes(const SizeCounts& counts) {
  uint64_t total = 0;
  for (const auto& [bytes, count] : counts) total += bytes * count;
  return total;
}

WriteCounts count_writes(const FilePieces& file, const Way& way, const Buffering& buffering) {
  WriteCounts counts;
  for_each_step(file, way, buffering, [&](const Step& step) {
    for (uint64_t bytes : step.mpi_bytes) ++counts.mpi[bytes];
    for (const Request& request : step.requests) {
      ++counts.posix[request.bytes];
      counts.read_bytes += request.read_bytes;
    }
  });
  return counts;
}

WriteCounts count_writes(const FilePieces& file, Strategy strategy, int aggregate_boxes,
                         uint64_t stripe_bytes) {
  Way way;
  way.strategy = strategy;
  way.aggregate_boxes = aggregate_boxes;
  Buffering buffering;
  buffering.stripe_bytes = stripe_bytes;
  return count_writes(file, way, buffering);
}

WriteCounts count_direct_writes(const FilePieces& file) {
  constexpr uint64_t buffer_bytes = uint64_t{4} << 20;
  WriteCounts counts;
  const auto write = [&](uint64_t& held) {
    if (held > 0) ++counts.posix[held];
    held = 0;
  };
  std::vector<std::vector<CallPiece>> by_rank(static_cast<size_t>(file.ranks));
  for_each_call(file, Strategy::skeleton, 0, [&](const Call& call) {
    for (const CallPiece& piece : call.pieces) by_rank[static_cast<size_t>(piece.rank)].push_back(piece);
  });
  for (const std::vector<CallPiece>& own : by_rank) {
    uint64_t end = 0, region = 0, held = 0;
    for (const CallPiece& piece : own) {
      if (piece.begin != end || held + piece.bytes > buffer_bytes) write(held);
      if (piece.begin != end && region > 0) {
        ++counts.mpi[region];
        region = 0;
      }
      held += piece.bytes;
      region += piece.bytes;
      end = piece.begin + piece.bytes;
      if (held >= buffer_bytes) write(held);
    }
    write(held);
    if (region > 0) ++counts.mpi[region];
  }
  return counts;
}

}  // namespace neve::io_model
