// SPDX-License-Identifier: BSD-3-Clause
// Codec lossless beside the codecs that quantize: where it takes less than they do under a bound, it is kept.
#pragma once

#include "core/codecs/candidate.hpp"

namespace neve {

// Whether a decoded value must depend on the original and the spec alone, whatever the codec.
inline bool is_restored_alike(const ComponentSpec& spec) { return spec.lattice || spec.decodes_alone; }

// Puts codec lossless in the place of `best` where it scores more. Where is_restored_alike(), the values that
// it keeps bit for bit are those that dual_quant would restore.
template <class T>
void weigh_lossless_too(const SectionSource<T>& source, const ComponentSpec& spec, Effort effort,
                        const CandidateScorer& scorer, Candidate& best);

}  // namespace neve
