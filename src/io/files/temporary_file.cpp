// SPDX-License-Identifier: BSD-3-Clause
#include "io/files/temporary_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <utility>

#include "io/files/mode.hpp"
#include "io/files/write.hpp"

namespace neve::files {

TemporaryFile::TemporaryFile(Target target, PrivateFolder folder)
    : target_(std::move(target)), folder_(std::move(folder)), path_(folder_.made()) {}

Status TemporaryFile::check(const std::string& target) {
  NEVE_ASSIGN(const Target found, find_target(target));
  return check_is_file_or_nothing(found);
}

Result<TemporaryFile> TemporaryFile::beside(const std::string& target) {
  NEVE_ASSIGN(Target found, find_target(target));
  NEVE_TRY(check_is_file_or_nothing(found));
  NEVE_ASSIGN(PrivateFolder folder, PrivateFolder::beside(found));
  return TemporaryFile(std::move(found), std::move(folder));
}

Status TemporaryFile::finish() {
  folder_.remove();
  return sync_name(target_);
}

Status TemporaryFile::commit() {
  NEVE_TRY(check_is_file_or_nothing(target_));
  NEVE_TRY(keep_mode(path_, target_.path));
  NEVE_TRY(sync_path(path_).in(target_.given));
  if (::rename(path_.c_str(), target_.path.c_str()) != 0) {
    return system_failure("renaming " + path_ + " to " + target_.path);
  }
  return finish();
}

Status TemporaryFile::commit_if_free(bool& is_taken) {
  NEVE_TRY(sync_path(path_).in(target_.given));
  // A link, unlike a rename, takes no name that is taken.
  if (::link(path_.c_str(), target_.path.c_str()) != 0) {
    is_taken = errno == EEXIST;
    return system_failure(target_.given);
  }
  return finish();
}

Status write_file(const std::string& path, std::span<const std::byte> bytes) {
  NEVE_ASSIGN(TemporaryFile temporary, TemporaryFile::beside(path));
  NEVE_ASSIGN(Descriptor file, create_file(temporary.path()));
  NEVE_TRY(write_fully(file.number(), 0, bytes, path));
  NEVE_TRY(file.close(path));
  return temporary.commit();
}

}  // namespace neve::files
