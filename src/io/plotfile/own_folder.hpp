// SPDX-License-Identifier: BSD-3-Clause
// The folder that a file or a plotfile directory may lead to other files in (neve/open_options.hpp).
#pragma once

#include <filesystem>
#include <string>

#include "neve/status.hpp"

namespace neve::plotfile {

class OwnFolder {
 public:
  // The folder the file lies in, or the directory itself, symbolic links resolved. Errors: failure.
  static Result<OwnFolder> of_file(const std::string& path);
  static Result<OwnFolder> of_directory(const std::string& path);

  // Whether what exists under that path lies in the folder or below it, symbolic links resolved. False where
  // nothing exists.
  bool holds(const std::filesystem::path& path) const;

  // The usage error of following `what` ("/temp, by external storage,") to `target` all the same.
  Status refusal(const std::string& what, const std::string& target) const;

 private:
  explicit OwnFolder(std::filesystem::path folder) : folder_(std::move(folder)) {}
  std::filesystem::path folder_;
};

}  // namespace neve::plotfile
