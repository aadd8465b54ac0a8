// SPDX-License-Identifier: BSD-3-Clause
#include "tools/common/run_commands.hpp"

#include <mpi.h>

#include <chrono>
#include <cstdio>
#include <exception>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <thread>

#include "core/options/value_text.hpp"
#include "tools/common/console.hpp"
#include "tools/common/empty_values.hpp"
#include "tools/common/help.hpp"
#include "tools/common/launch.hpp"
#include "tools/common/plain_errors.hpp"
#include "tools/common/ranks.hpp"
#include "tools/common/unknown_words.hpp"

namespace neve::cli {
namespace {

// A first word that is no command, which CLI11 does not name.
std::string unknown_command(const CLI::App& app, int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-') return {};
  std::string allowed;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (command->get_name() == argv[1]) return {};
    allowed += (allowed.empty() ? "" : ", ") + command->get_name();
  }
  return app.get_name() + ": unknown command '" + argv[1] + "'; allowed: " + allowed + "\n";
}

// What ends a command before it does anything.
struct Words {
  std::string out, err;
  int exit_code = 0;
};

void write_words(const Words& words) {
  std::cout << words.out << std::flush;
  std::cerr << words.err << std::flush;
}

// What the first rank says where all ranks are called alike; else a usage error. Ranks that a launcher
// started compare their arguments first, also where what follows needs no MPI: one that ended alone would
// leave the others waiting for it. The words are out before any rank ends, which makes a launcher end the
// others.
struct Voice {
  int exit_code = 0;
  bool is_first = true;
};
Voice speak(const Words& words, const std::string& command, int argc, char** argv) {
  bool is_first = launcher_rank() == 0;
  if (!is_rank_itself()) {
    if (is_first) write_words(words);
    return {words.exit_code, is_first};
  }
  const MpiSession session;
  Status status = session.status();
  if (status.ok()) {
    const auto ranks = Ranks::of_world();
    if (ranks.ok() && ranks->size() > 1) is_first = ranks->first();
    status = ranks.ok() ? ranks->check_same_arguments(argc, argv) : ranks.status();
  }
  if (is_first && status.ok()) write_words(words);
  if (is_first && !status.ok()) say(command, status.message());
  return {status.ok() ? words.exit_code : static_cast<int>(status.code()), is_first};
}

int parse_failure(const CLI::App& app, const CLI::ParseError& error, int argc, char** argv) {
  std::ostringstream out, err;
  std::string unknown = unknown_command(app, argc, argv);
  if (unknown.empty()) unknown = unknown_subcommand(app);
  const bool asked_for_help = app.exit(error, out, err) == 0 && unknown.empty();
  if (!asked_for_help) {
    out.str({});
    if (unknown.empty()) unknown = unknown_words(app);
    if (unknown.empty()) unknown = parse_error_text(app, error);
    err.str({});
    err << unknown;
  }
  const Words words{out.str(), err.str(), asked_for_help ? 0 : static_cast<int>(Code::usage)};
  return speak(words, full_name(parsed_command(app)), argc, argv).exit_code;
}

const Command* parsed_one(const std::vector<Command>& commands) {
  for (const Command& command : commands) {
    if (command.app->parsed()) return &command;
  }
  return nullptr;
}

int run_parallel(const Command& command, int argc, char** argv) {
  int exit_code = static_cast<int>(Code::failure);
  bool is_first = false;
  {
    const MpiSession session;
    if (!session.status().ok()) {
      say(full_name(*command.app), session.status().message());
      return exit_code;
    }
    auto ranks = Ranks::of_world();
    Status status = ranks.status();
    if (ranks.ok()) {
      try {
        status = ranks->check_same_arguments(argc, argv);
        if (status.ok()) status = command.parallel(*ranks);
      } catch (const std::exception& e) {
        // The other ranks may wait for this one: there is no one left to agree with.
        say(full_name(*command.app), std::string("unexpected: ") + e.what());
        MPI_Abort(MPI_COMM_WORLD, exit_code);
      }
    }
    if (!status.ok() && (!ranks.ok() || ranks->first())) {
      say(full_name(*command.app), status.message());
    }
    exit_code = static_cast<int>(status.code());
    is_first = ranks.ok() && ranks->first();
  }
  return exit_code == 0 && is_first && command.after ? command.after() : exit_code;
}

// A result that nobody could read is no success.
int said_all(int exit_code) {
  const bool is_written = std::cout.flush() && std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  if (is_written || exit_code != 0) return exit_code;
  say("standard output: cannot be written");
  return static_cast<int>(Code::failure);
}

// Said once. A launcher ends all processes when the first one does: the others leave the speaker time.
int refuse_launch(const Status& launched) {
  if (launcher_rank() == 0) {
    say(launched.message());
  } else {
    std::this_thread::sleep_for(std::chrono::seconds(1));
  }
  return static_cast<int>(launched.code());
}

void set_help_format(CLI::App& app, const std::shared_ptr<CLI::FormatterBase>& format) {
  app.formatter(format);
  for (CLI::App* below : app.get_subcommands([](CLI::App*) { return true; })) set_help_format(*below, format);
}

// All flags take the words that toggles take elsewhere, and nothing else: --json, --json=true, --json=off.
void check_values_of_flags(CLI::App& app) {
  const auto is_true_or_false = [](std::string& text) -> std::string {
    bool is_on = false;
    const Status status = options::parse_value(text, is_on);
    if (status.ok()) text = options::value_text(is_on);
    return status.message();
  };
  for (CLI::Option* option : app.get_options([](const CLI::Option*) { return true; })) {
    const bool is_flag = option->get_items_expected_max() == 0 && option != app.get_help_ptr();
    if (is_flag) option->transform(CLI::Validator(is_true_or_false, "", "true or false"));
  }
  for (CLI::App* below : app.get_subcommands([](CLI::App*) { return true; })) check_values_of_flags(*below);
}

// Without it CLI11 takes a number below 0 for a very large one, 0x10 for 16, and blanks and a + before
// numbers.
void check_numbers(CLI::App& app) {
  for (CLI::Option* option : app.get_options([](const CLI::Option*) { return true; })) {
    if (!holds_numbers(*option)) continue;
    option->check(
        CLI::Validator([option](const std::string& text) { return number_fault(*option, text); }, ""));
  }
  for (CLI::App* below : app.get_subcommands([](CLI::App*) { return true; })) check_numbers(*below);
}

}  // namespace

int run_commands(CLI::App& app, const std::vector<Command>& commands, int argc, char** argv) {
  if (const Status launched = check_launch(); !launched.ok()) return refuse_launch(launched);
  set_help_format(app, wrapped_help());
  check_values_of_flags(app);
  check_numbers(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return said_all(parse_failure(app, error, argc, argv));
  }
  if (const Status valued = check_no_empty_values(app); !valued.ok()) {
    const std::string name = full_name(parsed_command(app));
    const Words words{"", said(name, valued.message()), static_cast<int>(valued.code())};
    return speak(words, name, argc, argv).exit_code;
  }
  const Command* command = parsed_one(commands);
  if (command == nullptr) return static_cast<int>(Code::usage);
  while (const Command* below = parsed_one(command->below)) command = below;
  outlive_file_size_limits();
  if (command->parallel) return said_all(run_parallel(*command, argc, argv));
  if (command->is_on_all_ranks) return said_all(command->local());
  const Voice voice = speak({}, full_name(*command->app), argc, argv);
  return said_all(voice.exit_code == 0 && voice.is_first ? command->local() : voice.exit_code);
}

}  // namespace neve::cli
