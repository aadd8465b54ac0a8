// SPDX-License-Identifier: BSD-3-Clause
#include "tools/common/unknown_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string_view>
#include <vector>

#include "tools/common/plain_errors.hpp"

namespace neve::cli {
namespace {

// Letters to insert, drop or replace.
size_t distance(const std::string& a, const std::string& b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t above = row[j + 1];
      row[j + 1] = std::min({above + 1, row[j] + 1, diagonal + (a[i] == b[j] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row.back();
}

// The known name that is most like `word`; empty where none is.
std::string nearest(const std::string& word, const std::vector<std::string>& known) {
  std::string best;
  size_t least = word.size() / 3 + 2;  // further off it is another word
  for (const std::string& name : known) {
    const size_t d = distance(word, name);
    if (d >= least) continue;
    least = d;
    best = name;
  }
  return best;
}

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
    const std::string like = nearest(word, option_names(*found.app));
    if (!like.empty()) text += fmt::format("; did you mean {}?", like);
  }
  return usage_line(*found.app, text);
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
