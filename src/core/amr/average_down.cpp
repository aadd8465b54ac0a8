// SPDX-License-Identifier: BSD-3-Clause
#include "core/amr/average_down.hpp"

#include <cstdint>
#include <cstring>

#include "core/amr/rect_box.hpp"

namespace neve::amr {
namespace {

template <class T>
void average_cells(const Box& region, const IntVect& ratio, const T* fine, const Box& fine_box, T* out,
                   const Box& out_box) {
  const int64_t row = fine_box.size(0);
  const int64_t plane = row * fine_box.size(1);
  const double count = static_cast<double>(int64_t{ratio[0]} * ratio[1] * ratio[2]);
  for (int32_t z = region.lo[2]; z <= region.hi[2]; ++z) {
    for (int32_t y = region.lo[1]; y <= region.hi[1]; ++y) {
      const T* first = fine + cell_number(fine_box, int64_t{region.lo[0]} * ratio[0], int64_t{y} * ratio[1],
                                          int64_t{z} * ratio[2]);
      T* target = out + cell_number(out_box, region.lo[0], y, z);
      for (int64_t x = 0; x < region.size(0); ++x, first += ratio[0]) {
        // Starts from the first value, not from 0: 0 + -0 would lose the sign of a block of -0.
        double sum = 0;
        bool is_first = true;
        for (int32_t k = 0; k < ratio[2]; ++k) {
          for (int32_t j = 0; j < ratio[1]; ++j) {
            const T* cells = first + k * plane + j * row;
            for (int32_t i = 0; i < ratio[0]; ++i) {
              const double value = static_cast<double>(cells[i]);
              sum = is_first ? value : sum + value;
              is_first = false;
            }
          }
        }
        target[x] = static_cast<T>(sum / count);
      }
    }
  }
}

}  // namespace

void average_down(DType dtype, const Box& region, const IntVect& ratio, const std::byte* fine,
                  const Box& fine_box, std::byte* out, const Box& out_box) {
  if (region.empty()) return;
  if (dtype == DType::f32) {
    average_cells(region, ratio, reinterpret_cast<const float*>(fine), fine_box,
                  reinterpret_cast<float*>(out), out_box);
  } else {
    average_cells(region, ratio, reinterpret_cast<const double*>(fine), fine_box,
                  reinterpret_cast<double*>(out), out_box);
  }
}

}  // namespace neve::amr
