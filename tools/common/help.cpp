// SPDX-License-Identifier: BSD-3-Clause
#include "tools/common/help.hpp"

#include <algorithm>
#include <string>

#include "tools/common/plain_errors.hpp"

namespace neve::cli {
namespace {

constexpr size_t columns = 100;
constexpr size_t longest_default = 40;  // that stands beside an option's name

// Breaks at blanks; a longer word stays whole.
std::string wrapped(const std::string& text, size_t width) {
  std::string out;
  size_t used = 0;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find_first_of(" \n", begin), text.size());
    const size_t length = end - begin;
    if (used > 0 && used + 1 + length > width) {
      out += '\n';
      used = 0;
    } else if (used > 0) {
      out += ' ';
      ++used;
    }
    out.append(text, begin, length);
    used += length;
    if (end < text.size() && text[end] == '\n') {
      out += '\n';
      used = 0;
    }
    begin = end + 1;
  }
  return out;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

std::string without_brackets(const std::string& values) {
  const bool is_list = values.size() > 1 && values.front() == '[';
  return is_list ? values.substr(1, values.size() - 2) : values;
}

// "[a,b,c]" as "a, b, c", which can be broken.
std::string as_words(const std::string& values) { return replaced(without_brackets(values), ",", ", "); }

// Of a type as CLI11 names it, with its check behind a colon: "INT:INT in [1 - 2048]".
std::string placeholder(const std::string& type_name) {
  const std::string type = type_name.substr(0, type_name.find(':'));
  return type == "INT" || type == "UINT" ? "N" : type == "FLOAT" ? "X" : type;
}

class WrappedHelp : public CLI::Formatter {
 public:
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override {
    return replaced(CLI::Formatter::make_help(app, std::move(name), mode), "\n\n\n", "\n\n");
  }
  std::string make_description(const CLI::App* app) const override {
    return wrapped(CLI::Formatter::make_description(app), columns);
  }
  std::string make_subcommand(const CLI::App* sub) const override {
    return entry(sub->get_display_name(true), sub->get_description());
  }
  std::string make_option(const CLI::Option* option, bool is_positional) const override {
    return entry(make_option_name(option, is_positional) + make_option_opts(option),
                 make_option_desc(option));
  }
  std::string make_option_opts(const CLI::Option* option) const override {
    if (option->get_items_expected_max() == 0) return "";
    std::string text;
    if (option->nonpositional()) text += " " + placeholders(option);
    const std::string by_default = option->get_default_str();
    if (!by_default.empty() && !is_long(option)) text += "=" + without_brackets(by_default);
    if (is_repeatable(option)) text += " ...";
    if (option->get_required()) text += " (required)";
    return text;
  }
  std::string make_option_desc(const CLI::Option* option) const override {
    std::string text = CLI::Formatter::make_option_desc(option);
    if (const std::string range = allowed_range(*option); !range.empty()) text += "; " + range;
    for (const CLI::Option* other : option->get_excludes()) {
      if (text.find(other->get_name()) == std::string::npos) text += "; not with " + other->get_name();
    }
    return is_long(option) ? text + " (" + as_words(option->get_default_str()) + ")" : text;
  }

 private:
  static bool is_long(const CLI::Option* option) {
    return option->get_default_str().size() > longest_default;
  }
  static bool takes_any_number(const CLI::Option* option) {
    return option->get_expected_max() == CLI::detail::expected_max_vector_size;
  }
  static bool is_repeatable(const CLI::Option* option) {
    return takes_any_number(option) && option->get_delimiter() == '\0';
  }
  // "N", "N,N,N" for a value of three numbers, "N,..." for a list.
  static std::string placeholders(const CLI::Option* option) {
    const std::string one = placeholder(option->get_type_name());
    if (option->get_delimiter() == '\0') return one;
    if (takes_any_number(option)) return one + ",...";
    std::string all = one;
    for (int i = 1; i < option->get_expected_max(); ++i) all += "," + one;
    return all;
  }
  std::string entry(const std::string& name, const std::string& text) const {
    std::stringstream out;
    CLI::detail::format_help(out, name, wrapped(text, columns - column_width_), column_width_);
    return out.str();
  }
};

}  // namespace

std::shared_ptr<CLI::FormatterBase> wrapped_help() { return std::make_shared<WrappedHelp>(); }

}  // namespace neve::cli
