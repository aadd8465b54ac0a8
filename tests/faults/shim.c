/* SPDX-License-Identifier: BSD-3-Clause
 * Preloaded, makes one call of a process fail: NEVE_SHIM="CALL:NUMBER:KIND" the NUMBERth (from 1) of CALL
 * (write, sync, rename, make) on something below the folder NEVE_SHIM_UNDER. KIND is an errno's number, or
 * "short" for a write of half. Each call that failed is a line in the file NEVE_SHIM_LOG. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static atomic_long calls;

static bool is_wanted(const char* call, long* number, char kind[16]) {
  char name[16];
  const char* text = getenv("NEVE_SHIM");
  return text != NULL && sscanf(text, "%15[a-z]:%ld:%15s", name, number, kind) == 3 &&
         strcmp(name, call) == 0;
}

static bool is_below(const char* path) {
  const char* folder = getenv("NEVE_SHIM_UNDER");
  return folder != NULL && strncmp(path, folder, strlen(folder)) == 0;
}

static bool is_descriptor_below(int fd) {
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t length = syscall(SYS_readlink, link, path, sizeof path - 1);
  if (length < 0) return false;
  path[length] = '\0';
  return is_below(path);
}

static void tell(const char* call) {
  const char* log = getenv("NEVE_SHIM_LOG");
  if (log == NULL) return;
  const long fd = syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  char line[64];
  const int length = snprintf(line, sizeof line, "%s %ld\n", call, (long)syscall(SYS_getpid));
  syscall(SYS_write, fd, line, (size_t)length);
  syscall(SYS_close, fd);
}

/* 0: go on; 1: fail, with errno set; 2: write half. */
static int fault(const char* call, bool is_of_interest) {
  long number;
  char kind[16];
  if (!is_of_interest || !is_wanted(call, &number, kind) || atomic_fetch_add(&calls, 1) + 1 != number)
    return 0;
  tell(call);
  if (strcmp(kind, "short") == 0) return 2;
  errno = atoi(kind);
  return 1;
}

static int fault_of_file(const char* call, int fd) {
  long number;
  char kind[16];
  if (!is_wanted(call, &number, kind)) return 0;
  const int before = errno;
  const bool is_of_interest = is_descriptor_below(fd);
  errno = before;
  return fault(call, is_of_interest);
}

#define EXPORT __attribute__((visibility("default")))
#define NEXT(name) ((__typeof__(&name))(intptr_t)dlsym(RTLD_NEXT, #name))

static size_t half_of(size_t bytes) { return bytes > 1 ? bytes / 2 : bytes; }

EXPORT ssize_t write(int fd, const void* bytes, size_t count) {
  const int now = fault_of_file("write", fd);
  return now == 1 ? -1 : NEXT(write)(fd, bytes, now == 2 ? half_of(count) : count);
}
EXPORT ssize_t pwrite(int fd, const void* bytes, size_t count, off_t at) {
  const int now = fault_of_file("write", fd);
  return now == 1 ? -1 : NEXT(pwrite)(fd, bytes, now == 2 ? half_of(count) : count, at);
}
EXPORT ssize_t pwrite64(int fd, const void* bytes, size_t count, off64_t at) {
  const int now = fault_of_file("write", fd);
  return now == 1 ? -1 : NEXT(pwrite64)(fd, bytes, now == 2 ? half_of(count) : count, at);
}
/* Half of a gathered write: half of its first piece. */
static ssize_t half_of_gathered(int fd, const struct iovec* pieces, off_t at, bool has_place) {
  const size_t half = half_of(pieces[0].iov_len);
  return has_place ? NEXT(pwrite)(fd, pieces[0].iov_base, half, at)
                   : NEXT(write)(fd, pieces[0].iov_base, half);
}
EXPORT ssize_t writev(int fd, const struct iovec* pieces, int count) {
  const int now = fault_of_file("write", fd);
  if (now == 2 && count > 0) return half_of_gathered(fd, pieces, 0, false);
  return now == 1 ? -1 : NEXT(writev)(fd, pieces, count);
}
EXPORT ssize_t pwritev(int fd, const struct iovec* pieces, int count, off_t at) {
  const int now = fault_of_file("write", fd);
  if (now == 2 && count > 0) return half_of_gathered(fd, pieces, at, true);
  return now == 1 ? -1 : NEXT(pwritev)(fd, pieces, count, at);
}
EXPORT ssize_t pwritev64(int fd, const struct iovec* pieces, int count, off64_t at) {
  const int now = fault_of_file("write", fd);
  if (now == 2 && count > 0) return half_of_gathered(fd, pieces, at, true);
  return now == 1 ? -1 : NEXT(pwritev64)(fd, pieces, count, at);
}

EXPORT int fsync(int fd) { return fault_of_file("sync", fd) != 0 ? -1 : NEXT(fsync)(fd); }
EXPORT int fdatasync(int fd) { return fault_of_file("sync", fd) != 0 ? -1 : NEXT(fdatasync)(fd); }

EXPORT int rename(const char* from, const char* to) {
  return fault("rename", is_below(to)) != 0 ? -1 : NEXT(rename)(from, to);
}
EXPORT int renameat2(int from_folder, const char* from, int to_folder, const char* to, unsigned int flags) {
  return fault("rename", is_below(to)) != 0 ? -1 : NEXT(renameat2)(from_folder, from, to_folder, to, flags);
}
EXPORT int link(const char* from, const char* to) {
  return fault("rename", is_below(to)) != 0 ? -1 : NEXT(link)(from, to);
}

EXPORT int mkdir(const char* path, mode_t mode) {
  return fault("make", is_below(path)) != 0 ? -1 : NEXT(mkdir)(path, mode);
}

static mode_t mode_in(int flags, va_list rest) {
  return (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(rest, mode_t) : 0;
}
EXPORT int open(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = mode_in(flags, rest);
  va_end(rest);
  if ((flags & O_CREAT) != 0 && fault("make", is_below(path)) != 0) return -1;
  return NEXT(open)(path, flags, mode);
}
EXPORT int open64(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = mode_in(flags, rest);
  va_end(rest);
  if ((flags & O_CREAT) != 0 && fault("make", is_below(path)) != 0) return -1;
  return NEXT(open64)(path, flags, mode);
}
