// SPDX-License-Identifier: BSD-3-Clause
// The quantization codes that Lorenzo prediction of a stream looks back to: the line before, and with three
// dims a plane. It grows with the values that come, whatever sizes a header claims.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/kernels/kernels.hpp"

namespace neve::stream {

class History {
 public:
  // With 1 dim line and lines_per_plane count nothing; with 2 lines_per_plane.
  History(int dims, uint32_t line, uint32_t lines_per_plane)
      : dims_(dims), line_(line), lines_per_plane_(lines_per_plane) {
    slots_ = dims == 3 ? uint64_t{lines_per_plane} + 2 : 2;
    if (dims == 1) rows_.emplace_back(2 * row_padding + longest_segment);
  }

  static constexpr uint64_t longest_segment = 4096;

  // Values that follow one another in a line.
  struct Segment {
    int32_t* quant_codes;  // where theirs go; quant_codes[-1] is the quantization code before, 0 at
                           // the start of a line
    NeighbourRows around;
    size_t count;
  };

  // The next values, at most n > 0 and longest_segment. advance() follows when their quantization codes are
  // there.
  Segment next(uint64_t n) {
    size_t count = static_cast<size_t>(std::min(n, longest_segment));
    if (dims_ == 1) return {rows_[0].data() + row_padding, {{}, 0}, count};
    count = static_cast<size_t>(std::min<uint64_t>(count, line_ - column_));
    int32_t* const row = grown_row(column_ + count);
    return {row + column_, neighbours(), count};
  }

  void advance(const Segment& segment) {
    if (dims_ == 1) {
      segment.quant_codes[-1] = segment.quant_codes[segment.count - 1];
      return;
    }
    column_ += segment.count;
    if (column_ == line_) {
      column_ = 0;
      ++row_;
    }
  }

  // What came before counts as 0 from here on; the place in line and plane stays.
  void restart() {
    if (dims_ == 1) {
      rows_[0][row_padding - 1] = 0;
      return;
    }
    if (column_ > 0) std::fill_n(grown_row(column_), column_, 0);
    first_row_ = row_;
  }

  struct Place {
    uint64_t row = 0;
    uint64_t column = 0;
  };
  Place place() const { return {row_, column_}; }
  // Back there; restart() has to follow, since what lay before may be overwritten.
  void rewind(const Place& place) {
    row_ = place.row;
    column_ = place.column;
  }

  // The start of another stream of the same dims.
  void reset() {
    rewind({});
    restart();
  }

 private:
  std::vector<int32_t>& slot(uint64_t row) { return rows_[static_cast<size_t>(row % slots_)]; }

  int32_t* grown_row(uint64_t columns) {
    const uint64_t at = row_ % slots_;
    if (at >= rows_.size()) rows_.emplace_back();
    std::vector<int32_t>& row = rows_[static_cast<size_t>(at)];
    const uint64_t needed = columns + 2 * row_padding;
    if (row.size() < needed) {
      row.resize(static_cast<size_t>(
          std::min<uint64_t>(line_ + 2 * row_padding, std::max<uint64_t>(needed, 2 * row.size()))));
    }
    return row.data() + row_padding;
  }

  const int32_t* complete_row(uint64_t row) { return slot(row).data() + row_padding + column_; }

  // Rows that lie before a restart, or outside the plane, count as 0.
  NeighbourRows neighbours() {
    NeighbourRows around{};
    const bool has_line = row_ > first_row_ && (dims_ == 2 || row_ % lines_per_plane_ != 0);
    const bool has_plane = dims_ == 3 && row_ >= first_row_ + lines_per_plane_;
    if (has_line) around.rows[around.count++] = complete_row(row_ - 1);
    if (has_plane) around.rows[around.count++] = complete_row(row_ - lines_per_plane_);
    if (has_line && has_plane) {
      const bool has_both = row_ > first_row_ + lines_per_plane_;
      around.rows[around.count++] = has_both ? complete_row(row_ - lines_per_plane_ - 1) : zero_row();
    }
    return around;
  }
  const int32_t* zero_row() {
    zeros_.resize(line_ + 2 * row_padding, 0);
    return zeros_.data() + row_padding + column_;
  }

  int dims_;
  uint32_t line_;
  uint32_t lines_per_plane_;
  uint64_t slots_;
  uint64_t row_ = 0;        // of the next value
  uint64_t column_ = 0;     // its place there
  uint64_t first_row_ = 0;  // the first that prediction may look at
  std::vector<std::vector<int32_t>> rows_;
  std::vector<int32_t> zeros_;
};

}  // namespace neve::stream
