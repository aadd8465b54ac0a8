// SPDX-License-Identifier: BSD-3-Clause
#include "tools/common/help_format.hpp"

#include <sstream>

namespace neve::cli {
namespace {

constexpr size_t terminal_columns = 100;

}  // namespace

std::string wrapped(const std::string& text, size_t width) {
  std::istringstream words(text);
  std::string lines;
  size_t column = 0;
  for (std::string word; words >> word;) {
    if (column > 0 && column + 1 + word.size() > width) {
      lines += '\n';
      column = 0;
    }
    if (column > 0) lines += ' ';
    lines += word;
    column += word.size() + (column > 0 ? 1 : 0);
  }
  return lines;
}

std::string HelpFormat::make_option_desc(const CLI::Option* option) const {
  return wrapped(Formatter::make_option_desc(option), terminal_columns - column_width_);
}

std::string HelpFormat::make_description(const CLI::App* app) const {
  return wrapped(Formatter::make_description(app), terminal_columns) + "\n";
}

std::string HelpFormat::make_subcommand(const CLI::App* app) const {
  std::ostringstream out;
  CLI::detail::format_help(out, app->get_name(),
                           wrapped(app->get_description(), terminal_columns - column_width_), column_width_);
  return out.str();
}

}  // namespace neve::cli
