// SPDX-License-Identifier: BSD-3-Clause
#include "io/plotfile/own_folder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <utility>

namespace neve::plotfile {
namespace {

namespace fs = std::filesystem;

Result<fs::path> real_path(const std::string& path) {
  std::error_code error;
  fs::path real = fs::canonical(path, error);
  if (error) return failure(fmt::format("cannot open {}: {}", path, error.message()));
  return real;
}

}  // namespace

Result<OwnFolder> OwnFolder::of_file(const std::string& path) {
  NEVE_ASSIGN(const fs::path real, real_path(path));
  return OwnFolder(real.parent_path());
}

Result<OwnFolder> OwnFolder::of_directory(const std::string& path) {
  NEVE_ASSIGN(fs::path real, real_path(path));
  return OwnFolder(std::move(real));
}

bool OwnFolder::holds(const fs::path& path) const {
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  if (error) return false;
  return std::mismatch(folder_.begin(), folder_.end(), real.begin(), real.end()).first == folder_.end();
}

Status OwnFolder::refusal(const std::string& what, const std::string& target) const {
  return usage_error(
      fmt::format("{} leads to {}, which lies outside of {}; allowed are files in that folder and below, "
                  "others with --follow-external (in programs follow_external)",
                  what, target, folder_.string()));
}

}  // namespace neve::plotfile
