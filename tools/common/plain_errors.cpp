// SPDX-License-Identifier: BSD-3-Clause
#include "tools/common/plain_errors.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <regex>

#include "core/options/value_text.hpp"
#include "tools/common/console.hpp"

namespace neve::cli {
namespace {

// The parts of `text` that the groups of `pattern` took.
std::optional<std::smatch> match(const std::string& text, const char* pattern) {
  std::smatch found;
  if (!std::regex_match(text, found, std::regex(pattern))) return std::nullopt;
  return found;
}

std::string commands_of(const CLI::App& app) {
  std::string names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    names += (names.empty() ? "" : ", ") + command->get_name();
  }
  return names;
}

constexpr std::string_view unsigned_kind = "a whole number of at least 0";

bool is_unsigned_option(const CLI::Option& option) { return option.get_type_name().starts_with("UINT"); }

bool holds_whole_numbers(const CLI::Option& option) {
  return is_unsigned_option(option) || option.get_type_name().starts_with("INT");
}

// What a value of the option must be, for "is not ...".
std::string kind_of_value(const CLI::Option* option) {
  if (option == nullptr) return "allowed";
  if (option->get_items_expected_max() == 0) return "true or false";
  if (is_unsigned_option(*option)) return std::string(unsigned_kind);
  if (holds_whole_numbers(*option)) return "a whole number";
  return holds_numbers(*option) ? "a number" : "allowed";
}

// The least and the most of the numbers that an option holds, where a whole one is none of them.
std::string limits_of_type(const CLI::Option& option, bool is_of_64_bits) {
  const auto words = [](auto least, auto most) { return fmt::format("{} to {} are allowed", least, most); };
  if (is_unsigned_option(option)) {
    return is_of_64_bits ? words(0, std::numeric_limits<uint64_t>::max())
                         : words(0, std::numeric_limits<uint32_t>::max());
  }
  return is_of_64_bits ? words(std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max())
                       : words(std::numeric_limits<int>::min(), std::numeric_limits<int>::max());
}

bool fits_64_bits(const CLI::Option& option, std::string_view value) {
  const auto fits = [&](auto number) {
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    return error == std::errc();
  };
  return is_unsigned_option(option) ? fits(uint64_t{0}) : fits(int64_t{0});
}

std::string not_convertible(const CLI::App& command, const std::string& name, const std::string& value) {
  const CLI::Option* const option = command.get_option_no_throw(name);
  if (option != nullptr && holds_whole_numbers(*option) && options::is_whole_number(value)) {
    return fmt::format("{} is {}; {}", name, value, limits_of_type(*option, !fits_64_bits(*option, value)));
  }
  return fmt::format("{}: \"{}\" is not {}", name, value, kind_of_value(command.get_option_no_throw(name)));
}

// "--ranks is 0; 1 to 2048 are allowed"
std::string out_of_allowed_range(const CLI::Option& option, const std::string& name,
                                 const std::string& value) {
  const bool is_number = options::parse_number(value).ok();
  const std::string found = is_number ? value : fmt::format("\"{}\"", value);
  const std::string range = allowed_range(option);
  const bool is_open = range.starts_with("a");  // "at least", "above"
  return fmt::format("{} is {}; {}{} are allowed", name, found, is_open ? "numbers " : "", range);
}

std::string with_blanks(const std::string& list) { return std::regex_replace(list, std::regex(","), ", "); }

}  // namespace

std::string allowed_range(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  if (type.ends_with("NONNEGATIVE")) return "at least 0";
  if (type.ends_with("POSITIVE")) return "above 0";
  const auto range = match(type, R"(.* in \[(\S+) - (\S+)\])");
  return range ? range->str(1) + " to " + range->str(2) : "";
}

bool holds_numbers(const CLI::Option& option) {
  return holds_whole_numbers(option) || option.get_type_name().starts_with("FLOAT");
}

std::string number_fault(const CLI::Option& option, const std::string& value) {
  if (!holds_whole_numbers(option)) {
    const Result<double> number = options::parse_number(value);
    return number.ok() && std::isfinite(*number) ? "" : fmt::format("\"{}\" is not a finite number", value);
  }
  if (!options::is_whole_number(value) || (is_unsigned_option(option) && value.starts_with('-')))
    return fmt::format("\"{}\" is not {}", value, kind_of_value(&option));
  // CLI11 takes what 64 bits do not hold for the largest number that they do.
  return fits_64_bits(option, value)
             ? ""
             : fmt::format("{} is beyond 64 bits; {}", value, limits_of_type(option, true));
}

// By what the texts of CLI11 look like, since its errors hold nothing else.
std::string plain_words(const CLI::App& command, const CLI::Error& error) {
  std::string text = error.what();
  text = text.substr(0, text.find('\n'));
  if (text == "A subcommand is required") {
    return "a command is missing; allowed: " + commands_of(command);
  }
  if (const auto m = match(text, "Could not convert: (.*) = (.*)")) {
    return not_convertible(command, m->str(1), m->str(2));
  }
  if (const auto m = match(text, "The value (.*) is not an allowed value for (.*)")) {
    return not_convertible(command, m->str(2), m->str(1));
  }
  if (const auto m = match(text, "(.*): Should be true/false or a number")) {
    return m->str(1) + " has a wrong value; allowed: true, false";
  }
  if (const auto m = match(text, "(.*): At (Most|Least) (.*) required but received (.*)")) {
    const uint64_t given = std::stoull(m->str(4));
    return fmt::format("{} has {}; allowed: at {} {}", m->str(1), counted(given, "value"),
                       m->str(2) == "Most" ? "most" : "least", m->str(3));
  }
  if (const auto m = match(text, "(.*): (.*) required .* missing")) {
    return m->str(2) == "1" ? m->str(1) + " has no value; one is needed"
                            : fmt::format("{} has too few values; {} are needed", m->str(1), m->str(2));
  }
  if (const auto m = match(text, R"((.*): (.*) not in \{(.*)\})")) {
    return fmt::format("{}: \"{}\" is not known; allowed: {}", m->str(1), m->str(2), with_blanks(m->str(3)));
  }
  if (const auto m = match(text, "(.*): Value (.*) not in range .*")) {
    const CLI::Option* const option = command.get_option_no_throw(m->str(1));
    if (option != nullptr) {
      return out_of_allowed_range(*option, m->str(1), m->str(2));
    }
  }
  if (const auto m = match(text, "(.*) excludes (.*)")) {
    return fmt::format("{} and {} are both given; allowed: one of them", m->str(1), m->str(2));
  }
  if (const auto m = match(text, "(.*) was given a disallowed flag override")) {
    return m->str(1) + " has a value; it takes none";
  }
  if (const auto m = match(text, "(.*) is required")) return m->str(1) + " is missing";
  return text;
}

}  // namespace neve::cli
