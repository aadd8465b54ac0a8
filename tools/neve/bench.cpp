// SPDX-License-Identifier: BSD-3-Clause
// `neve bench`: hands over to neve-bench, which a product without benchmarks does not have.
#include "tools/neve/bench.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "tools/common/console.hpp"
#include "tools/common/python.hpp"
#include "tools/neve/commands.hpp"

namespace neve::cli {

int exec_bench(const std::string& command, const std::vector<std::string>& arguments) {
  const std::string program = (std::filesystem::path(own_path()).parent_path() / "neve-bench").string();
  std::vector<std::string> words = {program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  execv(program.c_str(), argv.data());
  say(command, errno == ENOENT ? fmt::format("the benchmarks are a program of their own, and there is no {}; "
                                             "build Neve with -DNEVE_BENCH=ON",
                                             program)
                               : fmt::format("cannot run {}: {}", program, std::strerror(errno)));
  return static_cast<int>(Code::failure);
}

Command add_bench(CLI::App& app) {
  CLI::App* sub = app.add_subcommand(
      "bench",
      "Run benchmarks, mini-apps and studies (the program neve-bench, if it is installed; see its --help)");
  sub->prefix_command()->set_help_flag();
  Command command{sub, {}, {}};
  command.local = [sub] { return exec_bench("bench", sub->remaining()); };
  command.is_on_all_ranks = true;  // mini-apps run under mpirun
  return command;
}

}  // namespace neve::cli
