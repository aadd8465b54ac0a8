// SPDX-License-Identifier: BSD-3-Clause
// The quantization codes of the rows that Lorenzo prediction of a rectangle looks back to: a ring of planes,
// so that memory follows the plane and not the rectangle.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/kernels/kernels.hpp"
#include "neve/frame.hpp"

namespace neve {

// Room for what vectors read and write beside a row, or none: for portable kernels alone.
enum class RowRoom { padded, packed };

class QuantCodePlanes {
 public:
  QuantCodePlanes(const Extents& size, uint8_t axes, RowRoom room = RowRoom::padded) : size_(size) {
    bool along_w = false;
    bool along_z = false;
    for (int d = 1; d < max_frame_dims; ++d) {
      // Where there is one row only, none lies before it.
      if (((axes >> d) & 1) == 0 || size[static_cast<size_t>(d)] == 1) continue;
      axes_[axis_total_++] = d;
      along_z = along_z || d == 2;
      along_w = along_w || d == 3;
    }
    const auto width = static_cast<size_t>(size[0]);
    lead_ = room == RowRoom::padded ? row_padding : 1;
    stride_ = room == RowRoom::padded
                  ? lead_ + (width + row_padding - 1) / row_padding * row_padding + row_padding
                  : lead_ + width;
    // With w differenced, the farthest neighbour (z-1, w-1) is a volume and one plane back.
    planes_ = along_w ? size[2] + 2 : 2;
    rows_only_ = !along_z && !along_w;
    zeros_.assign(stride_, 0);
    if (rows_only_)
      ring_rows_ = std::clamp<int64_t>(static_cast<int64_t>(ring_room / stride_), 2, size[1] + 1);
    quant_codes_.assign(static_cast<size_t>(rows_only_ ? ring_rows_ + 2 : planes_ * size[1]) * stride_, 0);
  }

  // Row (y, z, w); element -1 is 0. Valid until the ring comes round: one plane, or with w differenced a
  // volume.
  int32_t* row(int64_t y, int64_t z, int64_t w) {
    const int64_t number = w * size_[2] + z;
    const int64_t plane = planes_ == 2 ? number & 1 : number % planes_;
    // Within a plane only the row before is looked at: rows in turn stay in the first-level cache. First rows
    // have two places of their own, because before_row asks for that of the plane before.
    const int64_t slot = !rows_only_ ? plane * size_[1] + y : y > 0 ? y % ring_rows_ : ring_rows_ + plane;
    return quant_codes_.data() + static_cast<size_t>(slot) * stride_ + lead_;
  }

  // The rows before (y, z, w) in each subset of the differenced directions; zeros outside the rectangle.
  const NeighbourRows& neighbours(int64_t y, int64_t z, int64_t w) {
    // Row after row of a plane all but the first lie as the one before did.
    const bool goes_on = !rows_only_ && y >= 2 && y == at_[1] + 1 && z == at_[2] && w == at_[3];
    at_ = {0, y, z, w};
    if (goes_on) {
      for (int r = 0; r < around_.count; ++r) around_.rows[r] += steps_[r];
    } else {
      find_neighbours(y, z, w);
    }
    return around_;
  }

  // How many rows from (y, z, w) on, in its plane, lie stride() apart, as the rows before them in each subset
  // of the differenced directions lie strides() apart.
  int64_t rows_alike(int64_t y) const {
    if (y == 0) return 1;  // has no row before it
    if (!rows_only_) return size_[1] - y;
    const int64_t slot = y % ring_rows_;  // and its neighbour's is one less
    return y == 1 || slot == 0 ? 1 : std::min(size_[1] - y, ring_rows_ - slot);
  }
  ptrdiff_t stride() const { return static_cast<ptrdiff_t>(stride_); }
  const std::array<ptrdiff_t, 7>& strides() const { return steps_; }

  // What an excluded cell at the start of a row repeats: the first quantization code of the row before, in
  // the plane or of the plane before.
  int32_t before_row(int64_t y, int64_t z, int64_t w) {
    if (y > 0) return *row(y - 1, z, w);
    if (z > 0) return *row(0, z - 1, w);
    if (w > 0) return *row(0, size_[2] - 1, w - 1);
    return 0;
  }

 private:
  // In place: a copy would wait for what has just been written.
  void find_neighbours(int64_t y, int64_t z, int64_t w) {
    around_.count = 0;
    for (unsigned set = 1; set < 1U << axis_total_; ++set) {
      std::array<int64_t, max_frame_dims> at{0, y, z, w};
      bool inside = true;
      for (unsigned a = 0; a < axis_total_; ++a) {
        if (((set >> a) & 1) != 0) inside = --at[static_cast<size_t>(axes_[a])] >= 0 && inside;
      }
      steps_[around_.count] = inside ? static_cast<ptrdiff_t>(stride_) : 0;
      around_.rows[around_.count++] = inside ? row(at[1], at[2], at[3]) : zeros_.data() + lead_;
    }
  }

  Extents size_;
  Extents at_{0, -1, -1, -1};  // that neighbours() was asked for last, and what it found
  NeighbourRows around_{};
  std::array<ptrdiff_t, 7> steps_{};  // from a row's neighbours to the next row's
  std::array<int, 3> axes_{};
  unsigned axis_total_ = 0;
  size_t stride_ = 0;
  size_t lead_ = 0;  // elements ahead of a row; the last is 0
  int64_t planes_ = 2;
  static constexpr size_t ring_room = 4096;  // elements
  int64_t ring_rows_ = 0;
  bool rows_only_ = false;
  std::vector<int32_t> zeros_;
  std::vector<int32_t> quant_codes_;
};

}  // namespace neve
