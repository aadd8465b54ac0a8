// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/temporary.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <random>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace neve::mpi {
namespace {

namespace fs = std::filesystem;

Status system_error(const std::string& what) { return failure(what + ": " + std::strerror(errno)); }

Status sync_tree(const fs::path& root) {
  std::error_code error;
  for (fs::recursive_directory_iterator it(root, error), end; !error && it != end; it.increment(error)) {
    NEVE_TRY(sync_path(it->path().string()));
  }
  if (error) return failure(root.string() + ": " + error.message());
  return sync_path(root.string());
}

Status check_replaceable(const fs::path& target, Temporary::Kind kind) {
  std::error_code error;
  const fs::file_status status = fs::status(target, error);
  if (status.type() == fs::file_type::not_found) return {};
  if (error) return failure(target.string() + ": " + error.message());
  if (kind == Temporary::Kind::file) {
    if (fs::is_regular_file(status)) return {};
    return usage_error(target.string() + " exists and is not a regular file; only a file can be replaced");
  }
  if (!fs::is_directory(status)) {
    return usage_error(target.string() + " exists and is not a directory; only a plotfile can be replaced");
  }
  if (fs::is_empty(target, error) || fs::exists(target / "Header", error)) return {};
  return usage_error(target.string() +
                     " exists and is not a plotfile (it has no Header); it is not replaced");
}

// The old directory takes the temporary name in the same step in which the new one takes its place.
Status swap_directories(const std::string& from, const std::string& to) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_EXCHANGE) == 0) return {};
  if (errno != EINVAL && errno != ENOSYS) return system_error("renaming " + from + " to " + to);
  // A file system without exchange: two steps, the first undone where the second fails.
  const std::string aside = from + "-old";
  if (::rename(to.c_str(), aside.c_str()) != 0) return system_error("renaming " + to + " to " + aside);
  if (::rename(from.c_str(), to.c_str()) != 0) {
    const Status status = system_error("renaming " + from + " to " + to);
    if (::rename(aside.c_str(), to.c_str()) != 0) {
      return failure(status.message() + "; the earlier plotfile is now " + aside);
    }
    return status;
  }
  if (::rename(aside.c_str(), from.c_str()) != 0) return system_error("renaming " + aside + " to " + from);
  return {};
}

std::string first_line(const char* path) {
  std::ifstream in(path);
  std::string line;
  std::getline(in, line);
  return line;
}

// Where a process number means one process: this boot of this machine, this container.
std::string process_space() {
  char host[256] = {};
  ::gethostname(host, sizeof host - 1);
  std::error_code error;
  const std::string text = std::string(host) + first_line("/proc/sys/kernel/random/boot_id") +
                           fs::read_symlink("/proc/self/ns/pid", error).string();
  char key[32];
  std::snprintf(key, sizeof key, "%016zx", std::hash<std::string>{}(text));
  return key;
}

// A process, also after its number has been given to another.
struct Process {
  long number = 0;
  unsigned long long start = 0;  // ticks since boot; 0 where /proc does not tell
};

struct ProcessState {
  char letter = '?';
  unsigned long long start = 0;
};

// From /proc/NUMBER/stat: the name, in parentheses, may hold anything; the state follows it, and 19 fields
// further the start.
std::optional<ProcessState> state_of(long number) {
  const std::string line = first_line(("/proc/" + std::to_string(number) + "/stat").c_str());
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

bool is_gone(const Process& process) {
  if (::kill(static_cast<pid_t>(process.number), 0) != 0 && errno == ESRCH) return true;
  const auto state = state_of(process.number);
  if (!state) return false;
  return state->letter == 'Z' || state->letter == 'X' ||
         (process.start != 0 && state->start != process.start);
}

// Temporary names of a target: .NAME.neve-tmp-SPACE-PROCESS-START-RANDOM. The process number tells people
// whose it was, too; the random part keeps the writes of one process apart.
std::string name_stem(const fs::path& target) {
  std::string stem = ".";
  stem += target.filename().string();
  stem += ".neve-tmp-";
  return stem;
}

// The process that made a temporary name, where it is one of this space and exactly of this shape.
std::optional<Process> process_of(std::string_view name, const std::string& stem_of_space) {
  if (!name.starts_with(stem_of_space)) return {};
  name.remove_prefix(stem_of_space.size());
  Process process;
  const auto take_number = [&](auto& number) {
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (error != std::errc() || end == name.data() + name.size() || *end != '-') return false;
    name.remove_prefix(static_cast<size_t>(end + 1 - name.data()));
    return true;
  };
  if (!take_number(process.number) || process.number <= 0 || !take_number(process.start)) return {};
  constexpr size_t random_digits = 8;
  if (name.size() != random_digits || name.find_first_not_of("0123456789abcdef") != std::string_view::npos) {
    return {};
  }
  return process;
}

// Best effort: what cannot be listed or removed stays.
void remove_stale(const fs::path& directory, const std::string& stem_of_space) {
  std::error_code error;
  std::vector<fs::path> stale;
  for (fs::directory_iterator it(directory, error), end; !error && it != end; it.increment(error)) {
    const auto process = process_of(it->path().filename().string(), stem_of_space);
    if (process && is_gone(*process)) stale.push_back(it->path());
  }
  for (const fs::path& path : stale) fs::remove_all(path, error);
}

}  // namespace

Result<Temporary> Temporary::beside(const std::string& target, Kind kind) {
  if (target.empty()) return usage_error("the path to write is empty");
  fs::path final_path = target;
  std::error_code error;
  if (kind == Kind::directory && !final_path.has_filename()) final_path = final_path.parent_path();
  if (!final_path.has_filename()) return usage_error(target + " does not name a file");
  if (fs::is_symlink(final_path, error)) {
    final_path = fs::canonical(final_path, error);
    if (error) return failure(target + ": following the symbolic link: " + error.message());
  }
  const fs::path directory = final_path.has_parent_path() ? final_path.parent_path() : fs::path(".");
  if (!fs::is_directory(directory, error)) {
    return failure(target + ": directory " + directory.string() + " does not exist");
  }
  if (::access(directory.c_str(), W_OK | X_OK) != 0) {
    return system_error(target + ": directory " + directory.string() + " cannot be written");
  }
  NEVE_TRY(check_replaceable(final_path, kind));

  Temporary temporary;
  temporary.kind_ = kind;
  temporary.target_ = final_path.string();
  const std::string stem = name_stem(final_path) + process_space() + "-";
  remove_stale(directory, stem);
  const long number = ::getpid();
  char suffix[64];
  std::snprintf(suffix, sizeof suffix, "%ld-%llu-%08x", number,
                state_of(number).value_or(ProcessState{}).start, std::random_device{}());
  temporary.path_ = (directory / (stem + suffix)).string();
  return temporary;
}

Temporary::Temporary(Temporary&& other) noexcept
    : target_(std::move(other.target_)), path_(std::exchange(other.path_, {})), kind_(other.kind_) {}

Temporary::~Temporary() {
  if (path_.empty()) return;
  std::error_code ignored;  // there is nobody left to tell
  fs::remove_all(path_, ignored);
}

Status Temporary::commit() {
  if (kind_ == Kind::file) {
    NEVE_TRY(sync_path(path_));
    if (::rename(path_.c_str(), target_.c_str()) != 0) {
      return system_error("renaming " + path_ + " to " + target_);
    }
    path_.clear();
  } else {
    NEVE_TRY(sync_tree(path_));
    struct stat existing;
    if (::stat(target_.c_str(), &existing) == 0) {
      NEVE_TRY(swap_directories(path_, target_));
    } else {
      if (::rename(path_.c_str(), target_.c_str()) != 0) {
        return system_error("renaming " + path_ + " to " + target_);
      }
      path_.clear();
    }
  }
  const fs::path parent = fs::path(target_).parent_path();
  return sync_path(parent.empty() ? "." : parent.string())
      .in(target_ + " is written, but its name may not last");
}

}  // namespace neve::mpi
