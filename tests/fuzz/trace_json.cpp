// SPDX-License-Identifier: BSD-3-Clause
// Any text as a trace's JSON file.
#include <cstddef>
#include <cstdint>
#include <span>

#include "preload/trace/json.hpp"
#include "tests/fuzz/support/codes.hpp"
#include "tests/fuzz/support/scratch.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using neve::Code;
  const std::string path = neve::fuzz::scratch_file("trace.json", std::as_bytes(std::span(data, size)));
  const auto trace = neve::trace::read_trace_file(path);
  neve::fuzz::require_code(trace.status(), {Code::corrupt, Code::usage});
  if (trace.ok()) (void)neve::trace::to_json(*trace);
  return 0;
}
