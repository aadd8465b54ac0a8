// SPDX-License-Identifier: BSD-3-Clause
// Codec lossless where its method is chosen among candidates that were listed by name.
#pragma once

#include <string>

#include "core/sections/lossless_cells.hpp"
#include "core/select/lossless_choice.hpp"
#include "neve/types.hpp"

namespace neve {

// Those whose compressor this process can use.
LosslessMethods available_methods(LosslessMethods listed);
// Usage error where none of those listed can be used.
Status check_candidates_are_there(LosslessMethods listed);

// Candidates among those of `tuning`, which lists some: of methods of differences by samples, of those on
// bytes by what they make of a part of the section. One that cannot score as high as another is expected to,
// by its typical speed and by what its compressor makes of bytes at best, codes no part.
template <class T>
WeighedMethods weigh_listed(const LosslessCells<T>& cells, const CodecTuning& tuning, Effort effort);

}  // namespace neve
