// SPDX-License-Identifier: BSD-3-Clause
#include "io/files/target.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <climits>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "io/files/descriptor.hpp"

namespace neve::files {
namespace {

namespace fs = std::filesystem;

// Of a name, kept in hidden ones: leaves room for a mark, a process and a random part below 200 bytes, which
// MPI libraries can still add to.
constexpr size_t max_name_bytes = 100;

// FNV-1a: the same in every build, since another process looks for the name.
uint64_t hash_of(const std::string& text) {
  uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  return hash;
}

}  // namespace

Result<Target> find_target(const std::string& path) {
  if (path.empty()) return usage_error("the path to write is empty");
  if (path.find('\0') != std::string::npos) return usage_error("the path to write holds a zero byte");
  fs::path last = path;
  while (!last.has_filename() && last.has_relative_path()) last = last.parent_path();
  if (!last.has_filename() || last.filename() == "." || last.filename() == "..") {
    return usage_error(path + " does not name a file");
  }
  if (last.filename().string().size() > NAME_MAX) {
    return usage_error(path + ": its name has " + std::to_string(last.filename().string().size()) +
                       " bytes; at most " + std::to_string(NAME_MAX) + " are allowed");
  }
  std::error_code error;
  if (fs::is_symlink(last, error)) {
    last = fs::canonical(last, error);
    if (error) return failure(path + ": following the symbolic link: " + error.message());
  }
  Target target{path, last.string(), last.has_parent_path() ? last.parent_path().string() : ".",
                last.filename().string()};
  if (!fs::is_directory(target.folder, error)) {
    return failure(path + ": directory " + target.folder + " does not exist");
  }
  if (::access(target.folder.c_str(), W_OK | X_OK) != 0) {
    return system_failure(path + ": directory " + target.folder + " cannot be written");
  }
  return target;
}

Status check_is_file_or_nothing(const Target& target) {
  std::error_code error;
  const fs::file_status status = fs::symlink_status(target.path, error);
  if (status.type() == fs::file_type::not_found || fs::is_regular_file(status)) return {};
  if (error) return failure(target.given + ": " + error.message());
  return usage_error(target.given + " exists and is not a regular file; only a file can be replaced");
}

bool is_same_place(const std::string& a, const std::string& b) {
  struct stat of_a, of_b;
  return ::stat(a.c_str(), &of_a) == 0 && ::stat(b.c_str(), &of_b) == 0 && of_a.st_dev == of_b.st_dev &&
         of_a.st_ino == of_b.st_ino;
}

Status check_is_another(const std::string& source, const std::string& copy) {
  if (!is_same_place(source, copy)) return {};
  std::error_code error;
  return usage_error(source + " and " + copy + " are the same " +
                     (fs::is_directory(copy, error) ? "folder" : "file") +
                     "; the output needs a name of its own");
}

std::string hidden_name(const std::string& name, const std::string& mark) {
  std::string hidden = ".";
  if (name.size() <= max_name_bytes) return hidden.append(name).append(mark);
  char hash[24];
  std::snprintf(hash, sizeof hash, "~%016llx", static_cast<unsigned long long>(hash_of(name)));
  size_t kept = max_name_bytes;
  while (kept > 0 && (static_cast<unsigned char>(name[kept]) & 0xc0) == 0x80) --kept;  // whole UTF-8 signs
  return hidden.append(name, 0, kept).append(hash).append(mark);
}

}  // namespace neve::files
