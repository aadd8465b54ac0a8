// SPDX-License-Identifier: BSD-3-Clause
// Which of the codecs that quantize a section is coded by where none was asked for.
#pragma once

#include "core/codecs/candidate.hpp"
#include "core/select/axis_pass_choice.hpp"
#include "core/stages/quantize/quantizer.hpp"

namespace neve {

// The codec that the effort is worth.
template <class T>
SectionDraft select_codec(const SectionSource<T>& source, const ComponentSpec& spec, Effort effort);

// That of effort fast: of dual_quant and axis_passes the one that takes less by a sample, mostly coded alone.
template <class T>
SectionDraft select_fast(const SectionSource<T>& source, const ComponentSpec& spec,
                         const CandidateScorer& scorer);

// Whether of the codecs that quantize only this one keeps what is asked for: its decoded values do not depend
// on neighbours, and it looks at each of them.
inline bool dual_quant_alone(const ComponentSpec& spec) {
  return spec.lattice || spec.decodes_alone || may_become_missing(spec);
}

// What axis_passes would take, from a sample.
template <class T>
AxisPassChoice choose_passes(const SectionSource<T>& source, const ComponentSpec& spec,
                             int64_t max_lines = max_pass_lines) {
  const Quantizer<T> quantizer = make_quantizer<T>(spec);
  return choose_axis_passes(source, quantizer, ValueRules<T>(spec, quantizer), max_lines);
}

// Of no more cells a choice from few bits a value is unsure.
inline constexpr uint64_t unsure_cells_of_few_bits = 32768;
inline constexpr double few_bits = 1;

}  // namespace neve
