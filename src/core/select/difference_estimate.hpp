// SPDX-License-Identifier: BSD-3-Clause
// What differences of a section's values would take, along the axes that suit them, from samples.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/select/lossless_choice.hpp"
#include "core/select/lossless_samples.hpp"
#include "core/select/repeat_estimate.hpp"
#include "core/select/weighted_log.hpp"
#include "core/stages/predict/word_lorenzo.hpp"

namespace neve {

static_assert(max_samples <= max_counted);

// Bits that residual_classes would take for words of these lengths, told apart as its contexts do most of
// all: whether the word before is 0.
class LengthCounter {
 public:
  template <class U>
  void add(U word, bool follows_zero) {
    ++counts_[follows_zero ? 1 : 0][static_cast<size_t>(std::bit_width(fold_sign<U>(word)))];
    if (words_ == 0) first_ = word;
    is_constant_ = is_constant_ && word == first_;
    ++words_;
  }
  uint32_t words() const { return words_; }
  double bits_per_word() const {
    if (is_constant_) return 0;  // a ramp: repeats take care of it
    double bits = 0;
    for (const auto& counts : counts_) {
      uint32_t total = 0;
      for (uint32_t length = 0; length < counts.size(); ++length) {
        if (counts[length] == 0) continue;
        total += counts[length];
        bits += counts[length] * std::max(0.0, length - 1.0) - weighted_log(counts[length]);
      }
      bits += weighted_log(total);
    }
    return words_ > 0 ? bits / words_ : 0;
  }

 private:
  std::array<std::array<uint32_t, 65>, 2> counts_{};
  uint32_t words_ = 0;
  uint64_t first_ = 0;
  bool is_constant_ = true;
};

inline constexpr uint32_t any_axes = ~uint32_t{0};  // bit a stands for the set of axes a

// Samples without any difference do not tell that there is none.
inline constexpr double min_bits_per_word = 0.02;

// After this share of the runs, sets that lie far behind the best one are not counted on.
inline constexpr size_t axes_pruned_after = 4;
inline constexpr double max_extra_axis_bits = 0.75;

// Counts differences along every set of axes that cells have neighbours along, or along those `among` alone.
template <class U>
class AxesCounter {
 public:
  AxesCounter(const std::vector<LosslessGrid>& grids, uint32_t among) : among_(among) {
    for (const LosslessGrid& grid : grids) {
      for (size_t d = 0; d < max_frame_dims; ++d) present_ |= grid.size[d] > 1 ? 1U << d : 0U;
    }
  }

  // `map` makes the word of a cell's bits.
  template <class T, class Map>
  void add(const LosslessCells<T>& cells, const Run& run, const Map& map) {
    usable_.fill(1);
    for (unsigned set = 0; set <= all_axes; ++set) {
      if (is_present(set)) read_corner(cells, run, set, map);
    }
    mix_differences();
    for (unsigned axes = 1; axes <= all_axes; ++axes) {
      if (!is_counted(axes)) continue;
      bool follows_zero = false;
      for (size_t i = 0; i < static_cast<size_t>(run.count); ++i) {
        if (usable_[i] == 0) continue;
        counters_[axes].add(words_[axes][i], follows_zero);
        follows_zero = words_[axes][i] == 0;
      }
    }
  }

  // Counts only the sets on that are not far behind.
  void prune() {
    std::array<double, all_axes + 1> bits{};
    double least = HUGE_VAL;
    for (unsigned axes = 1; axes <= all_axes; ++axes) {
      if (counters_[axes].words() == 0) continue;
      bits[axes] = counters_[axes].bits_per_word();
      least = std::min(least, bits[axes]);
    }
    for (unsigned axes = 1; axes <= all_axes; ++axes) {
      if (bits[axes] > least + max_extra_axis_bits) among_ &= ~(1U << axes);
    }
  }

  // The set with the least bytes for `coded` words; without a set, as of a single cell, they stay as they
  // are.
  LosslessCandidate best(double coded) const {
    LosslessCandidate best;
    best.bytes = HUGE_VAL;
    for (unsigned axes = 1; axes <= all_axes; ++axes) {
      if (!is_counted(axes)) continue;
      const double bytes = std::max(counters_[axes].bits_per_word(), min_bits_per_word) * coded / 8;
      if (bytes < best.bytes) {
        best.bytes = bytes;
        best.axes = axes;
      }
    }
    if (best.axes == 0) best = {LosslessMethod::lorenzo, axis_x, {}, coded * sizeof(U), 0};
    return best;
  }

 private:
  bool is_present(unsigned axes) const { return (axes & ~present_) == 0; }
  bool is_counted(unsigned axes) const { return is_present(axes) && ((among_ >> axes) & 1) != 0; }

  // The words one step back along each axis of a set: that corner of the cells' neighbourhoods.
  template <class T, class Map>
  void read_corner(const LosslessCells<T>& cells, const Run& run, unsigned set, const Map& map) {
    int64_t back = 0;
    bool inside = true;
    for (size_t d = 0; d < max_frame_dims; ++d) {
      if (((set >> d) & 1) == 0) continue;
      inside = inside && run.back[d] > 0;
      back += run.back[d];
    }
    words_[set].fill(0);
    if (!inside) return;  // words outside count as 0
    for (size_t i = 0; i < static_cast<size_t>(run.count); ++i) {
      const size_t cell = run.cell + i - static_cast<size_t>(back);
      if (cells.is_coded(cell)) {
        words_[set][i] = map(cells.bits[cell]);
      } else {
        usable_[i] = 0;
      }
    }
  }

  // From the corners to the mixed differences along every set, one axis after the other.
  void mix_differences() {
    for (unsigned axis = 1; axis <= all_axes; axis *= 2) {
      if (!is_present(axis)) continue;
      for (unsigned axes = axis; axes <= all_axes; ++axes) {
        if ((axes & axis) == 0 || !is_present(axes)) continue;
        for (size_t i = 0; i < run_cells; ++i) words_[axes][i] = words_[axes ^ axis][i] - words_[axes][i];
      }
    }
  }

  uint32_t among_;
  unsigned present_ = 0;  // axes along which any grid has more than one cell
  std::array<LengthCounter, all_axes + 1> counters_;
  // Of the run at hand, by set: first the words at a corner, then differences.
  std::array<std::array<U, run_cells>, all_axes + 1> words_;
  std::array<uint8_t, run_cells> usable_;  // 0: a corner is not coded
};

template <class T, class Map>
LosslessCandidate best_axes(const LosslessCells<T>& cells, const std::vector<Run>& runs, uint32_t among,
                            const Map& map) {
  AxesCounter<WordOf<T>> counter(cells.grids, among);
  const size_t counted_before_pruning = runs.size() / axes_pruned_after;
  for (size_t r = 0; r < runs.size(); ++r) {
    if (r == counted_before_pruning) counter.prune();
    counter.add(cells, runs[r], map);
  }
  return counter.best(static_cast<double>(cells.coded));
}

// Where samples show no difference at all, those that there are take fewer bits as multiples.
inline constexpr double multiple_of_calm_values = 0.98;

template <class T>
std::optional<LosslessCandidate> weigh_multiple(const LosslessCells<T>& cells, const std::vector<Run>& runs,
                                                uint32_t among, const std::vector<T>& first_values) {
  if (!find_unit<T>(first_values)) return {};
  const std::optional<ValueUnit> unit = find_unit<T>(sample_values(cells, value_samples));
  if (!unit) return {};
  const Multiples<T> multiples(*unit);
  LosslessCandidate candidate = best_axes(cells, runs, among, [&](WordOf<T> bits) {
    const auto multiple = multiples.multiple(std::bit_cast<T>(bits));
    return static_cast<WordOf<T>>(multiple.value_or(0));
  });
  candidate.method = LosslessMethod::multiple;
  candidate.unit = *unit;
  const double least = min_bits_per_word * static_cast<double>(cells.coded) / 8;
  if (candidate.bytes <= least) candidate.bytes *= multiple_of_calm_values;
  return candidate;
}

// By the ranks that cells have among the sampled words: those that were missed are rare.
template <class T>
LosslessCandidate weigh_rank(const LosslessCells<T>& cells, const std::vector<Run>& runs, uint32_t among,
                             const std::vector<WordOf<T>>& words) {
  LosslessCandidate candidate = best_axes(cells, runs, among, [&](WordOf<T> bits) {
    const auto at = std::lower_bound(words.begin(), words.end(), word_of<T>(bits));
    return static_cast<WordOf<T>>(at - words.begin());
  });
  candidate.method = LosslessMethod::rank;
  candidate.bytes += static_cast<double>(words.size() * sizeof(T));
  return candidate;
}

// Below this a search for repeats costs more than it finds.
inline constexpr double worthwhile_repeats = 0.02;

// What repeats save, of methods whose words are ordered ones.
template <class T>
void expect_repeats(const RepeatEstimate& repeated, const LosslessCells<T>& cells,
                    LosslessCandidate& candidate) {
  if (repeated.share < worthwhile_repeats) return;
  candidate.repeats = true;
  const double each = repeated.residual_bits * static_cast<double>(cells.coded) / 8;
  candidate.bytes += repeated.share * (std::min(each, candidate.bytes) - candidate.bytes);
}

}  // namespace neve
