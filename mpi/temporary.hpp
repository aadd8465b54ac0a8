// SPDX-License-Identifier: BSD-3-Clause
// A file or directory that appears under its name only when it is whole. Not collective: rank 0's business.
#pragma once

#include <string>

#include "neve/status.hpp"
#include "plotfile/file.hpp"

namespace neve::mpi {

using plotfile::sync_path;

class Temporary {
 public:
  enum class Kind { file, directory };

  // Chooses a name in the directory of `target` (of the file it points to, where it is a symbolic link);
  // creates nothing. Removes what a killed write to the same target has left under such a name, if its
  // process ran on this machine since the last boot and is gone; names of other machines stay. Fails where
  // that directory is missing or cannot be written, and where `target` exists and is not what may be
  // replaced: a regular file, or for a directory one that is empty or holds a plotfile's `Header`.
  static Result<Temporary> beside(const std::string& target, Kind kind);
  Temporary(Temporary&& other) noexcept;
  Temporary& operator=(Temporary&&) = delete;
  // Removes whatever still lies under the temporary name.
  ~Temporary();

  const std::string& path() const { return path_; }

  // Makes all of it durable, gives it the target's name in one step and makes the name durable. What was
  // there before stays whole until that step.
  Status commit();

 private:
  Temporary() = default;
  std::string target_;
  std::string path_;  // empty once there is nothing left to remove
  Kind kind_ = Kind::file;
};

}  // namespace neve::mpi
