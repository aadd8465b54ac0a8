// SPDX-License-Identifier: BSD-3-Clause
// A section by one method of codec `lossless`.
#pragma once

#include <optional>

#include "core/codecs/lossless_bytes.hpp"
#include "core/codecs/section_codec.hpp"
#include "core/sections/lossless_cells.hpp"
#include "core/select/lossless_choice.hpp"

namespace neve {

// Bits of the byte that says what precedes differences.
inline constexpr uint8_t flag_specials = 1, flag_repeats = 2;

template <class T>
LosslessCells<T> gather(const SectionSource<T>& source, const ComponentSpec& spec);

// The section's bytes; nothing where there are too many different values for ranks, or no such coder.
template <class T>
std::optional<Bytes> encode_by(const LosslessCells<T>& cells, const LosslessCandidate& candidate,
                               const CoderLevels& levels);

// The section's bytes by a method of byte planes, which are made of the values as they lie: no other method
// needs so little of them.
template <class T>
std::optional<Bytes> encode_rows(const SectionSource<T>& source, LosslessMethod method,
                                 const CoderLevels& levels);
template <class T>
bool takes_rows(const SectionSource<T>& source, LosslessMethod method);

}  // namespace neve
