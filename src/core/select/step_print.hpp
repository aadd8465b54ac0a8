// SPDX-License-Identifier: BSD-3-Clause
// A print of a step's values: a few numbers, quickly had from a small sample, that change where another
// lossless method may become the best.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/bits/ordered_words.hpp"

namespace neve {

// Values that follow one another, a block after the other, and of the first of each block the neighbours
// along the two next axes.
inline constexpr size_t print_block = 256, print_neighbours = 48, scattered_run = 16;
template <class T>
struct PrintSample {
  std::vector<T> values;
  // As many for each block; where there is no such axis, none at all.
  std::array<std::vector<T>, 2> beside;
  // Short runs from all over the step, one value in so many: what repeats far away is in them twice.
  std::vector<T> scattered;
  std::vector<uint64_t> scattered_at;  // where each run begins in the step
  size_t scattered_between = 1;
};

inline constexpr size_t print_features = 9;
struct StepPrint {
  std::array<double, print_features> bits{};  // each about bits of a value
  uint64_t repeat_distance = 0;               // in values; the least seen of what repeats far away

  // From 0 to 1: what repeats over distances that parts of the step do not have.
  double far_repeats() const;
  // The most that any differs by, as a share of what is tolerated: above 1 the values are no longer alike.
  // That less repeats far away is no difference: samples miss some, and what is kept for them drifts where
  // they end.
  double distance(const StepPrint& before) const;
  // What one of values that are alike showed of them.
  void remember_repeats(const StepPrint& before);
};

template <class T>
StepPrint print_of(const PrintSample<T>& sample);

}  // namespace neve
