// SPDX-License-Identifier: BSD-3-Clause
// A coarser level whose values follow from their places, so that any nested frame can be decoded.
#pragma once

#include <cstring>
#include <limits>

#include "neve/frame.hpp"

namespace neve::fuzz {

template <class T>
class PositionLevel : public CoarserLevel {
 public:
  // Not held, or no number, in some places: what a level with holes and special values answers.
  Status read(int component, const Rect& cells, std::byte* values, uint8_t* held) const override {
    int64_t number = 0;
    for (int64_t w = 0; w < cells.size[3]; ++w) {
      for (int64_t z = 0; z < cells.size[2]; ++z) {
        for (int64_t y = 0; y < cells.size[1]; ++y) {
          for (int64_t x = 0; x < cells.size[0]; ++x, ++number) {
            const int64_t at =
                (cells.lo[0] + x) + 3 * (cells.lo[1] + y) + 7 * (cells.lo[2] + z) + 11 * (cells.lo[3] + w);
            const auto place = static_cast<uint64_t>(at);
            held[number] = place % 29 == 0 ? 0 : 1;
            const T value = place % 31 == 0 ? std::numeric_limits<T>::quiet_NaN()
                                            : static_cast<T>(component + 1) * static_cast<T>(at % 97) / 16;
            std::memcpy(values + number * static_cast<int64_t>(sizeof(T)), &value, sizeof(T));
          }
        }
      }
    }
    return {};
  }
};

}  // namespace neve::fuzz
