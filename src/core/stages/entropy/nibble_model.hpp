// SPDX-License-Identifier: BSD-3-Clause
// An adaptive distribution over 16 symbols, as cumulative bounds that all move together, four to a vector
// (the vector extension of GCC and Clang: instructions where there are any, else plain ones). The idea is
// Fabian Giesen's ("Models for adaptive arithmetic coding", 2015).
#pragma once

#include <array>
#include <cstdint>

namespace neve {

inline constexpr int nibble_symbols = 16;
inline constexpr int probability_bits = 15;

// The bound of symbol i: probability of all symbols below it, in 2^-31. Only the upper 15 bits count for
// coding; the lower ones let the model move in small steps.
class NibbleModel {
 public:
  static constexpr int fraction_bits = 16;
  static constexpr int32_t min_frequency = 2;  // in 2^-15, of any symbol in the long run

  void set_bound(int symbol, int32_t bound) { bounds_[symbol / lanes][symbol % lanes] = bound; }

  uint32_t begin(int symbol) const {
    return static_cast<uint32_t>(bounds_[symbol / lanes][symbol % lanes]) >> fraction_bits;
  }
  uint32_t end(int symbol) const {
    return symbol + 1 == nibble_symbols ? uint32_t{1} << probability_bits : begin(symbol + 1);
  }
  // The symbol whose share of [0, 2^15) holds `slot`.
  int find(uint32_t slot) const {
    const auto reach = static_cast<int32_t>((slot << fraction_bits) | ((1U << fraction_bits) - 1));
    // A true comparison is -1.
    const Lanes at_or_below =
        ((bounds_[0] <= reach) + (bounds_[1] <= reach)) + ((bounds_[2] <= reach) + (bounds_[3] <= reach));
    return -(at_or_below[0] + at_or_below[1] + at_or_below[2] + at_or_below[3]) - 1;
  }
  // Moves towards `symbol`: fast while little has been seen.
  void update(int symbol) {
    const int rate = seen_ < 16 ? 4 : seen_ < 48 ? 5 : seen_ < 512 ? 6 : 7;
    ++seen_;
    const Target& target = targets[static_cast<size_t>(symbol)];
    for (int v = 0; v < vectors; ++v) bounds_[v] += (target.bounds[v] - bounds_[v]) >> rate;
  }

 private:
  static constexpr int lanes = 4;
  static constexpr int vectors = nibble_symbols / lanes;
  using Lanes __attribute__((vector_size(lanes * sizeof(int32_t)))) = int32_t;
  struct Target {
    Lanes bounds[vectors];
  };
  static const std::array<Target, nibble_symbols> targets;

  Lanes bounds_[vectors]{};
  uint32_t seen_ = 0;
};

inline const std::array<NibbleModel::Target, nibble_symbols> NibbleModel::targets = [] {
  std::array<Target, nibble_symbols> table{};
  for (int symbol = 0; symbol < nibble_symbols; ++symbol) {
    for (int i = 0; i < nibble_symbols; ++i) {
      const int32_t frequency =
          i <= symbol ? min_frequency * i : (1 << probability_bits) - min_frequency * (nibble_symbols - i);
      table[static_cast<size_t>(symbol)].bounds[i / lanes][i % lanes] = frequency << fraction_bits;
    }
  }
  return table;
}();

}  // namespace neve
