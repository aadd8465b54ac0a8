// SPDX-License-Identifier: BSD-3-Clause
#include "io/files/remove_tree.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include "io/files/list_folder.hpp"

namespace neve::files {
namespace {

using IsWanted = bool (*)(std::string_view name);

bool remove_at(int folder, const char* name) noexcept;

// Which entries a listing still shows while others are removed is the file system's choice: it is read again
// until nothing more goes. Takes the descriptor over.
void empty(int descriptor, IsWanted is_wanted) noexcept {
  DIR* const listing = ::fdopendir(descriptor);
  if (listing == nullptr) {
    ::close(descriptor);
    return;
  }
  for (bool is_removed = true; is_removed; ::rewinddir(listing)) {
    is_removed = false;
    while (const dirent* const entry = ::readdir(listing)) {
      const char* const name = entry->d_name;
      if (is_itself_or_above(name)) continue;
      if (is_wanted == nullptr || is_wanted(name)) is_removed = remove_at(descriptor, name) || is_removed;
    }
  }
  ::closedir(listing);
}

constexpr int folder_flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

bool remove_at(int folder, const char* name) noexcept {
  const int inside = ::openat(folder, name, folder_flags);
  if (inside < 0) return ::unlinkat(folder, name, 0) == 0;
  empty(inside, nullptr);
  return ::unlinkat(folder, name, AT_REMOVEDIR) == 0;
}

}  // namespace

void remove_from_folder(const char* path, IsWanted is_wanted) noexcept {
  const int folder = ::open(path, folder_flags);
  if (folder >= 0) empty(folder, is_wanted);
  ::rmdir(path);
}

}  // namespace neve::files
