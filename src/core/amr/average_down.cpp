// SPDX-License-Identifier: BSD-3-Clause
#include "core/amr/average_down.hpp"

#include <cstdint>
#include <cstring>

#include "core/amr/rect_box.hpp"

namespace neve::amr {
namespace {

// Sides known when compiling: the loops below unroll.
template <int32_t x, int32_t y, int32_t z>
struct FixedRatio {
  static constexpr IntVect side() { return {x, y, z}; }
};
struct AnyRatio {
  IntVect ratio;
  const IntVect& side() const { return ratio; }
};

// The sum of a coarse cell's values, x fastest. Starts from the first value, not from 0: 0 + -0 would lose
// the sign of a block of -0.
template <class T, class Ratio>
double sum_cell(const T* first, const Ratio& ratio, int64_t row, int64_t plane) {
  auto sum = static_cast<double>(first[0]);
  for (int32_t i = 1; i < ratio.side()[0]; ++i) sum += static_cast<double>(first[i]);
  for (int32_t k = 0; k < ratio.side()[2]; ++k) {
    for (int32_t j = k == 0 ? 1 : 0; j < ratio.side()[1]; ++j) {
      const T* cells = first + k * plane + j * row;
      for (int32_t i = 0; i < ratio.side()[0]; ++i) sum += static_cast<double>(cells[i]);
    }
  }
  return sum;
}

template <class T, class Ratio>
void average_cells(const Box& region, const Ratio& ratio, const T* fine, const Box& fine_box, T* out,
                   const Box& out_box) {
  const IntVect side = ratio.side();
  const int64_t row = fine_box.size(0);
  const int64_t plane = row * fine_box.size(1);
  const double count = static_cast<double>(int64_t{side[0]} * side[1] * side[2]);
  const int64_t width = region.size(0);
  for (int32_t z = region.lo[2]; z <= region.hi[2]; ++z) {
    for (int32_t y = region.lo[1]; y <= region.hi[1]; ++y) {
      const T* first = fine + cell_number(fine_box, int64_t{region.lo[0]} * side[0], int64_t{y} * side[1],
                                          int64_t{z} * side[2]);
      T* target = out + cell_number(out_box, region.lo[0], y, z);
      for (int64_t x = 0; x < width; ++x) {
        target[x] = static_cast<T>(sum_cell(first + x * side[0], ratio, row, plane) / count);
      }
    }
  }
}

template <class T>
void average_typed(const Box& region, const IntVect& ratio, const T* fine, const Box& fine_box, T* out,
                   const Box& out_box) {
  const auto average = [&](const auto& sides) { average_cells(region, sides, fine, fine_box, out, out_box); };
  if (ratio == IntVect{2, 2, 2}) return average(FixedRatio<2, 2, 2>{});
  if (ratio == IntVect{2, 2, 1}) return average(FixedRatio<2, 2, 1>{});
  if (ratio == IntVect{4, 4, 4}) return average(FixedRatio<4, 4, 4>{});
  average(AnyRatio{ratio});
}

}  // namespace

void average_down(DType dtype, const Box& region, const IntVect& ratio, const std::byte* fine,
                  const Box& fine_box, std::byte* out, const Box& out_box) {
  if (region.empty()) return;
  if (dtype == DType::f32) {
    average_typed(region, ratio, reinterpret_cast<const float*>(fine), fine_box,
                  reinterpret_cast<float*>(out), out_box);
  } else {
    average_typed(region, ratio, reinterpret_cast<const double*>(fine), fine_box,
                  reinterpret_cast<double*>(out), out_box);
  }
}

}  // namespace neve::amr
