// SPDX-License-Identifier: BSD-3-Clause
// How many directions a stream's prediction should use: noise of quantization adds up with each, so that on
// rough fields fewer are better.
#pragma once

#include "core/stream/stream_format.hpp"

namespace neve::stream {

// 1 to header.dims, by what the symbols of some lines of `values` would take: of a stream for
// the engine, or one with extra bits. The header says shape, line and plane; all values are there.
template <class T>
int choose_dims(const Header& header, const T* values, double bound_abs, const ValueRange& range,
                bool is_for_software);

}  // namespace neve::stream
