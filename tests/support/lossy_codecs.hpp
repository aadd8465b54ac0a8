// SPDX-License-Identifier: BSD-3-Clause
// The codecs that keep a bound, each of which must keep every promise of a frame: tests of promises go
// through all of them.
#pragma once

#include <array>

#include "neve/types.hpp"

namespace neve::test {

inline constexpr std::array lossy_codecs{Codec::dual_quant, Codec::lorenzo_regression, Codec::interpolation,
                                         Codec::context, Codec::axis_passes};

}  // namespace neve::test
