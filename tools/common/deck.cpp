// SPDX-License-Identifier: BSD-3-Clause
#include "tools/common/deck.hpp"

#include <fmt/format.h>

#include <fstream>
#include <set>

#include "tools/common/plain_errors.hpp"
#include "tools/common/ranks.hpp"

namespace neve::cli {

namespace {

// A process runs one command.
std::set<const CLI::Option*>& options_from_deck() {
  static std::set<const CLI::Option*> options;
  return options;
}

Status read_file(CLI::App& command, const std::string& path) {
  std::ifstream file(path);
  if (!file) return failure(fmt::format("--deck: cannot read {}", path));
  try {
    for (const CLI::ConfigItem& item : CLI::ConfigTOML().from_config(file)) {
      CLI::Option* option = item.parents.empty() && item.name != "deck" && item.name != "help"
                                ? command.get_option_no_throw("--" + item.name)
                                : nullptr;
      if (option == nullptr) {
        return usage_error(
            fmt::format("{}: unknown option '{}'; allowed are those of --help without the dashes", path,
                        item.fullname()));
      }
      if (option->count() > 0) continue;
      for (const std::string& input : item.inputs) option->add_result(input);
      option->run_callback();
      options_from_deck().insert(option);
    }
  } catch (const CLI::Error& error) {
    return usage_error(fmt::format("{}: {}", path, plain_words(command, error)));
  }
  return {};
}

}  // namespace

void add_deck_option(CLI::App& command, std::string& path, const std::string& example) {
  command.add_option(
      "--deck", path,
      fmt::format("options from a TOML file, one a line: {}; options on the command line take precedence",
                  example));
}

bool is_from_deck(const CLI::Option& option) { return options_from_deck().contains(&option); }

Status read_deck(const Ranks& ranks, CLI::App& command, const std::string& path) {
  return path.empty() ? Status() : ranks.agree(read_file(command, path));
}

Command deck_command(CLI::App& command, std::shared_ptr<const std::string> path, ParallelRun run) {
  return {&command,
          [&command, path = std::move(path), run = std::move(run)](const Ranks& ranks) -> Status {
            NEVE_TRY(read_deck(ranks, command, *path));
            return run(ranks);
          },
          {}};
}

}  // namespace neve::cli
