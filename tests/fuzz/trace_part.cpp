// SPDX-License-Identifier: BSD-3-Clause
// Any bytes as a part of a trace: what a traced process left, however it ended.
#include <cstddef>
#include <cstdint>
#include <span>

#include "preload/trace/part_reader.hpp"
#include "tests/fuzz/support/codes.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto trace = neve::trace::read_part(std::as_bytes(std::span(data, size)));
  neve::fuzz::require_code(trace.status(), {neve::Code::corrupt, neve::Code::usage});
  return 0;
}
