// SPDX-License-Identifier: BSD-3-Clause
#include "tools/common/session_folder.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace neve::cli {
namespace {

constexpr std::string_view name_pattern = "neve-mpi-XXXXXX";

// Of the watcher: why there is no folder, or its name.
struct Answer {
  int fault;
  char name[name_pattern.size()];
};

constexpr int most_levels = 16;  // MPI's own folders are three deep
constexpr int open_folder = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

bool is_dot(const char* name) { return std::strcmp(name, ".") == 0 || std::strcmp(name, "..") == 0; }

// Everything in the open folder. A link is removed, never followed.
void remove_contents(int folder, int levels) {
  DIR* const entries = fdopendir(fcntl(folder, F_DUPFD_CLOEXEC, 3));
  if (entries == nullptr) return;
  while (const dirent* entry = readdir(entries)) {
    if (is_dot(entry->d_name) || unlinkat(folder, entry->d_name, 0) == 0 || levels == 0) continue;
    const int below = openat(folder, entry->d_name, open_folder);
    if (below < 0) continue;
    remove_contents(below, levels - 1);
    close(below);
    unlinkat(folder, entry->d_name, AT_REMOVEDIR);
  }
  closedir(entries);
}

// The folder, if what has its name is still it.
void remove_folder(int parent, int folder, const char* name) {
  remove_contents(folder, most_levels);
  struct stat open_one {
  }, named{};
  if (fstat(folder, &open_one) != 0 || fstatat(parent, name, &named, AT_SYMLINK_NOFOLLOW) != 0) return;
  if (open_one.st_dev == named.st_dev && open_one.st_ino == named.st_ino) {
    unlinkat(parent, name, AT_REMOVEDIR);
  }
}

// Holds none of the command's files open: who reads its output waits for the command alone.
void keep_only(int (&kept)[3]) {
  constexpr int first_place = 10;
  for (int i = 0; i < 3; ++i) kept[i] = fcntl(kept[i], F_DUPFD_CLOEXEC, first_place);
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (int standard = 0; standard < 3; ++standard) {
    if (null < 0 || dup2(null, standard) < 0) close(standard);
  }
  const long most = sysconf(_SC_OPEN_MAX);
  const auto is_kept = [&](int file) { return file == kept[0] || file == kept[1] || file == kept[2]; };
  const int last = std::max({kept[0], kept[1], kept[2]});
  for (int file = 3; file <= last; ++file) {
    if (!is_kept(file)) close(file);
  }
#ifdef SYS_close_range
  if (syscall(SYS_close_range, static_cast<unsigned>(last + 1), ~0U, 0U) == 0) return;
#endif
  for (int file = last + 1; file < most; ++file) close(file);
}

const char* name_in(const std::string& path) { return path.c_str() + path.rfind('/') + 1; }

std::string temporary_place() {
  for (const char* variable : {"TMPDIR", "TMP", "TEMP", "TEMPDIR"}) {
    const char* const place = std::getenv(variable);
    if (place != nullptr && *place != '\0') return place;
  }
  return "/tmp";
}

}  // namespace

Status SessionFolder::make() {
  place_ = temporary_place();
  sigset_t all, before;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, &before);  // for the watcher, which keeps them blocked
  const int fault = start_watcher() ? hear_of_it() : make_it();
  sigprocmask(SIG_SETMASK, &before, nullptr);
  if (fault == 0) return {};
  return failure(fmt::format(
      "{}: no folder for the files of MPI can be made there ({}); set TMPDIR to a folder that can be written",
      place_, std::strerror(fault)));
}

// Returns errno.
int SessionFolder::make_it() {
  std::string path = place_ + "/" + std::string(name_pattern);
  if (mkdtemp(path.data()) == nullptr) return errno;
  path_ = path;
  hold_it();
  return 0;
}

void SessionFolder::hold_it() {
  parent_ = open(place_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  folder_ = parent_ < 0 ? -1 : openat(parent_, name_in(path_), open_folder);
}

// The child: makes the folder, says what it is called, and waits until nobody holds the other end of the
// pipe. All signals stay blocked, and it has a session of its own, so what a terminal sends to the command
// does not end it.
void SessionFolder::watch(int lifeline, int answer) {
  setsid();
  Answer made{};
  made.fault = make_it();
  if (made.fault == 0) std::memcpy(made.name, name_in(path_), name_pattern.size());
  if (write(answer, &made, sizeof made) != sizeof made || made.fault != 0) {
    if (folder_ >= 0) remove_folder(parent_, folder_, name_in(path_));
    _exit(1);
  }
  int kept[3] = {lifeline, parent_, folder_};
  keep_only(kept);
  char nothing = 0;
  if (chdir("/") == 0) {
    while (read(kept[0], &nothing, 1) < 0 && errno == EINTR) {
    }
  }
  remove_folder(kept[1], kept[2], name_in(path_));
  _exit(0);
}

// Whether there is one. It makes the folder itself, so there is no moment in which the folder has none.
bool SessionFolder::start_watcher() {
  int ends[2] = {-1, -1}, answer[2] = {-1, -1};
  if (pipe2(ends, O_CLOEXEC) != 0) return false;
  if (pipe2(answer, O_CLOEXEC) != 0) {
    close(ends[0]);
    close(ends[1]);
    return false;
  }
  watcher_ = fork();
  if (watcher_ == 0) {
    close(ends[1]);
    close(answer[0]);
    watch(ends[0], answer[1]);
  }
  close(ends[0]);
  close(answer[1]);
  lifeline_ = ends[1];
  answer_ = answer[0];
  return watcher_ > 0;
}

// From the watcher. Returns errno.
int SessionFolder::hear_of_it() {
  Answer made{};
  ssize_t heard = 0;
  while ((heard = read(answer_, &made, sizeof made)) < 0 && errno == EINTR) {
  }
  if (heard != sizeof made) return ECHILD;
  if (made.fault != 0) return made.fault;
  path_ = place_ + "/" + std::string(made.name, name_pattern.size());
  hold_it();
  return 0;
}

SessionFolder::~SessionFolder() {
  if (answer_ >= 0) close(answer_);
  if (lifeline_ >= 0) close(lifeline_);
  if (watcher_ > 0) {
    while (waitpid(watcher_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  // What the watcher removed is no longer there.
  if (folder_ >= 0) {
    remove_folder(parent_, folder_, name_in(path_));
    close(folder_);
  }
  if (parent_ >= 0) close(parent_);
}

}  // namespace neve::cli
