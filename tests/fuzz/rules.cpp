// SPDX-License-Identifier: BSD-3-Clause
// Any text as a TOML file of rules, and its lines as single rules.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "tests/fuzz/support/codes.hpp"
#include "tests/fuzz/support/scratch.hpp"
#include "tools/neve/variable_rules.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using neve::Code;
  const std::string path = neve::fuzz::scratch_file("rules.toml", std::as_bytes(std::span(data, size)));
  neve::fuzz::require_code(neve::cli::read_rules_file(path).status(), {Code::usage});
  std::string_view text(reinterpret_cast<const char*>(data), size);
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    neve::fuzz::require_code(neve::cli::parse_variable_rule(std::string(line)).status(), {Code::usage});
  }
  return 0;
}
