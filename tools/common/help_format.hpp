// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace neve::cli {

// Help texts whose lines end where a terminal's do.
class HelpFormat : public CLI::Formatter {
 public:
  std::string make_option_desc(const CLI::Option* option) const override;
  std::string make_description(const CLI::App* app) const override;
  std::string make_subcommand(const CLI::App* app) const override;
};

// Lines of at most `width` characters, cut at blanks; a longer word has a line of its own.
std::string wrapped(const std::string& text, size_t width);

}  // namespace neve::cli
