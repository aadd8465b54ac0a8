// SPDX-License-Identifier: BSD-3-Clause
#include "io/files/copy_in_folder.hpp"

#include <filesystem>
#include <system_error>

#include "io/files/target.hpp"

namespace neve::files {

namespace fs = std::filesystem;

Status check_is_another_in_folder(const std::string& source, const std::string& copy) {
  std::error_code error;
  if (fs::is_symlink(fs::symlink_status(copy, error))) {
    return usage_error(copy + " is a symbolic link; a copy is written as a file of its folder itself");
  }
  return check_is_another(source, copy);
}

}  // namespace neve::files
