// SPDX-License-Identifier: BSD-3-Clause
// Which lossless methods a section's values suit, from samples.
#pragma once

#include <cstdint>
#include <vector>

#include "core/sections/lossless_cells.hpp"
#include "core/stages/lossless/value_multiples.hpp"
#include "neve/selection_report.hpp"
#include "neve/types.hpp"

namespace neve {

struct LosslessCandidate {
  LosslessMethod method = LosslessMethod::lorenzo;
  unsigned axes = 0;     // of the methods that take differences
  ValueUnit unit;        // of method multiple
  double bytes = 0;      // estimated, or taken
  double score = 0;      // by the tuning's weights
  bool repeats = false;  // of methods that take differences: whether runs that stand twice are looked for
};

// The axes of differences with the least estimated bytes, for a method that takes them.
template <class T>
LosslessCandidate weigh_method(const LosslessCells<T>& cells, LosslessMethod method);

// By the tuning's weights, of a section's bytes. Where speed has a weight, those that a frame takes beside
// them count as well: they make ratios of small arrays many times smaller. (By ratio alone they change no
// order.)
double method_score(LosslessMethod method, double raw_bytes, double bytes, const CodecTuning& tuning);

struct WeighedMethods {
  std::vector<LosslessCandidate> candidates;  // that may suit, by falling score
  std::vector<WeighedCandidate> withdrawn;    // the others that are chosen from, with their reasons
  std::vector<LosslessCandidate> unsure;  // among these, those that samples tell too little of: worth a trial
};

// Where speed alone counts: samples would tell nothing. The first of those that are typically fastest.
WeighedMethods fastest_method(const CodecTuning& tuning, LosslessMethods available);

// Of a tuning by which the ratio counts. Deterministic: speeds are those typical of a method, not measured.
template <class T>
WeighedMethods weigh_lossless(const LosslessCells<T>& cells, const CodecTuning& tuning, Effort effort);

}  // namespace neve
