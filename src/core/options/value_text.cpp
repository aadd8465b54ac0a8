// SPDX-License-Identifier: BSD-3-Clause
#include "core/options/value_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "core/catalog/refusals.hpp"

namespace neve::options {
namespace {

struct Unit {
  std::string_view name;
  uint64_t bytes;
};
constexpr Unit units[] = {
    {"", 1}, {"B", 1}, {"KiB", 1ull << 10}, {"MiB", 1ull << 20}, {"GiB", 1ull << 30}, {"TiB", 1ull << 40}};

std::string in_small_letters(std::string_view text) {
  std::string small(text);
  for (char& c : small) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return small;
}

template <class Number>
bool is_whole(std::string_view text, Number& number) {
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && at == end;
}

template <class T>
Status keep(Result<T> parsed, T& value) {
  if (parsed.ok()) value = *parsed;
  return parsed.status();
}

}  // namespace

Result<double> parse_number(std::string_view text) {
  const std::string_view digits = text.starts_with('+') ? text.substr(1) : text;
  double value = 0;
  const char* const end = digits.data() + digits.size();
  const auto [at, error] = std::from_chars(digits.data(), end, value);
  // from_chars leaves the value alone where it is too large or too small for one.
  if (error == std::errc() && at == end && !digits.starts_with('+')) return value;
  if (error == std::errc::result_out_of_range && at == end) {
    return usage_error(fmt::format("'{}' is no number that f64 holds", text));
  }
  return usage_error(fmt::format("'{}' is not a number", text));
}

Result<uint64_t> parse_bytes(std::string_view text) {
  uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  const std::string_view unit_text(rest, static_cast<size_t>(end - rest));
  if (error == std::errc()) {
    for (const Unit& unit : units) {
      uint64_t bytes = 0;
      if (unit_text == unit.name && !__builtin_mul_overflow(number, unit.bytes, &bytes)) return bytes;
    }
  }
  return usage_error(
      fmt::format("'{}' is not a size; allowed: a whole number followed by nothing, B, KiB, MiB, GiB or TiB, "
                  "as in 8MiB",
                  text));
}

bool is_whole_number(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

Status read_whole(std::string_view what, std::string_view text, uint64_t least, uint64_t most,
                  uint64_t& number) {
  if (!is_whole_number(text)) {
    return usage_error(fmt::format("{} is '{}', which is not a whole number; {} to {} are allowed", what,
                                   text, least, most));
  }
  uint64_t found = 0;
  if (!is_whole(text, found) || found < least || found > most) return out_of_range(what, text, least, most);
  number = found;
  return {};
}

Status parse_value(std::string_view text, double& value) { return keep(parse_number(text), value); }

Status parse_value(std::string_view text, bool& value) {
  constexpr std::array<std::string_view, 4> on = {"true", "on", "yes", "1"};
  constexpr std::array<std::string_view, 4> off = {"false", "off", "no", "0"};
  const std::string word = in_small_letters(text);
  value = std::find(on.begin(), on.end(), word) != on.end();
  if (value || std::find(off.begin(), off.end(), word) != off.end()) return {};
  return usage_error(fmt::format("'{}'; true or false is allowed", text));
}

Status parse_value(std::string_view text, std::string& value) {
  value = text;
  return {};
}

Status parse_value(std::string_view text, Codec& value) { return keep(parse_codec(text), value); }
Status parse_value(std::string_view text, Effort& value) { return keep(parse_effort(text), value); }
Status parse_value(std::string_view text, Arrangement& value) { return keep(parse_arrangement(text), value); }
Status parse_value(std::string_view text, LosslessMethod& value) {
  return keep(parse_lossless_method(text), value);
}
Status parse_value(std::string_view text, LosslessMethods& value) {
  return keep(parse_lossless_methods(text), value);
}
Status parse_value(std::string_view text, Speeds& value) { return keep(parse_speeds(text), value); }
Status parse_value(std::string_view text, Covered& value) {
  return keep(parse_covered(std::string(text)), value);
}

Status parse_value(std::string_view text, Behind& value) {
  return keep(parse_behind(std::string(text)), value);
}

std::string value_text(int value) { return std::to_string(value); }
std::string value_text(double value) { return fmt::format("{}", value); }
std::string value_text(bool value) { return value ? "true" : "false"; }
std::string value_text(const std::string& value) { return value; }
std::string value_text(Codec value) { return std::string(codec_name(value)); }
std::string value_text(Effort value) { return std::string(effort_name(value)); }
std::string value_text(Arrangement value) { return std::string(arrangement_name(value)); }
std::string value_text(LosslessMethod value) { return std::string(lossless_method_name(value)); }
std::string value_text(LosslessMethods value) { return lossless_methods_text(value); }
std::string value_text(Speeds value) { return std::string(speeds_name(value)); }
std::string value_text(Covered value) { return covered_name(value); }
std::string value_text(Behind value) { return behind_name(value); }

std::string bytes_text(uint64_t bytes) {
  const Unit* best = &units[0];
  for (const Unit& unit : units) {
    if (bytes > 0 && bytes % unit.bytes == 0 && unit.bytes > best->bytes) best = &unit;
  }
  return fmt::format("{}{}", bytes / best->bytes, best->name);
}

Result<FillChoice> parse_fill(std::string_view text) {
  FillChoice choice;
  if (text == "auto") return choice;
  choice.detect = false;
  if (text == "none") return choice;
  const auto value = parse_number(text);
  if (!value.ok()) return usage_error(fmt::format("'{}' is not auto, none or a number", text));
  choice.value = *value;
  if (int64_t whole = 0; is_whole(text, whole)) {
    choice.whole = static_cast<uint64_t>(whole);
  } else if (uint64_t above = 0; is_whole(text, above)) {
    choice.whole = above;
  }
  return choice;
}

}  // namespace neve::options
