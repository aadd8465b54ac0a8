// SPDX-License-Identifier: BSD-3-Clause
#include "io/files/stage_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "io/files/list_folder.hpp"
#include "io/files/stamped_name.hpp"

namespace neve::files {
namespace {

constexpr const char* stem = ".neve-stage-";

std::string on_this_machine(const std::string& folder) {
  char host[256] = {};
  ::gethostname(host, sizeof host - 1);
  return "stage " + folder + " on " + host;
}

// What a file system that has no files without a name answers.
bool has_no_nameless(int error) {
  return error == EOPNOTSUPP || error == EISDIR || error == ENOENT || error == EINVAL;
}

// Best effort: what cannot be listed or removed stays.
void clear_left_behind(const std::string& folder) {
  const auto entries = list_folder(folder);
  if (!entries.ok()) return;
  for (const Entry& entry : *entries) {
    const std::string path = folder + "/" + entry.name;
    struct stat found;
    const bool is_own = is_left_behind(entry.name, stem) && ::lstat(path.c_str(), &found) == 0 &&
                        S_ISREG(found.st_mode) && found.st_uid == ::geteuid();
    if (is_own) ::unlink(path.c_str());
  }
}

// Of what open() has just returned.
Result<std::optional<ScratchFile>> made_or_full(Descriptor file, const std::string& folder) {
  const int error = errno;
  if (file.is_open()) return std::optional(ScratchFile(std::move(file), on_this_machine(folder)));
  if (error == ENOSPC || error == EDQUOT) return std::optional<ScratchFile>();
  const std::string what = on_this_machine(folder) + " takes no file";
  errno = error;
  return system_failure(what);
}

}  // namespace

Status check_stage(const std::string& folder) {
  struct stat found;
  if (::stat(folder.c_str(), &found) != 0) return system_failure(on_this_machine(folder));
  if (!S_ISDIR(found.st_mode)) return usage_error(on_this_machine(folder) + " is no folder; one is needed");
  if (::access(folder.c_str(), W_OK | X_OK) != 0)
    return system_failure(on_this_machine(folder) + " cannot be written");
  return {};
}

Result<std::optional<ScratchFile>> make_stage_file(const std::string& folder) {
  Descriptor nameless(::open(folder.c_str(), O_RDWR | O_TMPFILE | O_EXCL | O_CLOEXEC, 0600));
  if (!nameless.is_open() && has_no_nameless(errno)) return make_stage_file_by_name(folder);
  return made_or_full(std::move(nameless), folder);
}

Result<std::optional<ScratchFile>> make_stage_file_by_name(const std::string& folder) {
  clear_left_behind(folder);
  NEVE_ASSIGN(const std::string stamped, stamped_name(stem));
  const std::string path = folder + "/" + stamped;
  Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (file.is_open() && ::unlink(path.c_str()) != 0) {
    return system_failure("cannot remove " + stamped + " from " + on_this_machine(folder));
  }
  return made_or_full(std::move(file), folder);
}

}  // namespace neve::files
