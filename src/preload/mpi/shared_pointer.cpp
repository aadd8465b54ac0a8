// SPDX-License-Identifier: BSD-3-Clause
#include "preload/mpi/shared_pointer.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <random>

#include "parallel/comm/broadcast.hpp"

namespace neve::pmpi {

namespace {

// Of this process and, most likely, of this one alone.
std::string new_name() {
  static const unsigned drawn = std::random_device{}();
  static std::atomic<unsigned> number{std::random_device{}()};
  char name[32];
  std::snprintf(name, sizeof name, ".neve-shared-%08x%08x", drawn, number++);
  return name;
}

}  // namespace

Status SharedPointer::place(const mpi::Comm& comm, const std::string& path, uint64_t start) {
  start_ = start;
  if (has_place()) {
    // Programs set views again and again, and most never use the pointer: then there is no file to remove.
    int is_used = is_used_ ? 1 : 0;
    NEVE_TRY(
        mpi::mpi_status(MPI_Allreduce(MPI_IN_PLACE, &is_used, 1, MPI_INT, MPI_MAX, comm.get()), "views"));
    if (is_used == 0) return {};
    forget();
  }
  is_used_ = false;
  is_remover_ = comm.rank() == 0;
  if (is_remover_) path_ = (std::filesystem::path(path).parent_path() / new_name()).string();
  return mpi::broadcast(comm, path_);
}

void SharedPointer::forget() {
  if (is_remover_ && has_place()) ::unlink(path_.c_str());
  path_.clear();
}

Result<uint64_t> SharedPointer::advance(uint64_t bytes) {
  is_used_ = true;
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
