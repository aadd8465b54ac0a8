// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/io_model/mpi_calls.hpp"

namespace neve::io_model {

// A request to the file system. `writer`: the rank it comes from, where no aggregator writes for others; else
// -1. `read_bytes`: of it that are read before, because other bytes than those to be written lie between
// them, and written back.
struct Request {
  uint64_t begin = 0, bytes = 0;
  int writer = -1;
  uint64_t read_bytes = 0;
};

// Bytes that lie together in the file.
struct Range {
  uint64_t begin = 0, end = 0;
  uint64_t pieces = 0;  // of which they consist
  uint64_t bytes() const { return end - begin; }
};

// What a call takes, joined where pieces adjoin, whoever holds them.
inline std::vector<Range> joined_ranges(std::span<const CallPiece> pieces) {
  std::vector<Range> ranges;
  for (const CallPiece& piece : pieces) {
    if (ranges.empty() || ranges.back().end != piece.begin) {
      ranges.push_back({piece.begin, piece.begin, 0});
    }
    ranges.back().end += piece.bytes;
    ++ranges.back().pieces;
  }
  return ranges;
}

// The same of each rank.
inline std::vector<std::vector<Range>> ranges_by_rank(std::span<const CallPiece> pieces, int ranks) {
  std::vector<std::vector<Range>> ranges(static_cast<size_t>(ranks));
  for (const CallPiece& piece : pieces) {
    std::vector<Range>& own = ranges[static_cast<size_t>(piece.rank)];
    if (own.empty() || own.back().end != piece.begin) own.push_back({piece.begin, piece.begin, 0});
    own.back().end += piece.bytes;
    ++own.back().pieces;
  }
  return ranges;
}

}  // namespace neve::io_model
