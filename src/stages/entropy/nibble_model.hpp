// SPDX-License-Identifier: BSD-3-Clause
// An adaptive distribution over 16 symbols, as cumulative bounds that all move together: plain loops of
// fixed length, which compilers turn into a few vector instructions. The idea is Fabian Giesen's ("Models for
// adaptive arithmetic coding", 2015).
#pragma once

#include <array>
#include <cstdint>

namespace neve {

inline constexpr int nibble_symbols = 16;
inline constexpr int probability_bits = 15;

// bound[i]: probability of all symbols below i, in 2^-31. Only the upper 15 bits count for coding; the lower
// ones let the model move in small steps.
struct NibbleModel {
  static constexpr int fraction_bits = 16;
  static constexpr int32_t least_frequency = 2;  // in 2^-15, of any symbol in the long run

  std::array<int32_t, nibble_symbols> bound{};
  uint32_t seen = 0;

  uint32_t begin(int symbol) const {
    return static_cast<uint32_t>(bound[static_cast<size_t>(symbol)]) >> fraction_bits;
  }
  uint32_t end(int symbol) const {
    return symbol + 1 == nibble_symbols ? uint32_t{1} << probability_bits : begin(symbol + 1);
  }
  // The symbol whose share of [0, 2^15) holds `slot`.
  int find(uint32_t slot) const {
    const auto reach = static_cast<int32_t>((slot << fraction_bits) | ((1U << fraction_bits) - 1));
    int at_or_below = 0;
    for (int i = 0; i < nibble_symbols; ++i) at_or_below += bound[static_cast<size_t>(i)] <= reach ? 1 : 0;
    return at_or_below - 1;
  }
  // Moves towards `symbol`: fast while little has been seen.
  void update(int symbol) {
    const int rate = seen < 16 ? 4 : seen < 48 ? 5 : seen < 512 ? 6 : 7;
    ++seen;
    const std::array<int32_t, nibble_symbols>& target = targets()[static_cast<size_t>(symbol)];
    for (size_t i = 0; i < nibble_symbols; ++i) bound[i] += (target[i] - bound[i]) >> rate;
  }

 private:
  using Targets = std::array<std::array<int32_t, nibble_symbols>, nibble_symbols>;
  static const Targets& targets() {
    static constexpr Targets table = [] {
      Targets t{};
      for (int symbol = 0; symbol < nibble_symbols; ++symbol) {
        for (int i = 0; i < nibble_symbols; ++i) {
          const int32_t frequency = i <= symbol
                                        ? least_frequency * i
                                        : (1 << probability_bits) - least_frequency * (nibble_symbols - i);
          t[static_cast<size_t>(symbol)][static_cast<size_t>(i)] = frequency << fraction_bits;
        }
      }
      return t;
    }();
    return table;
  }
};

}  // namespace neve
