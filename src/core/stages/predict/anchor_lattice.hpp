// SPDX-License-Identifier: BSD-3-Clause
// The coarsest cells of codec axis_passes, predicted as dual_quant predicts all: Lorenzo in all directions,
// on quantization codes, modulo 2^32.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/sections/tiling.hpp"

namespace neve {

class AnchorLattice {
 public:
  // `before`: the quantization code of the first anchor of the rectangle before, which predicts this one's.
  AnchorLattice(const Extents& size, int32_t before) : size_(size), base_(static_cast<uint32_t>(before)) {
    relative_.resize(static_cast<size_t>(size[0] * size[1] * size[2] * size[3]));
  }

  // code(number of the anchor, what is predicted) -> its quantization code; x fastest, then y, z, w.
  template <class Code>
  void visit(const Code& code) {
    size_t i = 0;
    Extents at{};
    for (at[3] = 0; at[3] < size_[3]; ++at[3]) {
      for (at[2] = 0; at[2] < size_[2]; ++at[2]) {
        for (at[1] = 0; at[1] < size_[1]; ++at[1]) {
          for (at[0] = 0; at[0] < size_[0]; ++at[0], ++i) {
            const auto predicted = static_cast<int32_t>(base_ + lorenzo(i, at));
            const auto found = static_cast<uint32_t>(code(i, predicted));
            if (i == 0) base_ = found;
            relative_[i] = found - base_;
          }
        }
      }
    }
  }
  int32_t first() const { return static_cast<int32_t>(base_); }

 private:
  // The signed sum over the corners behind the cell; those outside are as the first anchor.
  uint32_t lorenzo(size_t i, const Extents& at) const {
    uint32_t sum = 0;
    for (unsigned corner = 1; corner < 1U << max_frame_dims; ++corner) {
      size_t back = 0;
      size_t stride = 1;
      bool is_inside = true;
      bool is_odd = false;
      for (size_t d = 0; d < max_frame_dims; ++d) {
        if (((corner >> d) & 1) != 0) {
          is_inside = is_inside && at[d] > 0;
          is_odd = !is_odd;
          back += stride;
        }
        stride *= static_cast<size_t>(size_[d]);
      }
      if (is_inside) sum = is_odd ? sum + relative_[i - back] : sum - relative_[i - back];
    }
    return sum;
  }

  Extents size_;
  uint32_t base_;
  std::vector<uint32_t> relative_;  // to the first anchor's
};

}  // namespace neve
