// SPDX-License-Identifier: BSD-3-Clause
// A section by one codec that has been chosen or asked for, with the trace that says so.
#pragma once

#include <cstdint>

#include "core/codecs/section_codec.hpp"

namespace neve {

// Whether so many values are listed exactly that keeping all of them may take less.
bool lists_many(const SectionDraft& draft, uint64_t held);

// By a codec that keeps every bit.
template <class T>
SectionDraft draft_kept(Codec codec, const SectionSource<T>& source, const ComponentSpec& spec,
                        Effort effort);

// `draft`, which has been begun at that time, or one of `exact` where that is smaller because many values had
// to be listed.
template <class T>
SectionDraft or_exact(SectionDraft draft, uint64_t begin_ns, const SectionSource<T>& source,
                      const ComponentSpec& spec, Effort effort);

// By a codec that quantizes, or by `exact` as above.
template <class T>
SectionDraft draft_lossy(const SectionSource<T>& source, const ComponentSpec& spec, Codec codec,
                         Effort effort);

// `draft` has been made by one codec: its trace says so.
void note_alone(SectionDraft& draft, uint64_t spent_ns);

}  // namespace neve
