// SPDX-License-Identifier: BSD-3-Clause
#include "tools/common/plain_errors.hpp"

#include <fmt/format.h>

#include <optional>
#include <regex>

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

// What a value of the option must be, for "is not ...".
std::string kind_of_value(const CLI::Option* option) {
  if (option == nullptr) return "allowed";
  if (option->get_items_expected_max() == 0) return "true or false";
  const std::string type = option->get_type_name();
  if (type.starts_with("UINT")) return "a whole number of at least 0";
  if (type.starts_with("INT")) return "a whole number";
  if (type.starts_with("FLOAT")) return "a number";
  return "allowed";
}

std::string not_convertible(const CLI::App& command, const std::string& name, const std::string& value) {
  return fmt::format("{}: \"{}\" is not {}", name, value, kind_of_value(command.get_option_no_throw(name)));
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
      return fmt::format("{}: \"{}\" is not allowed; allowed: {}", m->str(1), m->str(2),
                         allowed_range(*option));
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
