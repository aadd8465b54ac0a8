// SPDX-License-Identifier: BSD-3-Clause
#include "tools/common/unknown_words.hpp"

#include <fmt/format.h>

#include <string_view>
#include <vector>

#include "core/options/nearest_name.hpp"
#include "tools/common/plain_errors.hpp"

namespace neve::cli {
namespace {

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options([](const CLI::Option*) { return true; })) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
  }
  return names;
}

constexpr std::string_view ends_options = "--";

bool is_option(const std::string& word) { return word.size() > 1 && word[0] == '-'; }

// An unknown option leaves its value over, and what stands behind it: the option is what to name.
struct Unexpected {
  const CLI::App* app = nullptr;
  std::string word;
};

// The first of `app` and below that no one takes, of options alone or of any words.
Unexpected first_unexpected(const CLI::App& app, bool options_alone) {
  if (!app.get_prefix_command()) {  // else another program reads its words
    for (const std::string& word : app.remaining()) {
      if (word == ends_options) continue;
      if (is_option(word) || !options_alone) return {&app, word};
    }
  }
  for (const CLI::App* below : app.get_subcommands()) {
    if (const Unexpected found = first_unexpected(*below, options_alone); found.app != nullptr) return found;
  }
  return {};
}

std::string usage_line(const CLI::App& app, const std::string& text) {
  const std::string name = full_name(app);
  const std::string command = name.empty() ? "neve" : "neve " + name;
  return fmt::format("{0}: {1} (`{0} --help` lists what is allowed)\n", command, text);
}

}  // namespace

std::string unknown_words(const CLI::App& app) {
  Unexpected found = first_unexpected(app, true);
  if (found.app == nullptr) found = first_unexpected(app, false);
  if (found.app == nullptr) return {};
  const std::string word =
      found.word.substr(0, is_option(found.word) ? found.word.find('=') : std::string::npos);
  std::string text = fmt::format("{} '{}'", is_option(word) ? "unknown option" : "unexpected argument", word);
  if (is_option(word)) {
    const std::string like = options::nearest_name(word, option_names(*found.app));
    if (!like.empty()) text += fmt::format("; did you mean {}?", like);
  }
  return usage_line(*found.app, text);
}

std::string unknown_subcommand(const CLI::App& app) {
  const CLI::App& command = parsed_command(app);
  if (command.get_parent() == nullptr || command.get_require_subcommand_min() == 0) return {};
  for (const std::string& word : command.remaining()) {
    if (!is_option(word)) return usage_line(command, fmt::format("unexpected argument '{}'", word));
  }
  return {};
}

std::string parse_error_text(const CLI::App& app, const CLI::Error& error) {
  const CLI::App& command = parsed_command(app);
  return usage_line(command, plain_words(command, error));
}

std::string full_name(const CLI::App& app) {
  const CLI::App* const parent = app.get_parent();
  if (parent == nullptr) return app.get_name() == "neve" ? "" : app.get_name().substr(sizeof "neve");
  const std::string above = full_name(*parent);
  return above.empty() ? app.get_name() : above + " " + app.get_name();
}

const CLI::App& parsed_command(const CLI::App& app) {
  const CLI::App* below = &app;
  while (!below->get_subcommands().empty()) below = below->get_subcommands().back();
  return *below;
}

}  // namespace neve::cli
