// SPDX-License-Identifier: BSD-3-Clause
// How codec axis_passes would predict a section, and what that takes, from a sample: lines of cells along
// each direction, spread over the whole section, are coded as the codec codes them, its rounding fed back.
#pragma once

#include "core/sections/section_data.hpp"
#include "core/stages/predict/axis_passes.hpp"
#include "core/stages/quantize/quantizer.hpp"
#include "core/stages/quantize/value_rules.hpp"

namespace neve {

struct AxisPassChoice {
  AxisPassModel model;
  double bytes = 0;           // of the section; infinity where a sample says nothing
  bool has_excluded = false;  // some sampled cells are special or left out
};

// Sampled lines along the first direction, of large sections; half as many along each further one.
inline constexpr int64_t max_pass_lines = 128;
// So many show whether more are worth their time.
inline constexpr int64_t pass_lines_at_a_glance = 12;

template <class T>
AxisPassChoice choose_axis_passes(const SectionSource<T>& source, const Quantizer<T>& quantizer,
                                  const ValueRules<T>& rules, int64_t max_lines = max_pass_lines);

}  // namespace neve
