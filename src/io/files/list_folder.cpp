// SPDX-License-Identifier: BSD-3-Clause
#include "io/files/list_folder.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "io/files/descriptor.hpp"

namespace neve::files {
namespace {

struct Close {
  void operator()(DIR* listing) const { ::closedir(listing); }
};

Entry::Kind kind_of_mode(mode_t mode) {
  if (S_ISREG(mode)) return Entry::Kind::file;
  if (S_ISDIR(mode)) return Entry::Kind::folder;
  return S_ISLNK(mode) ? Entry::Kind::link : Entry::Kind::other;
}

// As a listing tells it; zero where the file system leaves it open.
mode_t listed_mode(const dirent& entry) { return entry.d_type == DT_UNKNOWN ? 0 : DTTOIF(entry.d_type); }

}  // namespace

bool is_itself_or_above(const char* name) {
  return std::strcmp(name, ".") == 0 || std::strcmp(name, "..") == 0;
}

Result<std::vector<Entry>> list_folder(const std::string& folder, const std::string& name) {
  const std::unique_ptr<DIR, Close> listing(::opendir(folder.c_str()));
  if (listing == nullptr) return system_failure(name);
  std::vector<Entry> entries;
  while (true) {
    errno = 0;
    const dirent* const next = ::readdir(listing.get());
    if (next == nullptr) break;
    if (is_itself_or_above(next->d_name)) continue;
    struct stat found;
    found.st_mode = listed_mode(*next);
    if (found.st_mode == 0 &&
        ::fstatat(::dirfd(listing.get()), next->d_name, &found, AT_SYMLINK_NOFOLLOW) != 0) {
      if (errno == ENOENT) continue;  // somebody removed it meanwhile
      return system_failure(name + "/" + next->d_name);
    }
    entries.push_back({next->d_name, kind_of_mode(found.st_mode)});
  }
  if (errno != 0) return system_failure(name);
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.name < b.name; });
  return entries;
}

}  // namespace neve::files
