// SPDX-License-Identifier: BSD-3-Clause
// What a call that was to take a given number of bits a value leaves to the next one like it.
#pragma once

#include "core/codecs/array_part.hpp"

namespace neve::mpi {

// A bound, 0 for lossless, and the bits a value that samples need under it.
struct RatePoint {
  double bound = 0;
  double bits = 0;
};

struct RateChoice {
  static constexpr double usual_slope = -0.25;

  RatePoint point;
  double slope = usual_slope;  // log2 of bits over log2 of the bound, below 0
  // No other bound comes nearer: nothing has to be lost, or nothing gets there.
  bool is_settled = false;
};

struct RateHistory {
  RateChoice choice;
  double sent_to_sampled = 1;  // bits that everything took over those of the samples
  ValueRange range;            // of the values
};

}  // namespace neve::mpi
