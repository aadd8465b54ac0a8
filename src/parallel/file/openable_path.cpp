// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/file/openable_path.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <filesystem>

namespace neve::mpi {
namespace {

// Room for what MPI libraries add to a name: OMPIO ".locktest." and a rank.
constexpr size_t max_bytes = 200;

std::string name_of(const files::Descriptor& opened) {
  return "/proc/self/fd/" + std::to_string(opened.number());
}

bool is_named(const files::Descriptor& opened) {
  struct stat by_number, by_name;
  return ::fstat(opened.number(), &by_number) == 0 && ::stat(name_of(opened).c_str(), &by_name) == 0 &&
         by_number.st_dev == by_name.st_dev && by_number.st_ino == by_name.st_ino;
}

bool is_takeable(const std::string& path) {
  return !OpenablePath::is_needed_for_length(path) && path.find(':') == std::string::npos;
}

}  // namespace

Result<OpenablePath> OpenablePath::of(const std::string& path) {
  OpenablePath openable;
  openable.text_ = path;
  if (is_takeable(path)) return openable;
  const std::filesystem::path whole(path);
  const std::string folder = whole.has_parent_path() ? whole.parent_path().string() : ".";
  openable.opened_ = files::Descriptor(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!openable.opened_.is_open()) return files::system_failure(folder);
  openable.text_ = name_of(openable.opened_) + "/" + whole.filename().string();
  if (!is_takeable(openable.text_)) {
    openable.opened_ = files::Descriptor(::open(path.c_str(), O_PATH | O_CLOEXEC));
    if (!openable.opened_.is_open()) return files::system_failure(path);
    openable.text_ = name_of(openable.opened_);
  }
  if (is_named(openable.opened_)) return openable;
  return usage_error(path + " has " + std::to_string(path.size()) + " bytes; MPI libraries take " +
                     std::to_string(max_bytes) +
                     ", without a colon, and this system has no shorter name for it");
}

bool OpenablePath::is_needed_for_length(const std::string& path) { return path.size() > max_bytes; }

Status open_file(const Comm& comm, const std::string& path, int mode, MPI_Info info, OpenablePath& name,
                 MPI_File& file) {
  const Status named = guarded("open", [&]() -> Status {
    NEVE_ASSIGN(name, OpenablePath::of(path));
    return {};
  });
  NEVE_TRY(agree(comm, named));
  return agree(comm, mpi_status(MPI_File_open(comm.get(), name.c_str(), mode, info, &file), path, "opening"));
}

}  // namespace neve::mpi
