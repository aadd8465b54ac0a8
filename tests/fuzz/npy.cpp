// SPDX-License-Identifier: BSD-3-Clause
// Any bytes as a .npy file: its header, its values, and as a plotfile of one box.
#include "io/plotfile/npy.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

#include "tests/fuzz/support/read_plotfile.hpp"
#include "tests/fuzz/support/scratch.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using neve::Code;
  const std::string path = neve::fuzz::scratch_file("array.npy", std::as_bytes(std::span(data, size)));
  const auto header = neve::plotfile::read_npy_header(path);
  neve::fuzz::require_code(header.status(), {Code::corrupt, Code::usage});
  const auto array = neve::plotfile::read_npy(path);
  neve::fuzz::require_code(array.status(), {Code::corrupt, Code::usage});
  if (array.ok() && static_cast<int64_t>(array->values.size()) != header->values_bytes) {
    neve::fuzz::broken_promise("an array of another size than its header says");
  }
  auto source = neve::plotfile::open_npy_plotfile(path);
  neve::fuzz::require_code(source.status(), {Code::corrupt, Code::usage});
  if (source.ok()) neve::fuzz::read_all_boxes(**source, {Code::corrupt});
  return 0;
}
