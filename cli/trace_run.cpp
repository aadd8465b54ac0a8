// SPDX-License-Identifier: BSD-3-Clause
// `neve trace run`: a program with the trace library in its processes.
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <set>

#include "cli/console.hpp"
#include "cli/python.hpp"
#include "cli/trace.hpp"
#include "neve/status.hpp"
#include "trace/collect.hpp"
#include "trace/json.hpp"
#include "trace/settings.hpp"

extern char** environ;

namespace neve::cli {
namespace {

namespace fs = std::filesystem;

struct Args {
  std::string output = trace::default_output;
  std::vector<std::string> include, exclude, words;
  int memory_mib = 64, sizes = 65536;
};

using Variables = std::vector<std::pair<std::string, std::string>>;

// NEVE_TRACE_LIBRARY; else beside this command, in a build folder or an installation.
Result<std::string> find_library() {
  constexpr const char* name = "libneve_trace.so";
  std::error_code error;
  if (const char* chosen = std::getenv("NEVE_TRACE_LIBRARY"); chosen != nullptr && *chosen != '\0') {
    if (fs::is_regular_file(chosen, error)) return fs::absolute(chosen).string();
    return failure(fmt::format("NEVE_TRACE_LIBRARY '{}' is no file; allowed: the path of {}", chosen, name));
  }
  const fs::path root = fs::path(own_path()).parent_path().parent_path();
  for (const char* folder :
       {"lib", "lib/neve", "lib/x86_64-linux-gnu/neve", "lib/aarch64-linux-gnu/neve", "lib64/neve"}) {
    const fs::path library = root / folder / name;
    if (fs::is_regular_file(library, error)) return library.string();
  }
  return failure(fmt::format("no {} beside {}; NEVE_TRACE_LIBRARY names one elsewhere", name, own_path()));
}

// What a launcher calls itself; nothing when `word` is no launcher of MPI programs.
std::string launcher_version(const std::string& word) {
  const std::string name = fs::path(word).filename().string();
  const std::string stem = name.substr(0, name.find('.'));
  if (!std::set<std::string>{"mpirun", "mpiexec", "orterun", "prterun"}.contains(stem)) return {};
  int out[2];
  if (pipe2(out, O_CLOEXEC) != 0) return {};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  std::string program = word, option = "--version";
  char* argv[] = {program.data(), option.data(), nullptr};
  pid_t child = 0;
  const int spawned = posix_spawnp(&child, word.c_str(), &actions, nullptr, argv, environ);
  posix_spawn_file_actions_destroy(&actions);
  close(out[1]);
  std::string text;
  std::array<char, 4096> block;
  for (ssize_t got = 0; spawned == 0 && (got = read(out[0], block.data(), block.size())) > 0;) {
    text.append(block.data(), static_cast<size_t>(got));
  }
  close(out[0]);
  if (spawned == 0) waitpid(child, nullptr, 0);
  return text;
}

// The words to run. A launcher is told to give the variables to the ranks alone, wherever they run; for
// anything else they go into the environment, which what it starts inherits.
std::vector<std::string> with_variables(const std::vector<std::string>& words, const Variables& variables) {
  const std::string version = launcher_version(words[0]);
  const bool is_open_mpi = version.find("Open MPI") != std::string::npos ||
                           version.find("OpenRTE") != std::string::npos ||
                           version.find("PRTE") != std::string::npos;
  const bool is_hydra =
      version.find("HYDRA") != std::string::npos || version.find("Intel(R) MPI") != std::string::npos;
  if (!is_open_mpi && !is_hydra) {
    for (const auto& [name, value] : variables) setenv(name.c_str(), value.c_str(), 1);
    return words;
  }
  std::vector<std::string> result = {words[0]};
  for (const auto& [name, value] : variables) {
    if (is_open_mpi) {
      result.insert(result.end(), {"-x", name + "=" + value});
    } else {
      result.insert(result.end(), {"-genv", name, value});
    }
  }
  result.insert(result.end(), words.begin() + 1, words.end());
  return result;
}

pid_t child_process = 0;

// The exit code as a shell would give it.
Result<int> run_to_end(const std::vector<std::string>& words) {
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  const int spawned = posix_spawnp(&child_process, argv[0], nullptr, nullptr, argv.data(), environ);
  if (spawned != 0) return failure(fmt::format("cannot run {}: {}", words[0], std::strerror(spawned)));
  // The trace is put together after an interruption, too. The keyboard's signal reaches the program itself.
  signal(SIGINT, SIG_IGN);
  signal(SIGTERM, [](int number) { kill(child_process, number); });
  int status = 0;
  while (waitpid(child_process, &status, 0) < 0) {
    if (errno != EINTR) return failure(fmt::format("waiting for {}: {}", words[0], std::strerror(errno)));
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// An older trace makes way; a file that is something else does not.
Status make_way(const std::string& output) {
  std::error_code error;
  if (fs::exists(output, error)) {
    if (auto old = trace::read_trace_file(output); !old.ok()) {
      return usage_error(
          fmt::format("{} exists and is no trace; allowed for --output: a new name, or an older "
                      "trace to replace",
                      output));
    }
    fs::remove(output, error);
  }
  const std::string parts = trace::parts_folder_of(output);
  fs::remove_all(parts, error);
  // Made here, so that a folder that cannot be written is found before the program runs.
  fs::create_directories(parts, error);
  if (error) return failure(fmt::format("{}: {}", parts, error.message()));
  return {};
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ":") + word;
  return text;
}

Status put_together(const Args& args, const std::string& output) {
  auto collected = trace::collect(output);
  if (!collected.ok()) {
    std::error_code error;
    fs::remove(trace::parts_folder_of(output), error);
    return failure(
        "no process told anything: the program used no file that is traced (--include), or is linked "
        "statically, "
        "or clears its environment");
  }
  collected->trace.command = args.words;
  bool exists = false;
  NEVE_TRY(trace::write_trace_file(collected->trace, output, trace::Existing::replace, exists));
  std::error_code error;
  for (const std::string& name : collected->leftovers) fs::remove(name, error);
  fs::remove(trace::parts_folder_of(output), error);
  for (const std::string& why : collected->unreadable) say("trace run: " + why);

  trace::Counters total;
  for (const auto& [path, file] : collected->trace.files) total.merge(file.total());
  const auto writes = [&](trace::Level level) { return total.at(level, trace::Direction::write).calls(); };
  say(fmt::format(
      "trace of {} processes and {} files in {}: {} MPI-IO writes, {} POSIX writes, {} stdio writes",
      collected->trace.processes.size(), collected->trace.files.size(), output, writes(trace::Level::mpiio),
      writes(trace::Level::posix), writes(trace::Level::stdio)));
  return {};
}

Result<int> trace_run(const Args& args) {
  const std::string output = fs::absolute(args.output).lexically_normal().string();
  NEVE_ASSIGN(std::string library, find_library());
  if (library.find_first_of(": ") != std::string::npos) {
    return failure(
        fmt::format("{}: LD_PRELOAD takes no path with a space or a colon; NEVE_TRACE_LIBRARY may "
                    "name a copy or a link elsewhere",
                    library));
  }
  NEVE_TRY(make_way(output));
  if (const char* before = std::getenv("LD_PRELOAD"); before != nullptr && *before != '\0') {
    library += std::string(":") + before;
  }
  Variables variables = {{"LD_PRELOAD", library},
                         {trace::output_variable, output},
                         {trace::memory_variable, std::to_string(args.memory_mib)},
                         {trace::sizes_variable, std::to_string(args.sizes)}};
  if (!args.include.empty()) variables.emplace_back(trace::include_variable, joined(args.include));
  if (!args.exclude.empty()) variables.emplace_back(trace::exclude_variable, joined(args.exclude));
  NEVE_ASSIGN(const int exit_code, run_to_end(with_variables(args.words, variables)));
  if (Status status = put_together(args, output); !status.ok()) {
    // A program that failed is the more important news.
    if (exit_code == 0) return status;
    say("trace run: " + status.message());
  }
  return exit_code;
}

}  // namespace

TraceCommand add_trace_run(CLI::App& parent) {
  CLI::App* sub = parent.add_subcommand("run", "Run a program, MPI or not, and count its reads and writes");
  auto args = std::make_shared<Args>();
  sub->add_option("-o,--output", args->output, "the trace to write (neve-trace.json)");
  sub->add_option("--include", args->include, "count files of this pattern too, though left out otherwise")
      ->type_name("PATTERN")
      ->allow_extra_args(false);
  sub->add_option("--exclude", args->exclude, "leave out files of this pattern")
      ->type_name("PATTERN")
      ->allow_extra_args(false);
  sub->add_option("--memory", args->memory_mib, "MiB of counts a process keeps at most (64)")
      ->check(CLI::Range(1, 2048));
  sub->add_option("--sizes", args->sizes, "different access sizes kept for a file at most (65536)")
      ->check(CLI::Range(16, 1 << 24));
  sub->add_option("command", args->words, "the program and its arguments, after --")->required();
  sub->footer(
      "Left out unless included: /proc, /sys, /dev (not /dev/shm), /etc, /usr, /bin, /sbin, /lib, /opt, "
      "/var,\n"
      "/run, libraries, Python's packages, what MPI keeps for itself. A pattern is a shell's, against the "
      "whole\n"
      "path; * matches a / as well.\n"
      "Ends with the program's exit code; 1 where there is no trace, 2 for a wrong call.\n"
      "Examples:\n"
      "  neve trace run -o trace.json -- mpirun -n 4 ./simulation input\n"
      "  neve trace run --exclude '*.log' -- python3 analysis.py\n"
      "  neve trace run -o acb.json -- ./job.sh           # all that the script starts\n"
      "  mpirun -n 4 -x LD_PRELOAD=/opt/neve/lib/neve/libneve_trace.so -x NEVE_TRACE_OUTPUT=$PWD/t.json "
      "./simulation");
  TraceCommand command{sub, {}};
  command.work = [args] {
    auto exit_code = trace_run(*args);
    if (exit_code.ok()) return *exit_code;
    say("trace run: " + exit_code.status().message());
    return static_cast<int>(exit_code.status().code());
  };
  return command;
}

}  // namespace neve::cli
