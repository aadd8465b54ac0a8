// SPDX-License-Identifier: BSD-3-Clause
#include "tools/common/options.hpp"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "core/catalog/file_layout.hpp"
#include "core/options/settings.hpp"
#include "core/options/value_text.hpp"

namespace neve::cli {
namespace {

template <class T>
Status set_once(std::optional<T>& target, const std::optional<T>& value, const char* what) {
  if (!value) return {};
  if (target) return usage_error(fmt::format("its {} is given twice", what));
  target = value;
  return {};
}

Status add_rule(const std::string& settings, FieldRule& rule) {
  NEVE_ASSIGN(const options::RuleSettings said, options::parse_rule(settings, options::field_rule));
  NEVE_TRY(set_once(rule.bound, said.bound, "bound"));
  NEVE_TRY(set_once(rule.codec, said.codec, "codec"));
  NEVE_TRY(set_once(rule.tuning, said.tuning, "tuning"));
  return set_once(rule.fill, said.fill, "fill value");
}

options::Slots default_layout() {
  static FileLayout defaults;
  options::Slots slots;
  slots.layout = &defaults;
  return slots;
}

}  // namespace

Result<uint64_t> parse_bytes(const std::string& option, const std::string& text) {
  auto bytes = options::parse_bytes(text);
  if (!bytes.ok()) return bytes.status().in(option);
  return bytes;
}

Result<double> parse_number(const std::string& option, const std::string& text) {
  auto number = options::parse_number(text);
  if (!number.ok()) return number.status().in(option);
  return number;
}

Status parse_field_rule(const std::string& text, std::map<std::string, FieldRule>& rules) {
  // Component names may hold colons themselves (species), settings never do.
  const size_t colon = text.rfind(':');
  if (colon == std::string::npos || colon == 0 || colon + 1 == text.size()) {
    return usage_error(fmt::format("--field '{}' is not NAME:SETTING; allowed settings: {}", text,
                                   options::keys_of(options::field_rule)));
  }
  const std::string name = text.substr(0, colon);
  return add_rule(text.substr(colon + 1), rules[name]).in("--field " + name);
}

void LayoutArgs::add(CLI::App& command) {
  flags_.add(
      command, [](const options::Option& option) { return option.is_of_layout; }, default_layout());
}

void LayoutArgs::add_planned(CLI::App& command) {
  const auto is_planned = [](const options::Option& option) {
    return option.is_of_layout && option.key != "buffer_size";
  };
  flags_.add(command, is_planned, default_layout());
  flags_.describe("stripe_count", "storage targets that the file is striped over; 0: chosen automatically");
  flags_.describe("stripe_size", "stripe size, as in 8MiB; chosen automatically if it is not given");
  flags_.describe("aggregators", "ranks that write for others; 0: one per stripe");
}

Result<FileLayout> LayoutArgs::read() const {
  FileLayout layout;
  options::Slots slots;
  slots.layout = &layout;
  NEVE_TRY(flags_.read(slots));
  NEVE_TRY(check_layout(layout));
  return layout;
}

Result<int> check_threads(int threads) {
  NEVE_TRY(options::naming(neve::check_threads(threads), *options::find("threads"), "--threads"));
  return threads;
}

}  // namespace neve::cli
