// SPDX-License-Identifier: BSD-3-Clause
#include "io/files/temporary_folder.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <new>
#include <utility>

#include "io/files/descriptor.hpp"
#include "io/files/mode.hpp"
#include "io/files/write.hpp"

namespace neve::files {
namespace {

bool exists(const std::string& path) {
  struct stat found;
  return ::lstat(path.c_str(), &found) == 0;
}

bool cannot_do_flags(int error) { return error == EINVAL || error == ENOSYS || error == EOPNOTSUPP; }

// 0, or errno of the first part that cannot be removed: it stays, and keeps its folders.
int remove_parts(const std::string& folder, const Parts& parts) noexcept {
  const Descriptor opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  int reason = 0;
  const auto note = [&](int result) {
    if (result != 0 && reason == 0) reason = errno;
  };
  for (const std::string& part : parts) {
    const int removed = ::unlinkat(opened.number(), part.c_str(), 0);
    note(removed != 0 && errno == EISDIR ? ::unlinkat(opened.number(), part.c_str(), AT_REMOVEDIR) : removed);
  }
  note(::rmdir(folder.c_str()));
  return reason;
}

Status check_can_be_emptied(const std::string& path) {
  struct stat found;
  if (::lstat(path.c_str(), &found) != 0 || !S_ISDIR(found.st_mode)) return {};
  return ::access(path.c_str(), W_OK | X_OK) == 0 ? Status() : system_failure(path + " cannot be replaced");
}

Status check_replaceable(const Target& target, const PartsOf& parts_of) {
  struct stat found;
  if (::lstat(target.path.c_str(), &found) != 0) return {};
  if (!S_ISDIR(found.st_mode)) {
    return usage_error(target.given + " exists and is not a directory; only a directory can be replaced");
  }
  NEVE_ASSIGN(const Parts parts, parts_of(target.path, target.given));
  // Else its parts could not be removed once it is replaced.
  for (const std::string& part : parts) NEVE_TRY(check_can_be_emptied(target.path + "/" + part));
  return check_can_be_emptied(target.path);
}

Status make_folder(const std::string& path) {
  if (::mkdir(path.c_str(), 0777) != 0) return system_failure(path);  // less the user's umask
  return {};
}

}  // namespace

TemporaryFolder::TemporaryFolder(Target target, PrivateFolder folder, PartsOf parts_of)
    : target_(std::move(target)),
      folder_(std::move(folder)),
      parts_of_(std::move(parts_of)),
      path_(folder_.made()) {}

Status TemporaryFolder::check(const std::string& target, const PartsOf& parts_of) {
  NEVE_ASSIGN(const Target found, find_target(target));
  return check_replaceable(found, parts_of);
}

Result<TemporaryFolder> TemporaryFolder::beside(const std::string& target, PartsOf parts_of) {
  NEVE_ASSIGN(Target found, find_target(target));
  NEVE_TRY(check_replaceable(found, parts_of));
  NEVE_ASSIGN(PrivateFolder folder, PrivateFolder::beside(found, [&](const std::string& earlier) {
                const Result<Parts> parts = parts_of(earlier, earlier);
                if (parts.ok()) remove_parts(earlier, *parts);
              }));
  NEVE_TRY(make_folder(folder.made()));
  return TemporaryFolder(std::move(found), std::move(folder), std::move(parts_of));
}

Status TemporaryFolder::take_free_name(bool& is_taken) const {
  const auto taken = [&] { return is_taken = errno == EEXIST || errno == ENOTEMPTY; };
  is_taken = false;
  if (::renameat2(AT_FDCWD, path_.c_str(), AT_FDCWD, target_.path.c_str(), RENAME_NOREPLACE) == 0) return {};
  if (taken()) return {};
  if (cannot_do_flags(errno)) {
    is_taken = exists(target_.path);
    if (is_taken || ::rename(path_.c_str(), target_.path.c_str()) == 0 || taken()) return {};
  }
  return system_failure("renaming " + path_ + " to " + target_.path);
}

// Afterwards the new one has the target's name, and the earlier one lies in the private folder.
Status TemporaryFolder::swap_with_earlier() {
  NEVE_TRY(folder_.mark_made());
  const char *made = path_.c_str(), *target = target_.path.c_str();
  const std::string& earlier = folder_.earlier();
  if (::renameat2(AT_FDCWD, made, AT_FDCWD, target, RENAME_EXCHANGE) == 0) {
    if (::rename(made, earlier.c_str()) == 0) return {};
    const int reason = errno;  // of the one error worth telling
    // The earlier one must not stay where the private folder is emptied.
    const bool is_back = ::renameat2(AT_FDCWD, made, AT_FDCWD, target, RENAME_EXCHANGE) == 0;
    errno = reason;
    if (!is_back) folder_.leave();
    const Status status = system_failure("renaming " + path_ + " to " + earlier);
    return is_back ? status : failure(status.message() + "; the earlier one is now " + path_);
  }
  if (!cannot_do_flags(errno)) return system_failure("exchanging " + path_ + " and " + target_.path);
  // A file system without exchange: two steps, the first undone where the second fails.
  if (::rename(target, earlier.c_str()) != 0) {
    return system_failure("renaming " + target_.path + " to " + earlier);
  }
  if (::rename(made, target) == 0) return {};
  const Status status = system_failure("renaming " + path_ + " to " + target_.path);
  if (::rename(earlier.c_str(), target) == 0) return status;
  return failure(status.message() + "; the earlier one is now " + earlier);
}

Status TemporaryFolder::swap_back() const {
  const std::string& earlier = folder_.earlier();
  if (::renameat2(AT_FDCWD, earlier.c_str(), AT_FDCWD, target_.path.c_str(), RENAME_EXCHANGE) == 0) {
    // The new one is to be removed with the private folder.
    if (::rename(earlier.c_str(), path_.c_str()) == 0) return {};
  } else if (::rename(target_.path.c_str(), path_.c_str()) == 0 &&
             ::rename(earlier.c_str(), target_.path.c_str()) == 0) {
    return {};
  }
  return failure(target_.given +
                 " is written, and the earlier one, in which something has changed meanwhile, is now " +
                 earlier);
}

Result<Parts> TemporaryFolder::parts_of_earlier() const {
  try {
    return parts_of_(folder_.earlier(), target_.given);
  } catch (const std::bad_alloc&) {  // the two have changed places, and are to change back
    return failure("out of memory");
  }
}

Status TemporaryFolder::finish() {
  folder_.remove();
  return sync_name(target_);
}

Status TemporaryFolder::replace() {
  NEVE_TRY(check_replaceable(target_, parts_of_));
  NEVE_TRY(keep_modes(path_, target_.path));
  NEVE_TRY(sync_tree(path_));
  NEVE_TRY(swap_with_earlier());
  // Here nobody finds it any more who looks for it: what is in it now is all that there will be.
  const Result<Parts> parts = parts_of_earlier();
  if (!parts.ok()) {
    NEVE_TRY(swap_back());
    return parts.status();
  }
  // The new name is to last before the earlier folder goes.
  const Status synced = sync_path(target_.folder);
  // No memory is taken before the parts are gone: there may be none, and they would stay.
  const int reason = synced.ok() ? remove_parts(folder_.earlier(), *parts) : 0;
  if (synced.ok() && reason == 0) return finish();
  const std::string is_written = target_.given + " is written; ";
  if (!synced.ok()) {
    return failure(is_written + "the earlier one is now " + folder_.earlier() + ", because of " +
                   synced.message());
  }
  if (reason == ENOTEMPTY || reason == EEXIST) {
    return failure(is_written + "the earlier one is now " + folder_.earlier() +
                   ", where somebody has added to it");
  }
  errno = reason;
  return failure(is_written + "what could not be removed of the earlier one is now in " +
                 system_failure(folder_.earlier()).message());
}

Status TemporaryFolder::commit() {
  NEVE_TRY(sync_tree(path_));
  // Somebody else may take or free the name between two steps.
  constexpr int max_attempts = 10;
  for (int attempt = 0; attempt < max_attempts; ++attempt) {
    bool is_taken = false;
    NEVE_TRY(take_free_name(is_taken));
    if (!is_taken) return finish();
    if (exists(target_.path)) return replace();
  }
  return failure(target_.given + " appears and vanishes while it is being replaced");
}

ScratchFolder::ScratchFolder(PrivateFolder folder) : folder_(std::move(folder)), path_(folder_.made()) {}

Result<ScratchFolder> ScratchFolder::beside(const std::string& target) {
  NEVE_ASSIGN(const Target found, find_target(target));
  NEVE_ASSIGN(PrivateFolder folder, PrivateFolder::beside(found));
  NEVE_TRY(make_folder(folder.made()));
  return ScratchFolder(std::move(folder));
}

}  // namespace neve::files
