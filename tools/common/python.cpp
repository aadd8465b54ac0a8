// SPDX-License-Identifier: BSD-3-Clause
#include "tools/common/python.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "tools/common/console.hpp"

extern char** environ;

namespace neve::cli {
namespace {

std::vector<char*> as_argv(const std::vector<std::string>& words) {
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  return argv;
}

struct MemoryFile {
  const int number = memfd_create("output", MFD_CLOEXEC);
  MemoryFile() = default;
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile() {
    if (number >= 0) close(number);
  }

  Result<std::string> text() const {
    const off_t bytes = lseek(number, 0, SEEK_END);
    if (bytes < 0) return failure(fmt::format("cannot read what Python wrote: {}", std::strerror(errno)));
    std::string all(static_cast<size_t>(bytes), '\0');
    size_t have = 0;
    while (have < all.size()) {
      const ssize_t got = pread(number, all.data() + have, all.size() - have, static_cast<off_t>(have));
      if (got <= 0) return failure(fmt::format("cannot read what Python wrote: {}", std::strerror(errno)));
      have += static_cast<size_t>(got);
    }
    return all;
  }
};

bool imports_neve(const std::string& python) {
  posix_spawn_file_actions_t quiet;
  posix_spawn_file_actions_init(&quiet);
  posix_spawn_file_actions_addopen(&quiet, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&quiet, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  const std::vector<std::string> words = {python, "-c", "import neve"};
  pid_t child = 0;
  const int spawned = posix_spawnp(&child, python.c_str(), &quiet, nullptr, as_argv(words).data(), environ);
  posix_spawn_file_actions_destroy(&quiet);
  if (spawned != 0) return false;
  int wait_status = 0;
  while (waitpid(child, &wait_status, 0) < 0) {
    if (errno != EINTR) return false;
  }
  return WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == 0;
}

}  // namespace

std::string own_path() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error).string();
}

Result<std::string> find_python() {
  if (const char* chosen = std::getenv("NEVE_PYTHON"); chosen != nullptr && *chosen != '\0') {
    if (imports_neve(chosen)) return std::string(chosen);
    return failure(
        fmt::format("NEVE_PYTHON '{}' cannot import neve; allowed: a Python in which `import neve` works "
                    "(pip install . in the checkout)",
                    chosen));
  }
  const auto checkout = std::filesystem::path(own_path()).parent_path().parent_path().parent_path();
  std::vector<std::string> candidates = {(checkout / ".venv/bin/python").string(), "python3"};
  for (const std::string& candidate : candidates) {
    if (imports_neve(candidate)) return candidate;
  }
  return failure(
      fmt::format("no Python that can import neve; tried {} and {}. Cure: `make build` in the checkout, or "
                  "`pip install .` there and NEVE_PYTHON=<that python>",
                  candidates[0], candidates[1]));
}

int exec_module(const std::string& module, const std::vector<std::string>& arguments) {
  auto python = find_python();
  if (!python.ok()) {
    say(python.status().message());
    return static_cast<int>(python.status().code());
  }
  std::vector<std::string> words = {*python, "-m", module};
  words.insert(words.end(), arguments.begin(), arguments.end());
  const auto command = std::filesystem::path(own_path()).parent_path() / "neve";
  setenv("NEVE_COMMAND", command.c_str(), 1);
  execvp(python->c_str(), as_argv(words).data());
  say(fmt::format("cannot run {}: {}", *python, std::strerror(errno)));
  return static_cast<int>(Code::failure);
}

int exec_module(const std::string& module, const std::vector<std::string>& arguments,
                const std::string& input) {
  const int fd = memfd_create("input", MFD_CLOEXEC);
  size_t written = 0;
  while (fd >= 0 && written < input.size()) {
    const ssize_t bytes = write(fd, input.data() + written, input.size() - written);
    if (bytes <= 0) break;
    written += static_cast<size_t>(bytes);
  }
  if (fd < 0 || written < input.size() || lseek(fd, 0, SEEK_SET) != 0 || dup2(fd, STDIN_FILENO) < 0) {
    say(fmt::format("cannot hand the results to Python: {}", std::strerror(errno)));
    return static_cast<int>(Code::failure);
  }
  return exec_module(module, arguments);
}

Result<ModuleOutcome> run_module(const std::string& module, const std::vector<std::string>& arguments) {
  NEVE_ASSIGN(const std::string python, find_python());
  std::vector<std::string> words = {python, "-m", module};
  words.insert(words.end(), arguments.begin(), arguments.end());
  // Files in memory: two pipes would have to be emptied side by side.
  const MemoryFile out, err;
  if (out.number < 0 || err.number < 0)
    return failure(fmt::format("no file in memory: {}", std::strerror(errno)));
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, out.number, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, err.number, STDERR_FILENO);
  pid_t child = 0;
  const int spawned = posix_spawnp(&child, python.c_str(), &actions, nullptr, as_argv(words).data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (spawned != 0) return failure(fmt::format("cannot run {}: {}", python, std::strerror(spawned)));
  ModuleOutcome outcome;
  while (waitpid(child, &outcome.wait_status, 0) < 0) {
    if (errno != EINTR) return failure(fmt::format("cannot wait for {}: {}", python, std::strerror(errno)));
  }
  NEVE_ASSIGN(outcome.out, out.text());
  NEVE_ASSIGN(outcome.err, err.text());
  return outcome;
}

}  // namespace neve::cli
