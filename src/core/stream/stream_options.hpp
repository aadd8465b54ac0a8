// SPDX-License-Identifier: BSD-3-Clause
// Options of a stream: what is allowed, and the header that they make.
#pragma once

#include "core/stream/stream_format.hpp"
#include "neve/stream.hpp"

namespace neve::stream {

// Errors: usage.
Status check_options(const StreamOptions& options);
Header header_of(const StreamOptions& options);
// Of a chunk whose values are all kept as they are.
ChunkReport raw_report(uint64_t values, uint64_t special_values, double bound_abs);

}  // namespace neve::stream
