// SPDX-License-Identifier: BSD-3-Clause
// A file that appears under its name only when it is whole. Not collective: one rank's business.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "io/files/private_folder.hpp"
#include "io/files/target.hpp"
#include "neve/status.hpp"

namespace neve::files {

class TemporaryFile {
 public:
  // What `beside` would refuse, before work that needs no file yet.
  static Status check(const std::string& target);

  // Makes a private folder in the folder of `target` (of the file it points to, where it is a symbolic
  // link), in which the file is to be made. Fails where that cannot be, and where `target` exists and is no
  // regular file.
  static Result<TemporaryFile> beside(const std::string& target);

  // Where to make it; nothing is there yet.
  const std::string& path() const { return path_; }

  // Makes it durable, gives it the target's name in one step and makes the name durable. What was there
  // before stays whole until that step, and hands on its mode; a new file has the mode it was made with.
  Status commit();
  // The same, but takes no name that is taken: `is_taken` tells whether that is why it failed.
  Status commit_if_free(bool& is_taken);

 private:
  TemporaryFile(Target target, PrivateFolder folder);
  Status finish();

  Target target_;
  PrivateFolder folder_;
  std::string path_;
};

// The whole file at once.
Status write_file(const std::string& path, std::span<const std::byte> bytes);

}  // namespace neve::files
