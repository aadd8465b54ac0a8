// SPDX-License-Identifier: BSD-3-Clause
#include "io/files/mode.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <optional>
#include <system_error>

#include "io/files/descriptor.hpp"
#include "io/files/list_folder.hpp"

namespace neve::files {
namespace {

namespace fs = std::filesystem;

// A write takes the set-user and set-group bits off a file; what replaces one gets neither.
constexpr mode_t file_bits = 0777;
constexpr mode_t folder_bits = 07777;
constexpr mode_t group_bits = 0070;
constexpr mode_t other_bits = 0007;

std::optional<struct stat> look_at(const std::string& path) {
  struct stat found;
  if (::lstat(path.c_str(), &found) != 0) return {};
  return found;
}

Status give(const std::string& made, const struct stat& replaced) {
  const Descriptor file(::open(made.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat now;
  if (!file.is_open() || ::fstat(file.number(), &now) != 0) return system_failure(made + ": its mode");
  mode_t mode = replaced.st_mode & (S_ISDIR(replaced.st_mode) ? folder_bits : file_bits);
  if (now.st_uid != replaced.st_uid) (void)!::fchown(file.number(), replaced.st_uid, static_cast<gid_t>(-1));
  if (now.st_gid != replaced.st_gid &&
      ::fchown(file.number(), static_cast<uid_t>(-1), replaced.st_gid) != 0) {
    mode &= ~(group_bits & ~((mode & other_bits) << 3));
  }
  if (::fchmod(file.number(), mode) != 0) return system_failure(made + ": its mode");
  return {};
}

Status narrow(const std::string& made, mode_t most) {
  const auto now = look_at(made);
  if (!now) return system_failure(made);
  const mode_t mode = now->st_mode & most & folder_bits;
  if (mode == (now->st_mode & folder_bits)) return {};
  return ::chmod(made.c_str(), mode) == 0 ? Status() : system_failure(made + ": its mode");
}

// What all files of the folder had.
Result<mode_t> common_mode(const std::string& folder) {
  NEVE_ASSIGN(const std::vector<Entry> entries, list_folder(folder));
  mode_t common = file_bits;
  for (const Entry& entry : entries) {
    if (!entry.is_file()) continue;
    const auto found = look_at(folder + "/" + entry.name);
    if (found) common &= found->st_mode;
  }
  return common;
}

// `made` is a folder that replaces nothing, within one that does.
Status narrow_tree(const std::string& made, mode_t files, mode_t folders) {
  NEVE_ASSIGN(const std::vector<Entry> entries, list_folder(made));
  for (const Entry& entry : entries) {
    const std::string path = made + "/" + entry.name;
    NEVE_TRY(entry.is_folder() ? narrow_tree(path, files, folders) : narrow(path, files));
  }
  return narrow(made, folders);
}

}  // namespace

Status keep_mode(const std::string& made, const std::string& replaced) {
  const auto found = look_at(replaced);
  return found ? give(made, *found) : Status();
}

Status keep_modes(const std::string& made, const std::string& replaced) {
  const auto folder = look_at(replaced);
  if (!folder) return {};
  NEVE_ASSIGN(const mode_t files, common_mode(replaced));
  NEVE_ASSIGN(const std::vector<Entry> entries, list_folder(made));
  for (const Entry& entry : entries) {
    const std::string path = made + "/" + entry.name;
    const std::string of_path = replaced + "/" + entry.name;
    const auto counterpart = look_at(of_path);
    const bool is_folder = entry.is_folder();
    if (counterpart && is_folder && S_ISDIR(counterpart->st_mode)) {
      NEVE_TRY(keep_modes(path, of_path));
    } else if (counterpart && !is_folder && S_ISREG(counterpart->st_mode)) {
      NEVE_TRY(give(path, *counterpart));
    } else if (is_folder) {
      NEVE_TRY(narrow_tree(path, files, folder->st_mode));
    } else {
      NEVE_TRY(narrow(path, files));
    }
  }
  return give(made, *folder);
}

}  // namespace neve::files
