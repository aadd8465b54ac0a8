// SPDX-License-Identifier: BSD-3-Clause
#include "preload/trace/arena.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "preload/trace/part.hpp"
#include "preload/trace/settings.hpp"

namespace neve::trace {
namespace {

constexpr uint64_t first_bytes = 64 << 10;

void* map_memory(void* at, uint64_t bytes, int protection, int flags, int fd, uint64_t offset) {
  return reinterpret_cast<void*>(syscall(SYS_mmap, at, bytes, protection, flags, fd, offset));
}

// Blocks for bytes `from` to `to`, so that no store into the mapping finds the disk full, which would be
// a SIGBUS in somebody else's program.
bool reserve_blocks(int fd, uint64_t from, uint64_t to) {
  // Beyond the limit on the size of files a signal would end the program, which may never come near it.
  rlimit limit = {};
  if (syscall(SYS_prlimit64, 0, RLIMIT_FSIZE, nullptr, &limit) == 0 && to > limit.rlim_cur) {
    errno = EFBIG;
    return false;
  }
  if (syscall(SYS_fallocate, fd, 0, from, to - from) == 0) return true;
  if (errno != EOPNOTSUPP && errno != ENOSYS) return false;
  static const char zeros[4096] = {};
  for (uint64_t at = from; at < to; at += sizeof zeros) {
    if (syscall(SYS_pwrite64, fd, zeros, sizeof zeros, at) != static_cast<long>(sizeof zeros)) return false;
  }
  return true;
}

}  // namespace

// Under a name that nobody can know before, never by way of a link.
bool Arena::make_file(const char* folder, const char* host) {
  syscall(SYS_mkdirat, AT_FDCWD, folder, 0700);
  const long directory =
      syscall(SYS_openat, AT_FDCWD, folder, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
  if (directory < 0) return false;
  uint64_t random = 0;
  long fd = -1;
  if (syscall(SYS_getrandom, &random, sizeof random, 0) == static_cast<long>(sizeof random)) {
    std::snprintf(path_, sizeof path_, "%s/%.200s.%ld.%016llx%s", folder, host, syscall(SYS_getpid),
                  static_cast<unsigned long long>(random), part_suffix);
    const char* const name = path_ + std::strlen(folder) + 1;
    fd = syscall(SYS_openat, directory, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
  }
  const int reason = errno;
  struct stat made = {};
  if (fd >= 0) {
    syscall(SYS_fstat, fd, &made);
    device_ = made.st_dev;
    number_ = made.st_ino;
    syscall(SYS_close, fd);
  }
  syscall(SYS_close, directory);
  errno = reason;
  return fd >= 0;
}

// The file that was made, and no other that has its name now.
long Arena::open_again() const {
  const long fd = syscall(SYS_openat, AT_FDCWD, path_, O_RDWR | O_NOFOLLOW | O_CLOEXEC, 0);
  if (fd < 0) return fd;
  struct stat found = {};
  if (syscall(SYS_fstat, fd, &found) == 0 && found.st_dev == device_ && found.st_ino == number_) return fd;
  syscall(SYS_close, fd);
  errno = ESTALE;
  return -1;
}

bool Arena::open(const char* folder, const char* host, uint64_t limit_bytes) {
  limit_bytes_ = std::min<uint64_t>(limit_bytes, UINT32_MAX & ~0xffffULL);
  void* reserved =
      map_memory(nullptr, limit_bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (reserved == MAP_FAILED) return false;
  base_ = static_cast<std::byte*>(reserved);
  mapped_bytes_ = used_bytes_ = 0;
  in_file_ = false;

  in_file_ = make_file(folder, host);
  const int reason = errno;
  if (in_file_ && grow(first_bytes)) {
    used_bytes_ = sizeof(PartHeader);
    return true;
  }
  char line[4800];
  const int length =
      std::snprintf(line, sizeof line,
                    "neve trace: %s: %s; the counts of this process stay in memory, and are lost "
                    "unless it reaches MPI_Finalize\n",
                    path_, std::strerror(in_file_ ? errno : reason));
  if (length > 0) syscall(SYS_write, STDERR_FILENO, line, static_cast<size_t>(length));
  if (in_file_) syscall(SYS_unlinkat, AT_FDCWD, path_, 0);
  in_file_ = false;
  if (!grow(first_bytes)) {
    leave();
    return false;
  }
  used_bytes_ = sizeof(PartHeader);
  return true;
}

bool Arena::grow(uint64_t to_bytes) {
  to_bytes = std::min(to_bytes, limit_bytes_);
  if (to_bytes <= mapped_bytes_) return false;
  long fd = -1;
  if (in_file_) {
    // Not kept open: a program may count on the numbers of its descriptors, or close all of them.
    fd = open_again();
    if (fd < 0 || !reserve_blocks(static_cast<int>(fd), mapped_bytes_, to_bytes)) {
      const int reason = errno;
      if (fd >= 0) syscall(SYS_close, fd);
      errno = reason;
      return false;
    }
  }
  const int flags = MAP_FIXED | (in_file_ ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS);
  const void* mapped = map_memory(base_ + mapped_bytes_, to_bytes - mapped_bytes_, PROT_READ | PROT_WRITE,
                                  flags, static_cast<int>(fd), in_file_ ? mapped_bytes_ : 0);
  if (fd >= 0) syscall(SYS_close, fd);
  if (mapped == MAP_FAILED) return false;
  mapped_bytes_ = to_bytes;
  return true;
}

uint32_t Arena::allocate(size_t bytes) {
  const uint64_t needed = used_bytes_ + ((bytes + 7) & ~size_t{7});
  if (needed > limit_bytes_) return 0;
  if (needed > mapped_bytes_ && !grow(std::max(needed, mapped_bytes_ * 2))) return 0;
  const auto offset = static_cast<uint32_t>(used_bytes_);
  used_bytes_ = needed;
  at<PartHeader>(0)->used_bytes = used_bytes_;
  return offset;
}

void Arena::leave() {
  if (base_ == nullptr) return;
  syscall(SYS_munmap, base_, limit_bytes_);
  in_file_ = false;
  base_ = nullptr;
  used_bytes_ = mapped_bytes_ = limit_bytes_ = 0;
}

}  // namespace neve::trace
