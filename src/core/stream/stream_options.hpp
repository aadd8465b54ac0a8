// SPDX-License-Identifier: BSD-3-Clause
// Options of a stream: what is allowed, and the header that they make.
#pragma once

#include <span>

#include "core/stream/stream_format.hpp"
#include "neve/stream.hpp"

namespace neve::stream {

// Errors: usage.
Status check_options(const StreamOptions& options);
Header header_of(const StreamOptions& options);
uint64_t product(std::span<const uint64_t> sizes);

}  // namespace neve::stream
