// SPDX-License-Identifier: BSD-3-Clause
#include "core/io_model/romio_writes.hpp"

#include <algorithm>

namespace neve::io_model {
namespace {

struct Extent {
  uint64_t begin = 0, end = 0;  // a rank without data begins at 0
};

std::vector<Extent> extents_of(const Call& call, int ranks) {
  std::vector<Extent> extents(static_cast<size_t>(ranks));
  for (const CallPiece& piece : call.pieces) {
    Extent& own = extents[static_cast<size_t>(piece.rank)];
    if (own.end == 0) own.begin = piece.begin;
    own.end = piece.begin + piece.bytes;
  }
  return extents;
}

// ROMIO buffers where some rank begins before the rank in front of it has ended.
bool interleave(const std::vector<Extent>& extents) {
  for (size_t rank = 1; rank < extents.size(); ++rank) {
    const Extent& own = extents[rank];
    if (own.end > 0 && own.begin + 1 < extents[rank - 1].end) return true;
  }
  return false;
}

// Windows of a buffer that read what they do not write.
void add_sieved(const std::vector<Range>& ranges, int rank, uint64_t buffer_bytes,
                std::vector<Request>& requests) {
  const uint64_t end = ranges.back().end;
  uint64_t window_end = 0;
  for (const Range& range : ranges) {
    for (uint64_t at = std::max(range.begin, window_end); at < range.end; at = window_end) {
      window_end = std::min(end, at + buffer_bytes);
      requests.push_back({at, window_end - at, rank, window_end - at});
    }
  }
}

void add_alone(const Call& call, int ranks, const RomioHints& hints, std::vector<Request>& requests) {
  if (!hints.is_packed) {  // a request for each run of memory
    for (const CallPiece& piece : call.pieces) requests.push_back({piece.begin, piece.bytes, piece.rank});
    return;
  }
  const std::vector<std::vector<Range>> by_rank = ranges_by_rank(call.pieces, ranks);
  for (size_t rank = 0; rank < by_rank.size(); ++rank) {
    if (hints.sieves && by_rank[rank].size() > 1) {
      add_sieved(by_rank[rank], static_cast<int>(rank), hints.sieve_bytes, requests);
      continue;
    }
    for (const Range& range : by_rank[rank]) {
      requests.push_back({range.begin, range.bytes(), static_cast<int>(rank)});
    }
  }
}

// What an aggregator writes of its part of the file: windows from its first byte to its last, whole ones
// unless nothing lies in them, read first where something lacks.
void add_windows(std::span<const Range> parts, uint64_t buffer_bytes, std::vector<Request>& requests) {
  const uint64_t end = parts.back().end;
  size_t part = 0;
  for (uint64_t at = parts.front().begin; at < end; at += buffer_bytes) {
    const uint64_t window_end = std::min(end, at + buffer_bytes);
    while (parts[part].end <= at) ++part;
    uint64_t covered = 0;
    for (size_t i = part; i < parts.size() && parts[i].begin < window_end; ++i) {
      covered += std::min(parts[i].end, window_end) - std::max(parts[i].begin, at);
    }
    const uint64_t bytes = window_end - at;
    if (covered > 0) requests.push_back({at, bytes, -1, covered < bytes ? bytes : 0});
  }
}

void add_buffered(const Call& call, const std::vector<Extent>& extents, const RomioHints& hints,
                  std::vector<Request>& requests) {
  const std::vector<Range> ranges = joined_ranges(call.pieces);
  uint64_t begin = ranges.front().begin;
  for (const Extent& extent : extents) begin = std::min(begin, extent.begin);
  const uint64_t bytes = ranges.back().end - begin;
  const auto aggregators = static_cast<uint64_t>(hints.aggregators);
  const uint64_t domain_bytes = (bytes + aggregators - 1) / aggregators;
  size_t range = 0;
  std::vector<Range> parts;
  for (uint64_t domain = begin; domain < ranges.back().end; domain += domain_bytes) {
    const uint64_t domain_end = domain + domain_bytes;
    while (ranges[range].end <= domain) ++range;
    parts.clear();
    for (size_t i = range; i < ranges.size() && ranges[i].begin < domain_end; ++i) {
      parts.push_back({std::max(ranges[i].begin, domain), std::min(ranges[i].end, domain_end), 0});
    }
    if (!parts.empty()) add_windows(parts, hints.buffer_bytes, requests);
  }
}

}  // namespace

void add_romio_requests(const Call& call, int ranks, const RomioHints& hints,
                        std::vector<Request>& requests) {
  if (call.pieces.empty()) return;
  if (!call.is_collective) {
    for (const CallPiece& piece : call.pieces) requests.push_back({piece.begin, piece.bytes, piece.rank});
    return;
  }
  const std::vector<Extent> extents = extents_of(call, ranks);
  const bool is_buffered = hints.buffering == RomioHints::Buffering::enable ||
                           (hints.buffering == RomioHints::Buffering::automatic && interleave(extents));
  if (is_buffered) {
    add_buffered(call, extents, hints, requests);
  } else {
    add_alone(call, ranks, hints, requests);
  }
}

}  // namespace neve::io_model
