// SPDX-License-Identifier: BSD-3-Clause
// Order in values that quantization codes do not show: repeats, ramps, multiples of one unit, few different
// values, a bound about as small as the distance of neighbouring numbers. Where a sample finds some, keeping
// every bit may take less than a bound.
#pragma once

#include <cmath>
#include <cstdint>

#include "core/sections/section_data.hpp"
#include "core/stages/quantize/value_rules.hpp"

namespace neve {

struct ValueOrder {
  double bits = HUGE_VAL;  // a value, of what order saves most: a guess that is seldom too high
  double unit = 0;         // that (nearly) all sampled values are multiples of; 0: none
  double spacing = 0;      // of floating-point numbers as large as the sampled values are on average
};

// Looks at runs of neighbours in the order of rows, spread over the section; special values are left out.
// `coded_bits`: what a value takes under its bound. The more, the closer repeats are looked for.
template <class T>
ValueOrder sample_order(const SectionSource<T>& source, const ValueRules<T>& rules, double coded_bits);

// Whether a method that keeps every bit may take less than `bytes` for so many values that are not special,
// under that bound. `bits_beside`: that a lossless method may have to keep of a value beside those of the
// bound.
bool may_be_smaller_lossless(const ValueOrder& order, uint64_t ordinary, uint64_t bytes, double bound,
                             int bits_beside);

}  // namespace neve
