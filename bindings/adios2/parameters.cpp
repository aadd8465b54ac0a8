// SPDX-License-Identifier: BSD-3-Clause
#include "bindings/adios2/parameters.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <functional>
#include <optional>
#include <system_error>

namespace neve::adios2_operator {
namespace {

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

template <class Number>
Status read_number(const std::string& name, const std::string& text, Number* number) {
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, *number);
  if (error == std::errc() && rest == end && !text.empty()) return {};
  return usage_error("parameter " + name + " is '" + text + "'; a number is allowed");
}

Status read_switch(const std::string& name, const std::string& text, bool* on) {
  const std::string word = lower(text);
  *on = word == "true" || word == "on" || word == "yes" || word == "1";
  if (*on || word == "false" || word == "off" || word == "no" || word == "0") return {};
  return usage_error("parameter " + name + " is '" + text + "'; true or false is allowed");
}

// Two's complement; nothing where the text is no whole number of 64 bits.
std::optional<uint64_t> whole_number(const std::string& text) {
  const char* const end = text.data() + text.size();
  int64_t whole = 0;
  uint64_t above = 0;
  if (const auto [at, error] = std::from_chars(text.data(), end, whole); error == std::errc() && at == end)
    return static_cast<uint64_t>(whole);
  if (const auto [at, error] = std::from_chars(text.data(), end, above); error == std::errc() && at == end)
    return above;
  return {};
}

Status read_fill(const std::string& name, const std::string& text, ArrayOptions& options) {
  options.detect_fill = text == "auto";
  if (text == "auto" || text == "none") return {};
  double value = 0;
  if (!read_number(name, text, &value).ok()) {
    return usage_error("parameter " + name + " is '" + text + "'; auto, none or a number is allowed");
  }
  options.fill = value;
  options.integer_fill = whole_number(text);
  return {};
}

// What a named thing is called is known where it is defined.
template <class T>
Status keep(const std::string& name, const Result<T>& parsed, T* target) {
  if (!parsed.ok()) return parsed.status().in("parameter " + name);
  *target = *parsed;
  return {};
}

using Read = std::function<Status(const std::string& name, const std::string& text, ArrayOptions& options)>;

const std::map<std::string, Read>& readers() {
  using Text = const std::string&;
  static const std::map<std::string, Read> all = {
      {"bound", [](Text n, Text t, ArrayOptions& o) { return keep(n, parse_bound(t), &o.bound); }},
      {"codec", [](Text n, Text t, ArrayOptions& o) { return keep(n, parse_codec(t), &o.codec); }},
      {"effort", [](Text n, Text t, ArrayOptions& o) { return keep(n, parse_effort(t), &o.encode.effort); }},
      {"method",
       [](Text n, Text t, ArrayOptions& o) { return keep(n, parse_lossless_method(t), &o.tuning.method); }},
      {"speed_weight",
       [](Text n, Text t, ArrayOptions& o) { return read_number(n, t, &o.tuning.speed_weight); }},
      {"ratio_weight",
       [](Text n, Text t, ArrayOptions& o) { return read_number(n, t, &o.tuning.ratio_weight); }},
      {"fill", read_fill},
      {"arrangement",
       [](Text n, Text t, ArrayOptions& o) { return keep(n, parse_arrangement(t), &o.tuning.arrangement); }},
      {"unit", [](Text n, Text t, ArrayOptions& o) { return read_number(n, t, &o.tuning.unit_cells); }},
      {"block", [](Text n, Text t, ArrayOptions& o) { return read_number(n, t, &o.tuning.block_cells); }},
      {"merge_units",
       [](Text n, Text t, ArrayOptions& o) { return read_switch(n, t, &o.tuning.merge_units); }},
      {"threads", [](Text n, Text t, ArrayOptions& o) { return read_number(n, t, &o.encode.threads); }},
  };
  return all;
}

}  // namespace

Result<ArrayOptions> parse_parameters(const std::map<std::string, std::string>& parameters) {
  ArrayOptions options;
  for (const auto& [name, text] : parameters) {
    const std::string key = lower(name);  // ADIOS2's own parameters do not mind capitals
    if (key == "pluginname" || key == "pluginlibrary") continue;
    const auto reader = readers().find(key);
    if (reader == readers().end()) {
      std::string allowed;
      for (const auto& [known, read] : readers()) allowed += (allowed.empty() ? "" : ", ") + known;
      return usage_error("unknown parameter '" + name + "'; allowed are " + allowed);
    }
    NEVE_TRY(reader->second(key, text, options));
  }
  NEVE_TRY(check_tuning(options.tuning));
  if (const Status status = check_threads(options.encode.threads); !status.ok()) {
    return usage_error("parameter " + status.message());
  }
  return options;
}

}  // namespace neve::adios2_operator
