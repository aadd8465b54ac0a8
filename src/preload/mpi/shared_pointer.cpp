// SPDX-License-Identifier: BSD-3-Clause
#include "preload/mpi/shared_pointer.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <random>

#include "parallel/comm/broadcast.hpp"

namespace neve::pmpi {

Status SharedPointer::place(const mpi::Comm& comm, const std::string& path, uint64_t start) {
  forget();
  start_ = start;
  is_remover_ = comm.rank() == 0;
  if (is_remover_) {
    char name[32];
    std::snprintf(name, sizeof name, ".neve-shared-%08x%08x", std::random_device{}(), std::random_device{}());
    path_ = (std::filesystem::path(path).parent_path() / name).string();
  }
  return mpi::broadcast(comm, path_);
}

void SharedPointer::forget() {
  if (is_remover_ && has_place()) ::unlink(path_.c_str());
  path_.clear();
}

Result<uint64_t> SharedPointer::advance(uint64_t bytes) {
  const int descriptor = ::open(path_.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (descriptor < 0) return failure(path_ + ": the shared file pointer: " + std::strerror(errno));
  uint64_t value = start_;  // stays where nobody has moved it yet
  const Status moved = [&]() -> Status {
    const auto failed = [&] { return failure(path_ + ": the shared file pointer: " + std::strerror(errno)); };
    while (::flock(descriptor, LOCK_EX) != 0) {
      if (errno != EINTR) return failed();
    }
    if (::pread(descriptor, &value, sizeof value, 0) < 0) return failed();
    const uint64_t next = value + bytes;
    if (bytes > 0 && ::pwrite(descriptor, &next, sizeof next, 0) != sizeof next) return failed();
    return {};
  }();
  ::close(descriptor);
  NEVE_TRY(moved);
  return value;
}

}  // namespace neve::pmpi
