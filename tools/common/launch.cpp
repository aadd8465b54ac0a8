// SPDX-License-Identifier: BSD-3-Clause
#include "tools/common/launch.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <set>

#include "tools/common/python.hpp"

extern char** environ;

namespace neve::cli {
namespace {

namespace fs = std::filesystem;

Result<std::string> find_library(const std::string& name, const char* variable) {
  std::error_code error;
  if (const char* chosen = std::getenv(variable); chosen != nullptr && *chosen != '\0') {
    if (fs::is_regular_file(chosen, error)) return fs::absolute(chosen).string();
    return failure(fmt::format("{} '{}' is not a file; allowed: the path of {}", variable, chosen, name));
  }
  const fs::path root = fs::path(own_path()).parent_path().parent_path();
  for (const char* folder :
       {"lib", "lib/neve", "lib/x86_64-linux-gnu/neve", "lib/aarch64-linux-gnu/neve", "lib64/neve"}) {
    const fs::path library = root / folder / name;
    if (fs::is_regular_file(library, error)) return library.string();
  }
  return failure(
      fmt::format("no {} beside {}; set {} to the path of one elsewhere", name, own_path(), variable));
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

pid_t child_process = 0;
bool has_changed_signal = false;  // that of files which grow beyond the limit

}  // namespace

void outlive_file_size_limits() { has_changed_signal = signal(SIGXFSZ, SIG_IGN) == SIG_DFL; }

Result<std::string> find_preload(const std::string& name, const char* variable) {
  NEVE_ASSIGN(std::string library, find_library(name, variable));
  if (library.find_first_of(": ") != std::string::npos) {
    return failure(fmt::format(
        "{}: LD_PRELOAD cannot hold a path with a space or a colon; set {} to a copy or a link elsewhere",
        library, variable));
  }
  if (const char* before = std::getenv("LD_PRELOAD"); before != nullptr && *before != '\0') {
    library += std::string(":") + before;
  }
  return library;
}

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

Result<int> run_to_end(const std::vector<std::string>& words) {
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  sigset_t defaults;
  sigemptyset(&defaults);
  if (has_changed_signal) sigaddset(&defaults, SIGXFSZ);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  const int spawned = posix_spawnp(&child_process, argv[0], nullptr, &attributes, argv.data(), environ);
  posix_spawnattr_destroy(&attributes);
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

}  // namespace neve::cli
