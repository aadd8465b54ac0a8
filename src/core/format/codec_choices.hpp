// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

#include "neve/status.hpp"
#include "neve/types.hpp"

namespace neve {

// "auto, dual_quant, ...": the codecs that parse_codec takes, for messages and help.
std::string codec_choices();

// Usage errors for numbers that are no member of the enumeration, and for codecs that cannot be asked for.
Status check_dtype(DType dtype);
Status check_codec(Codec codec);
Status check_effort(Effort effort);

// Whether the codec that somebody asked for can keep all values bit for bit.
bool can_keep_every_bit(Codec asked);

// Of a codec that somebody asked for beside this very bound.
Status check_keeps_bound(const Bound& bound, Codec codec);

// A bound that allows errors changes nothing beside a codec that makes none. `name`: of the bound, "--bound".
Status check_uses_bound(const Bound& bound, Codec codec, std::string_view name = "bound");

// Whether what the codec decodes to can be encoded again, with other values around, and stays the same
// (Lattice, neve/frame.hpp).
bool repeats_values(Codec asked);
Status check_repeats_values(Codec codec);

// What values of integer type `dtype` may ask for: to be kept bit for bit, by a codec that can.
Status check_integer_choices(DType dtype, const Bound& bound, Codec codec);

}  // namespace neve
