// SPDX-License-Identifier: BSD-3-Clause
// Any text as the options of the C interface and of the command.
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "core/options/settings.hpp"
#include "neve/options.hpp"
#include "tests/fuzz/support/codes.hpp"
#include "tools/common/options.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto require = [](const neve::Status& status) {
    neve::fuzz::require_code(status, {neve::Code::usage});
  };
  const std::string_view view(reinterpret_cast<const char*>(data), size);
  const std::string text(view);
  require(neve::parse_write_options(view).status());
  const auto bound = neve::parse_bound(view, neve::BoundUse::array);
  require(bound.status());
  if (bound.ok()) {
    const auto again = neve::parse_bound(neve::to_string(*bound), neve::BoundUse::array);
    if (!again.ok() || !(*again == *bound)) neve::fuzz::broken_promise("a bound's text is another bound");
  }
  require(neve::parse_codec(view).status());
  require(neve::parse_arrangement(view).status());
  require(neve::parse_lossless_method(view).status());
  const auto methods = neve::parse_lossless_methods(view);
  require(methods.status());
  if (methods.ok()) {
    const auto again = neve::parse_lossless_methods(neve::lossless_methods_text(*methods));
    if (!again.ok() || *again != *methods) neve::fuzz::broken_promise("candidates' text has others");
  }
  require(neve::parse_effort(view).status());
  require(neve::parse_speeds(view).status());
  require(neve::parse_series_options(view).status());
  require(neve::cli::parse_bytes("--chunk-size", text).status());
  require(neve::options::parse_fill(view).status());
  require(neve::options::parse_number(view).status());
  require(neve::options::parse_rule(view, neve::options::variable_rule).status());
  require(neve::parse_array_options(view).status());
  std::map<std::string, neve::FieldRule> rules;
  require(neve::cli::parse_field_rule(text, rules));
  return 0;
}
