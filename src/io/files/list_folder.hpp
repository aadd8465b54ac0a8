// SPDX-License-Identifier: BSD-3-Clause
// What lies in a folder. std::filesystem's iterators are not used where something is written: they end the
// program where memory has ended.
#pragma once

#include <string>
#include <vector>

#include "neve/status.hpp"

namespace neve::files {

// "." or "..".
bool is_itself_or_above(const char* name);

struct Entry {
  enum class Kind { file, folder, link, other };  // a link is none of what it leads to

  std::string name;
  Kind kind = Kind::other;

  bool is_folder() const { return kind == Kind::folder; }
  bool is_file() const { return kind == Kind::file; }
  bool is_link() const { return kind == Kind::link; }
};

// By name, without "." and "..". The entries themselves are looked at only where the listing does not tell
// their kind: a folder of outputs may have very many, on a file system of which each look is a message.
// `name`: the folder's, for messages.
Result<std::vector<Entry>> list_folder(const std::string& folder, const std::string& name);
inline Result<std::vector<Entry>> list_folder(const std::string& folder) {
  return list_folder(folder, folder);
}

}  // namespace neve::files
