// SPDX-License-Identifier: BSD-3-Clause
#include "preload/trace/parts_folder.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "io/files/target.hpp"
#include "preload/trace/json.hpp"
#include "preload/trace/part.hpp"
#include "preload/trace/part_v1.hpp"
#include "preload/trace/settings.hpp"

namespace neve::trace {
namespace {

namespace fs = std::filesystem;

constexpr const char* replaces_name = "replaces";  // a link whose text tells which trace

std::string identity_of(const std::string& path) {
  struct stat found;
  if (::stat(path.c_str(), &found) != 0) return {};
  return std::to_string(found.st_dev) + "-" + std::to_string(found.st_ino) + "-" +
         std::to_string(found.st_size) + "-" + std::to_string(found.st_mtim.tv_sec) + "." +
         std::to_string(found.st_mtim.tv_nsec);
}

// A process that was killed before it had anything to tell leaves zeros.
bool is_part(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  uint64_t magic = 0;
  if (file.read(reinterpret_cast<char*>(&magic), sizeof magic) && magic != 0)
    return magic == part_magic || magic == v1::part_magic;
  file.clear();
  file.seekg(0);
  return std::all_of(std::istreambuf_iterator<char>(file), {}, [](char c) { return c == '\0'; });
}

// Files that make up one entry of the folder, the entry last; none where it is nothing that Neve has made.
std::vector<fs::path> pieces_of(const fs::path& path) {
  std::error_code error;
  const std::string name = path.filename().string();
  const fs::file_status status = fs::symlink_status(path, error);
  if (fs::is_symlink(status)) return name == replaces_name ? std::vector{path} : std::vector<fs::path>{};
  if (fs::is_regular_file(status)) {
    const bool is_ours = name.ends_with(part_suffix)      ? is_part(path)
                         : name.ends_with(reduced_suffix) ? read_trace_file(path.string()).ok()
                                                          : false;
    return is_ours ? std::vector{path} : std::vector<fs::path>{};
  }
  // What a killed process was writing its counts in (src/io/files/private_folder.hpp).
  std::vector<fs::path> pieces;
  if (!fs::is_directory(status) || name.find(std::string(reduced_suffix) + ".neve-tmp-") == std::string::npos)
    return {};
  for (const auto& entry : fs::directory_iterator(path, error)) {
    if (entry.path().filename() != "new" || !entry.is_regular_file(error)) return {};
    pieces.push_back(entry.path());
  }
  pieces.push_back(path);
  return pieces;
}

Result<std::vector<fs::path>> pieces_in(const std::string& folder) {
  std::error_code error;
  std::vector<fs::path> pieces;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const std::vector<fs::path> more = pieces_of(it->path());
    if (more.empty()) {
      return usage_error(it->path().string() + " is no part of a trace; a run needs the folder " + folder +
                         " for its own: move it away, or choose another --output");
    }
    pieces.insert(pieces.end(), more.begin(), more.end());
  }
  if (error) return failure(folder + ": " + error.message());
  return pieces;
}

Status check_output(const std::string& output) {
  NEVE_ASSIGN(const files::Target target, files::find_target(output));
  std::error_code error;
  if (!fs::exists(fs::symlink_status(target.path, error))) return {};
  if (fs::is_regular_file(fs::symlink_status(target.path, error)) && read_trace_file(target.path).ok())
    return {};
  return usage_error(
      output + " exists and is no trace; allowed for --output: a new name, or an older trace to replace");
}

}  // namespace

std::string parts_folder_of(const std::string& path) { return path + parts_suffix; }

bool is_to_be_replaced(const std::string& path) {
  std::error_code error;
  const fs::path identity = fs::read_symlink(fs::path(parts_folder_of(path)) / replaces_name, error);
  return !error && identity == identity_of(path);
}

namespace {

// Whether the folder that is open is still the one of that name: a run that ends removes its own.
bool is_still_there(const files::Descriptor& open, const std::string& path) {
  struct stat held, named;
  return ::fstat(open.number(), &held) == 0 && ::lstat(path.c_str(), &named) == 0 &&
         held.st_dev == named.st_dev && held.st_ino == named.st_ino;
}

// The folder, made where it is not there, and locked. Nothing where another run removed it meanwhile.
Result<std::optional<files::Descriptor>> hold(const std::string& output, const std::string& path) {
  // Made here, so that a folder that cannot be written is found before the program runs.
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return files::system_failure(path);
  files::Descriptor lock(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!lock.is_open()) {
    if (errno == ENOENT) return std::optional<files::Descriptor>();
    return usage_error(path + ": " + std::strerror(errno) +
                       "; a run needs a folder of that name for its own");
  }
  if (::flock(lock.number(), LOCK_EX | LOCK_NB) != 0) {
    return usage_error(output + " is being written by another run");
  }
  if (!is_still_there(lock, path)) return std::optional<files::Descriptor>();
  return std::optional(std::move(lock));
}

}  // namespace

Result<PartsFolder> PartsFolder::begin(const std::string& output) {
  NEVE_TRY(check_output(output));
  PartsFolder folder;
  folder.path_ = parts_folder_of(output);
  // Again only where another run has just ended; not for ever, on file systems whose numbers of folders
  // change.
  constexpr int max_tries = 100;
  for (int tries = 0; tries < max_tries && !folder.lock_.is_open(); ++tries) {
    NEVE_ASSIGN(std::optional<files::Descriptor> lock, hold(output, folder.path_));
    if (lock) folder.lock_ = std::move(*lock);
  }
  if (!folder.lock_.is_open()) {
    return failure(folder.path_ + ": it was removed " + std::to_string(max_tries) +
                   " times as soon as it was made");
  }
  NEVE_ASSIGN(const std::vector<fs::path> pieces, pieces_in(folder.path_));
  for (const fs::path& piece : pieces) {
    if (std::remove(piece.c_str()) != 0) return files::system_failure(piece.string());
  }
  const std::string identity = identity_of(output);
  if (identity.empty()) return folder;
  const std::string replaces = folder.path_ + "/" + replaces_name;
  if (::symlink(identity.c_str(), replaces.c_str()) != 0) return files::system_failure(replaces);
  return folder;
}

void PartsFolder::finish() {
  ::unlink((path_ + "/" + replaces_name).c_str());
  ::rmdir(path_.c_str());
}

}  // namespace neve::trace
