// SPDX-License-Identifier: BSD-3-Clause
#include "io/files/process.hpp"

#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <sstream>
#include <system_error>

namespace neve::files {
namespace {

std::string first_line(const std::string& path) {
  std::ifstream in(path);
  std::string line;
  std::getline(in, line);
  return line;
}

std::string process_space() {
  char host[256] = {};
  ::gethostname(host, sizeof host - 1);
  std::error_code error;
  const std::string text = std::string(host) + first_line("/proc/sys/kernel/random/boot_id") +
                           std::filesystem::read_symlink("/proc/self/ns/pid", error).string();
  char key[32];
  std::snprintf(key, sizeof key, "%016zx", std::hash<std::string>{}(text));
  return key;
}

struct ProcessState {
  char letter = '?';
  unsigned long long start = 0;  // ticks since boot
};

// From /proc/NUMBER/stat: the program's name, in parentheses, may hold anything; the state follows it, and 19
// fields further the start.
std::optional<ProcessState> state_of(long number) {
  const std::string line = first_line("/proc/" + std::to_string(number) + "/stat");
  const size_t name_end = line.rfind(')');
  if (name_end == std::string::npos) return {};
  std::istringstream fields(line.substr(name_end + 1));
  ProcessState state;
  std::string skipped;
  fields >> state.letter;
  constexpr int fields_between = 18;
  for (int i = 0; i < fields_between; ++i) fields >> skipped;
  fields >> state.start;
  if (!fields) return {};
  return state;
}

bool has_ended(long number, unsigned long long start) {
  if (::kill(static_cast<pid_t>(number), 0) != 0 && errno == ESRCH) return true;
  const auto state = state_of(number);
  if (!state) return false;
  return state->letter == 'Z' || state->letter == 'X' || (start != 0 && state->start != start);
}

}  // namespace

std::string process_name() {
  const long number = ::getpid();
  // 0 where /proc does not tell.
  const unsigned long long start = state_of(number).value_or(ProcessState{}).start;
  return process_space() + "-" + std::to_string(number) + "-" + std::to_string(start);
}

bool is_of_ended_process(std::string_view name) {
  const std::string space = process_space() + "-";
  if (!name.starts_with(space)) return false;
  name.remove_prefix(space.size());
  const char* const end = name.data() + name.size();
  long number = 0;
  unsigned long long start = 0;
  const auto [dash, number_error] = std::from_chars(name.data(), end, number);
  if (number_error != std::errc() || number <= 0 || dash == end || *dash != '-') return false;
  const auto [rest, start_error] = std::from_chars(dash + 1, end, start);
  return start_error == std::errc() && rest == end && has_ended(number, start);
}

}  // namespace neve::files
