// SPDX-License-Identifier: BSD-3-Clause
// Any text through the parsers of AMReX's headers: Header, Cell_H, and the line before a FAB's values.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "io/plotfile/amrex_header.hpp"
#include "tests/fuzz/support/codes.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using neve::Code;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto require = [](const neve::Status& status) {
    neve::fuzz::require_code(status, {Code::corrupt, Code::usage});
  };
  require(neve::plotfile::parse_plotfile_header(text, "Header").status());
  for (int dims = 1; dims <= neve::max_dims; ++dims) {
    require(neve::plotfile::parse_fab_array_header(text, "Cell_H", dims).status());
    require(neve::plotfile::parse_fab_header(text.substr(0, text.find('\n')), "Cell_D", dims).status());
  }
  return 0;
}
