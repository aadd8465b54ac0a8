// SPDX-License-Identifier: BSD-3-Clause
// A folder that appears under its name only when it is whole. Not collective: one rank's business.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "io/files/private_folder.hpp"
#include "io/files/target.hpp"
#include "neve/status.hpp"

namespace neve::files {

// The parts of a folder that may be removed when another replaces it, relative to it, each folder behind what
// it holds; or the error that names, as parts of `name`, what would be lost.
using Parts = std::vector<std::string>;
using PartsOf = std::function<Result<Parts>(const std::string& folder, const std::string& name)>;

class TemporaryFolder {
 public:
  // What `beside` would refuse, before work that needs no folder yet.
  static Status check(const std::string& target, const PartsOf& parts_of);

  // Makes a private folder beside `target`, as for a file, and in it an empty folder. Fails where `target`
  // exists and is no folder, or `parts_of` says that it must not be replaced.
  static Result<TemporaryFolder> beside(const std::string& target, PartsOf parts_of);

  const std::string& path() const { return path_; }

  // Makes all of it durable, gives it the target's name in one step (two where the file system cannot
  // exchange names) and makes the name durable. What was there before is looked at again, before and after
  // that step, undone where something else is in it now; its parts alone are removed. Modes of parts that
  // are replaced stay.
  Status commit();

 private:
  TemporaryFolder(Target target, PrivateFolder folder, PartsOf parts_of);
  Status take_free_name(bool& is_taken) const;
  Status swap_with_earlier();
  Status swap_back() const;
  Result<Parts> parts_of_earlier() const;
  Status replace();
  Status finish();

  Target target_;
  PrivateFolder folder_;
  PartsOf parts_of_;
  std::string path_;
};

// A folder for files that nobody is to keep: made beside `target` in the same way, removed with all that is
// in it.
class ScratchFolder {
 public:
  static Result<ScratchFolder> beside(const std::string& target);
  const std::string& path() const { return path_; }

 private:
  explicit ScratchFolder(PrivateFolder folder);

  PrivateFolder folder_;
  std::string path_;
};

}  // namespace neve::files
