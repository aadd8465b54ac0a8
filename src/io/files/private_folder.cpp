// SPDX-License-Identifier: BSD-3-Clause
#include "io/files/private_folder.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "io/files/descriptor.hpp"
#include "io/files/list_folder.hpp"
#include "io/files/remove_tree.hpp"
#include "io/files/stamped_name.hpp"

namespace neve::files {
namespace {

namespace fs = std::filesystem;

constexpr const char* mark = ".neve-tmp-";
constexpr const char* made_mark = "new.number";  // a link whose text is the number of the folder `new`

bool is_there(const fs::path& path) {
  struct stat found;
  return ::lstat(path.c_str(), &found) == 0;
}

bool is_own_private_folder(const fs::path& path) {
  struct stat found;
  constexpr mode_t others = 0077;
  return ::lstat(path.c_str(), &found) == 0 && S_ISDIR(found.st_mode) && found.st_uid == ::geteuid() &&
         (found.st_mode & others) == 0;
}

// MPI libraries put files of their own beside the one they open, under its name with something around.
bool is_of_making(std::string_view name) {
  if (name.starts_with('.')) name.remove_prefix(1);
  const std::string_view made = PrivateFolder::made_name;
  return name == made || (name.starts_with(made) && name[made.size()] == '.');
}

// What cannot be removed is found again by the next write.
void remove_made(const char* folder) noexcept { remove_from_folder(folder, is_of_making); }

bool holds_nothing_strange(const fs::path& folder) {
  const auto entries = list_folder(folder.string());
  return entries.ok() && std::all_of(entries->begin(), entries->end(), [](const Entry& entry) {
           return entry.name == PrivateFolder::earlier_name || is_of_making(entry.name);
         });
}

// The number that mark_made has left; 0 without one.
ino_t marked_made(const fs::path& folder) {
  std::error_code error;
  const fs::path number = fs::read_symlink(folder / made_mark, error);
  return error ? 0 : static_cast<ino_t>(std::strtoull(number.c_str(), nullptr, 10));
}

// Killed after the two had changed places: what lies as `made` is the earlier one.
void put_names_right(const fs::path& folder) {
  const fs::path made = folder / PrivateFolder::made_name, earlier = folder / PrivateFolder::earlier_name;
  const ino_t marked = marked_made(folder);
  struct stat found;
  if (marked == 0 || ::lstat(made.c_str(), &found) != 0 || found.st_ino == marked) return;
  ::rename(made.c_str(), earlier.c_str());
}

void clear_left_behind(const fs::path& folder, const std::string& target,
                       const PrivateFolder::Remove& remove_earlier) {
  if (!is_own_private_folder(folder) || !holds_nothing_strange(folder)) return;
  put_names_right(folder);
  const fs::path earlier = folder / PrivateFolder::earlier_name;
  if (is_there(earlier)) {
    if (!is_there(target)) {
      ::renameat2(AT_FDCWD, earlier.c_str(), AT_FDCWD, target.c_str(), RENAME_NOREPLACE);
    } else if (remove_earlier) {
      remove_earlier(earlier.string());
    }
  }
  remove_made(folder.c_str());
}

// Best effort: what cannot be listed or removed stays.
void clear_all_left_behind(const Target& target, const std::string& stem,
                           const PrivateFolder::Remove& remove_earlier) {
  const auto entries = list_folder(target.folder);
  if (!entries.ok()) return;
  for (const Entry& entry : *entries) {
    if (!is_left_behind(entry.name, stem)) continue;
    clear_left_behind(fs::path(target.folder) / entry.name, target.path, remove_earlier);
  }
}

}  // namespace

Result<PrivateFolder> PrivateFolder::beside(const Target& target, const Remove& remove_earlier) {
  const std::string stem = hidden_name(target.name, mark);
  clear_all_left_behind(target, stem, remove_earlier);
  constexpr int max_attempts = 100;
  for (int attempt = 0; attempt < max_attempts; ++attempt) {
    NEVE_ASSIGN(const std::string name, stamped_name(stem));
    std::string path = (fs::path(target.folder) / name).string();
    PrivateFolder folder;
    folder.made_ = path + "/" + made_name;
    folder.earlier_ = path + "/" + earlier_name;
    if (::mkdir(path.c_str(), 0700) == 0) {  // from here on it is removed, also where memory ends
      folder.path_ = std::move(path);
      return folder;
    }
    if (errno != EEXIST) return system_failure(target.given + ": making " + path + " to write it in");
  }
  return failure(target.given + ": no free name to write it under");
}

PrivateFolder::PrivateFolder(PrivateFolder&& other) noexcept
    : path_(std::exchange(other.path_, {})),
      made_(std::exchange(other.made_, {})),
      earlier_(std::exchange(other.earlier_, {})) {}

Status PrivateFolder::mark_made() const {
  struct stat found;
  const std::string mark = path_ + "/" + made_mark;
  if (::lstat(made().c_str(), &found) != 0) return system_failure(made());
  if (::symlink(std::to_string(found.st_ino).c_str(), mark.c_str()) != 0) return system_failure(mark);
  return {};
}

void PrivateFolder::remove() {
  if (!path_.empty()) remove_made(path_.c_str());
  path_.clear();
}

PrivateFolder::~PrivateFolder() { remove(); }

}  // namespace neve::files
