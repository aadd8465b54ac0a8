// SPDX-License-Identifier: BSD-3-Clause
// A whole AMReX plotfile from one input (support/bundle.hpp): opened, and every box of it read.
#include <cstddef>
#include <cstdint>
#include <span>

#include "io/plotfile/open.hpp"
#include "tests/fuzz/support/bundle.hpp"
#include "tests/fuzz/support/read_plotfile.hpp"
#include "tests/fuzz/support/scratch.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using neve::Code;
  const auto files = neve::fuzz::unbundle({reinterpret_cast<const char*>(data), size});
  if (files.empty()) return 0;
  neve::fuzz::clear_scratch();
  for (const auto& file : files) {
    neve::fuzz::scratch_file("plt/" + file.path, std::as_bytes(std::span(file.bytes)));
  }
  auto source = neve::plotfile::open_plotfile(neve::fuzz::scratch_folder() + "/plt");
  neve::fuzz::require_code(source.status(), {Code::corrupt, Code::usage, Code::failure});
  if (source.ok()) neve::fuzz::read_all_boxes(**source, {Code::corrupt, Code::failure, Code::usage});
  return 0;
}
