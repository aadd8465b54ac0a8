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
    quant_codes_.assign(static_cast<size_t>(rows_only_ ? 4 : planes_ * size[1]) * stride_, 0);
  }

  // Row (y, z, w); element -1 is 0. Valid until the ring comes round: one plane, or with w differenced a
  // volume.
  int32_t* row(int64_t y, int64_t z, int64_t w) {
    const int64_t number = w * size_[2] + z;
    const int64_t plane = planes_ == 2 ? number & 1 : number % planes_;
    // Within a plane only the row before is looked at: two rows in turn stay in the first-level cache. First
    // rows have two places of their own, because before_row asks for that of the plane before.
    const int64_t slot = !rows_only_ ? plane * size_[1] + y : y > 0 ? y % 2 : 2 + plane;
    return quant_codes_.data() + static_cast<size_t>(slot) * stride_ + lead_;
  }

  // The rows before (y, z, w) in each subset of the differenced directions; zeros outside the rectangle.
  NeighbourRows neighbours(int64_t y, int64_t z, int64_t w) {
    NeighbourRows around{};
    for (unsigned set = 1; set < 1U << axis_total_; ++set) {
      std::array<int64_t, max_frame_dims> at{0, y, z, w};
      bool inside = true;
      for (unsigned a = 0; a < axis_total_; ++a) {
        if (((set >> a) & 1) != 0) inside = --at[static_cast<size_t>(axes_[a])] >= 0 && inside;
      }
      around.rows[around.count++] = inside ? row(at[1], at[2], at[3]) : zeros_.data() + lead_;
    }
    return around;
  }

  // What an excluded cell at the start of a row repeats: the first quantization code of the row before, in
  // the plane or of the plane before.
  int32_t before_row(int64_t y, int64_t z, int64_t w) {
    if (y > 0) return *row(y - 1, z, w);
    if (z > 0) return *row(0, z - 1, w);
    if (w > 0) return *row(0, size_[2] - 1, w - 1);
    return 0;
  }

 private:
  Extents size_;
  std::array<int, 3> axes_{};
  unsigned axis_total_ = 0;
  size_t stride_ = 0;
  size_t lead_ = 0;  // elements ahead of a row; the last is 0
  int64_t planes_ = 2;
  bool rows_only_ = false;
  std::vector<int32_t> zeros_;
  std::vector<int32_t> quant_codes_;
};

}  // namespace neve
