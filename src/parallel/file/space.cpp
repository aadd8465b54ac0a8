// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/file/space.hpp"

#include <fcntl.h>
#include <mpi.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace neve::mpi {

namespace {

// As fallocate.
int take_space(int descriptor, int flags, off_t begin, off_t size) {
  int rc = 0;
  do {
    rc = ::fallocate(descriptor, flags, begin, size);
  } while (rc != 0 && errno == EINTR);
  return rc;
}

bool is_without_reservations(int error) { return error == EOPNOTSUPP || error == ENOSYS; }

// What can be known of a full disk beforehand where no space can be taken (NFS, some parallel file systems).
// `bytes`: to be taken beyond what the file has.
int check_free_space(int descriptor, uint64_t bytes) {
  struct statvfs room;
  if (::fstatvfs(descriptor, &room) != 0) return -1;
  const uint64_t free_bytes =
      static_cast<uint64_t>(room.f_frsize) * (::geteuid() == 0 ? room.f_bfree : room.f_bavail);
  // A file system that does not say how large it is says 0.
  if (room.f_blocks == 0 || bytes <= free_bytes) return 0;
  errno = ENOSPC;
  return -1;
}

int grow_within_free_space(int descriptor, off_t size) {
  struct stat now;
  if (::fstat(descriptor, &now) != 0) return -1;
  const uint64_t taken_bytes = static_cast<uint64_t>(now.st_blocks) * 512;
  const auto wanted = static_cast<uint64_t>(size);
  if (check_free_space(descriptor, wanted - std::min(wanted, taken_bytes)) != 0) return -1;
  return now.st_size < size ? ::ftruncate(descriptor, size) : 0;
}

Status no_room(const std::string& path, uint64_t bytes, int reason) {
  return failure(path + ": no room for " + std::to_string(bytes) + " bytes: " + std::strerror(reason));
}

}  // namespace

Status reserve_space(const std::string& path, uint64_t size_bytes) {
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (descriptor < 0) return failure(path + ": " + std::strerror(errno));
  const auto size = static_cast<off_t>(size_bytes);
  int rc = take_space(descriptor, 0, 0, size);
  if (rc != 0 && is_without_reservations(errno)) rc = grow_within_free_space(descriptor, size);
  const int reason = rc == 0 ? 0 : errno;
  ::close(descriptor);
  return reason == 0 ? Status() : no_room(path, size_bytes, reason);
}

Status take_range(int file, const std::string& path, uint64_t begin, uint64_t end) {
  int rc = take_space(file, 0, static_cast<off_t>(begin), static_cast<off_t>(end - begin));
  if (rc != 0 && is_without_reservations(errno)) rc = check_free_space(file, end - begin);
  return rc == 0 ? Status() : no_room(path, end - begin, errno);
}

bool needs_single_writes(const std::string& path) {
#if defined(OPEN_MPI)
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (descriptor < 0) return false;  // MPI's own error
  const bool is_needed =
      take_space(descriptor, FALLOC_FL_KEEP_SIZE, 0, 1) != 0 && is_without_reservations(errno);
  ::close(descriptor);
  return is_needed;
#else
  static_cast<void>(path);
  return false;
#endif
}

}  // namespace neve::mpi
