// SPDX-License-Identifier: BSD-3-Clause
// First-order Lorenzo prediction on reconstructed values, block by block (Ibarria et al., Eurographics 2003;
// Tao et al., IPDPS 2017), over a buffer that holds one layer of blocks and the layer of cells before it.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "neve/frame.hpp"

namespace neve {

inline constexpr int64_t max_block_row = 128;  // cells of a prediction block along a row

// Reconstructed values of a layer of prediction blocks, as f64, with one more cell at the lower end of each
// direction: what stands outside the array, or in the layer of blocks before.
class BlockLayer {
 public:
  // `size` in used directions, fastest first; `side` of the blocks along the slowest.
  void start(const Extents& size, int dims, int64_t side, double outside) {
    slowest_ = static_cast<size_t>(dims) - 1;
    side_ = std::min(side, size[slowest_]);
    ptrdiff_t stride = 1;
    for (size_t d = 0; d < max_frame_dims; ++d) {
      stride_[d] = stride;
      if (d <= slowest_) stride *= static_cast<ptrdiff_t>(d == slowest_ ? side_ : size[d]) + 1;
    }
    values_.assign(static_cast<size_t>(stride), outside);
  }
  // After a layer of blocks of the full side.
  void advance() {
    const auto layer = static_cast<size_t>(stride_[slowest_]);
    std::memcpy(values_.data(), values_.data() + static_cast<size_t>(side_) * layer, layer * sizeof(double));
  }
  // The first cell of the block at `at`.
  double* block(const Extents& at) {
    ptrdiff_t offset = 0;
    for (size_t d = 0; d <= slowest_; ++d) {
      offset += (static_cast<ptrdiff_t>(d == slowest_ ? 0 : at[d]) + 1) * stride_[d];
    }
    return values_.data() + offset;
  }
  const std::array<ptrdiff_t, max_frame_dims>& stride() const { return stride_; }

 private:
  size_t slowest_ = 0;
  int64_t side_ = 1;
  std::array<ptrdiff_t, max_frame_dims> stride_{1, 1, 1, 1};
  std::vector<double> values_;
};

// The part of the prediction of `at` that lies outside its row, by inclusion and exclusion; in this order.
template <int dims>
double lorenzo_outside_row(const double* at, const std::array<ptrdiff_t, max_frame_dims>& stride) {
  if constexpr (dims == 1) return 0;
  double sum = at[-stride[1]];
  if constexpr (dims >= 3) sum = (sum + at[-stride[2]]) - at[-stride[1] - stride[2]];
  if constexpr (dims >= 4) {
    sum = (sum + at[-stride[3]]) - at[-stride[1] - stride[3]];
    sum = (sum - at[-stride[2] - stride[3]]) + at[-stride[1] - stride[2] - stride[3]];
  }
  return sum;
}

// The prediction of row[x] is the value of row[x - 1] plus steps[x].
template <int dims>
void lorenzo_steps(const double* row, int64_t cells, const std::array<ptrdiff_t, max_frame_dims>& stride,
                   double* steps) {
  double sums[max_block_row + 1];
  for (int64_t x = -1; x < cells; ++x) sums[x + 1] = lorenzo_outside_row<dims>(row + x, stride);
  for (int64_t x = 0; x < cells; ++x) steps[x] = sums[x + 1] - sums[x];
}

}  // namespace neve
