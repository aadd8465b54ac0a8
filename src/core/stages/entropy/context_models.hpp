// SPDX-License-Identifier: BSD-3-Clause
// Distributions of residual quantization codes, one for each neighbourhood: how large the quantization codes
// around a cell are, what signs the two nearest have, and between how many directions the cell is
// interpolated.
#pragma once

#include <array>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "core/bits/zigzag.hpp"
#include "core/stages/entropy/nibble_model.hpp"

namespace neve {

// Classes of the mean magnitude around a cell, in eighths: one each below 8, then two per octave.
inline constexpr int activity_classes = 24;
inline constexpr uint32_t activity_limit = 2048;
inline constexpr int sign_contexts = 9;

inline constexpr std::array<uint8_t, activity_limit> activity_table = [] {
  std::array<uint8_t, activity_limit> table{};
  for (uint32_t eighths = 0; eighths < activity_limit; ++eighths) {
    uint32_t of = eighths;
    if (eighths >= 8) {
      uint32_t log = 3;
      while (eighths >> (log + 1) != 0) ++log;
      of = 8 + (log - 3) * 2 + ((eighths >> (log - 1)) & 1);
    }
    table[eighths] = static_cast<uint8_t>(of < activity_classes ? of : activity_classes - 1);
  }
  return table;
}();

// Low bits that are stored raw at an activity, so that a symbol's magnitudes stay small.
constexpr int raw_bits(int activity) { return activity < 12 ? 0 : (activity - 10) / 2; }

// A quantization code as a symbol: zigzag of its rounded upper part; the last one says that more follows.
inline constexpr uint32_t escape_symbol = nibble_symbols - 1;

class ContextModels {
 public:
  ContextModels() {
    models_.resize(static_cast<size_t>(3 * activity_classes * sign_contexts));
    for (size_t m = 0; m < models_.size(); ++m) {
      models_[m] = prior(static_cast<int>(m / sign_contexts % activity_classes));
    }
  }
  // The models of rows interpolated between `directions` directions, to be indexed with context().
  NibbleModel* of_directions(int directions) {
    return models_.data() + (directions - 1) * activity_classes * sign_contexts;
  }
  static size_t context(int activity, int sign_before, int sign_above) {
    return static_cast<size_t>(activity * sign_contexts + (sign_before + 1) * 3 + sign_above + 1);
  }

 private:
  // What a model expects before it has seen anything: a two-sided geometric distribution, whose ratio (in
  // 1/256) grows with the activity.
  static NibbleModel prior(int activity) {
    constexpr std::array<uint64_t, 14> ratio = {5, 21, 36, 51, 64, 77, 89, 99, 123, 154, 173, 197, 173, 197};
    const uint64_t r = ratio[static_cast<size_t>(activity < 14 ? activity : 12 + activity % 2)];
    std::array<uint64_t, nibble_symbols> weight{};
    uint64_t power = uint64_t{1} << 20;
    uint64_t total = 0;
    for (size_t s = 0; s < nibble_symbols; ++s) {
      if (s % 2 == 1) power = power * r / 256;
      weight[s] = s + 1 < nibble_symbols ? power : 2 * power * 256 / (256 - r);
      total += weight[s];
    }
    constexpr uint64_t reserved = uint64_t{NibbleModel::min_frequency} * nibble_symbols;
    constexpr uint64_t shared_out = (uint64_t{1} << probability_bits) - reserved;
    NibbleModel model;
    uint64_t below = 0;
    for (size_t s = 0; s < nibble_symbols; ++s) {
      const uint64_t frequency = below * shared_out / total + s * NibbleModel::min_frequency;
      model.set_bound(static_cast<int>(s), static_cast<int32_t>(frequency << NibbleModel::fraction_bits));
      below += weight[s];
    }
    return model;
  }

  std::vector<NibbleModel> models_;
};

}  // namespace neve
