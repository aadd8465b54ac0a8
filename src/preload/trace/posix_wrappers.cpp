// SPDX-License-Identifier: BSD-3-Clause
// The POSIX level: what reaches the kernel through the C library's functions.
#include <aio.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "preload/trace/next.hpp"
#include "preload/trace/paths.hpp"
#include "preload/trace/recorder.hpp"

using namespace neve::trace;

namespace {

// Runs `call`, which returns a number of bytes or an error below 0, as one transfer.
template <class Call>
ssize_t transfer(int fd, Direction direction, int64_t offset, Call&& call, Landing landing = Landing::told) {
  if (!may_count(fd)) return call();
  const double begin = now();
  const ssize_t bytes = call();
  const double end = now();
  if (Recording recording; recording) posix_transfer(fd, direction, offset, bytes, {begin, end}, landing);
  return bytes;
}

// `path` as the caller says it from `folder`.
template <class Call>
int open_file(int folder, const char* path, int flags, Call&& call) {
  if (!may_open()) return call();
  const double begin = now();
  const int fd = call();
  const double end = now();
  if (fd < 0) return fd;
  if (Recording recording(Recording::Of::descriptors); recording) {
    const bool from_here = folder == AT_FDCWD || path[0] == '/';
    count(opened(fd, from_here ? path : nullptr, flags, Level::posix, {begin, end}), POSIX_OPENS);
  }
  return fd;
}

// A call about a descriptor that moves no data.
template <class Call>
int meta(int fd, Counter counter, Call&& call) {
  if (!may_count(fd)) return call();
  const double begin = now();
  const int result = call();
  const double end = now();
  if (Recording recording; recording && result == 0) {
    const FileIndex file = file_of(fd);
    count(file, counter);
    spent_on_meta(file, Level::posix, {begin, end});
  }
  return result;
}

// `over` is the number that the duplicate is going to have, -1 where the kernel chooses a free one.
template <class Call>
int duplicate(int from, int over, Call&& call) {
  if (!may_open()) return call();
  if (over >= 0 && over != from) {
    if (Recording recording(Recording::Of::descriptors); recording) about_to_replace(over);
  }
  const double begin = now();
  const int to = call();
  const double end = now();
  if (to < 0) return to;
  if (Recording recording(Recording::Of::descriptors); recording) duplicated(from, to, {begin, end});
  return to;
}

bool has_mode(int flags) { return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE; }

int no_function() {
  errno = ENOSYS;
  return -1;
}

}  // namespace

#define MODE_OF(flags)                \
  mode_t mode = 0;                    \
  if (has_mode(flags)) {              \
    va_list arguments;                \
    va_start(arguments, flags);       \
    mode = va_arg(arguments, mode_t); \
    va_end(arguments);                \
  }

#define OPEN_AT_KERNEL(folder, path, flags, mode) \
  static_cast<int>(syscall(SYS_openat, folder, path, flags, mode))

NEVE_EXPORT int open(const char* path, int flags, ...) {
  MODE_OF(flags)
  NEVE_NEXT(open);
  return open_file(AT_FDCWD, path, flags, [&] {
    return next != nullptr ? next(path, flags, mode) : OPEN_AT_KERNEL(AT_FDCWD, path, flags, mode);
  });
}

NEVE_EXPORT int open64(const char* path, int flags, ...) {
  MODE_OF(flags)
  NEVE_NEXT(open64);
  return open_file(AT_FDCWD, path, flags, [&] {
    return next != nullptr ? next(path, flags, mode) : OPEN_AT_KERNEL(AT_FDCWD, path, flags, mode);
  });
}

NEVE_EXPORT int openat(int folder, const char* path, int flags, ...) {
  MODE_OF(flags)
  NEVE_NEXT(openat);
  return open_file(folder, path, flags, [&] {
    return next != nullptr ? next(folder, path, flags, mode) : OPEN_AT_KERNEL(folder, path, flags, mode);
  });
}

NEVE_EXPORT int openat64(int folder, const char* path, int flags, ...) {
  MODE_OF(flags)
  NEVE_NEXT(openat64);
  return open_file(folder, path, flags, [&] {
    return next != nullptr ? next(folder, path, flags, mode) : OPEN_AT_KERNEL(folder, path, flags, mode);
  });
}

// Programs built with _FORTIFY_SOURCE open through these where the flags are not known beforehand.
extern "C" int __open_2(const char*, int);
extern "C" int __open64_2(const char*, int);
extern "C" int __openat_2(int, const char*, int);
extern "C" int __openat64_2(int, const char*, int);

NEVE_EXPORT int __open_2(const char* path, int flags) {
  NEVE_NEXT(__open_2);
  return open_file(AT_FDCWD, path, flags,
                   [&] { return next != nullptr ? next(path, flags) : no_function(); });
}
NEVE_EXPORT int __open64_2(const char* path, int flags) {
  NEVE_NEXT(__open64_2);
  return open_file(AT_FDCWD, path, flags,
                   [&] { return next != nullptr ? next(path, flags) : no_function(); });
}
NEVE_EXPORT int __openat_2(int folder, const char* path, int flags) {
  NEVE_NEXT(__openat_2);
  return open_file(folder, path, flags,
                   [&] { return next != nullptr ? next(folder, path, flags) : no_function(); });
}
NEVE_EXPORT int __openat64_2(int folder, const char* path, int flags) {
  NEVE_NEXT(__openat64_2);
  return open_file(folder, path, flags,
                   [&] { return next != nullptr ? next(folder, path, flags) : no_function(); });
}

NEVE_EXPORT int creat(const char* path, mode_t mode) {
  NEVE_NEXT(creat);
  return open_file(AT_FDCWD, path, O_WRONLY | O_TRUNC,
                   [&] { return next != nullptr ? next(path, mode) : no_function(); });
}
NEVE_EXPORT int creat64(const char* path, mode_t mode) {
  NEVE_NEXT(creat64);
  return open_file(AT_FDCWD, path, O_WRONLY | O_TRUNC,
                   [&] { return next != nullptr ? next(path, mode) : no_function(); });
}

NEVE_EXPORT int mkstemp(char* name) {
  NEVE_NEXT(mkstemp);
  return open_file(AT_FDCWD, name, O_RDWR, [&] { return next != nullptr ? next(name) : no_function(); });
}
NEVE_EXPORT int mkstemp64(char* name) {
  NEVE_NEXT(mkstemp64);
  return open_file(AT_FDCWD, name, O_RDWR, [&] { return next != nullptr ? next(name) : no_function(); });
}
NEVE_EXPORT int mkostemp(char* name, int flags) {
  NEVE_NEXT(mkostemp);
  return open_file(AT_FDCWD, name, O_RDWR | flags,
                   [&] { return next != nullptr ? next(name, flags) : no_function(); });
}
NEVE_EXPORT int mkstemps(char* name, int suffix) {
  NEVE_NEXT(mkstemps);
  return open_file(AT_FDCWD, name, O_RDWR,
                   [&] { return next != nullptr ? next(name, suffix) : no_function(); });
}

NEVE_EXPORT int close(int fd) {
  NEVE_NEXT(close);
  const auto call = [&] { return next != nullptr ? next(fd) : static_cast<int>(syscall(SYS_close, fd)); };
  if (fd < 0 || !may_open()) return call();
  FileIndex file;
  if (Recording recording(Recording::Of::descriptors); recording) file = closing(fd);
  if (!file) return call();
  const double begin = now();
  const int result = call();
  const double end = now();
  if (Recording recording; recording) closed(file, Level::posix, {begin, end});
  return result;
}

NEVE_EXPORT int close_range(unsigned first, unsigned last, int flags) noexcept {
  NEVE_NEXT(close_range);
  if (may_open() && (flags & static_cast<int>(CLOSE_RANGE_CLOEXEC)) == 0) {
    if (Recording recording(Recording::Of::descriptors); recording) {
      for (unsigned fd = first; fd <= last && fd < 65536; ++fd) closing(static_cast<int>(fd));
    }
  }
  return next != nullptr ? next(first, last, flags) : no_function();
}
NEVE_EXPORT void closefrom(int first) noexcept {
  NEVE_NEXT(closefrom);
  if (may_open()) {
    if (Recording recording(Recording::Of::descriptors); recording) {
      for (int fd = first < 0 ? 0 : first; fd < 65536; ++fd) closing(fd);
    }
  }
  if (next != nullptr) next(first);
}

NEVE_EXPORT int dup(int from) noexcept {
  NEVE_NEXT(dup);
  return duplicate(from, -1, [&] { return next != nullptr ? next(from) : no_function(); });
}
NEVE_EXPORT int dup2(int from, int to) noexcept {
  NEVE_NEXT(dup2);
  return duplicate(from, to, [&] { return next != nullptr ? next(from, to) : no_function(); });
}
NEVE_EXPORT int dup3(int from, int to, int flags) noexcept {
  NEVE_NEXT(dup3);
  return duplicate(from, to, [&] { return next != nullptr ? next(from, to, flags) : no_function(); });
}

// The third argument is a number or an address; either way one register, handed on as it came.
#define FCNTL(name)                                                                         \
  NEVE_EXPORT int name(int fd, int command, ...) {                                          \
    va_list arguments;                                                                      \
    va_start(arguments, command);                                                           \
    void* argument = va_arg(arguments, void*);                                              \
    va_end(arguments);                                                                      \
    NEVE_NEXT(name);                                                                        \
    const auto call = [&] {                                                                 \
      return next != nullptr ? next(fd, command, argument)                                  \
                             : static_cast<int>(syscall(SYS_fcntl, fd, command, argument)); \
    };                                                                                      \
    if (command == F_DUPFD || command == F_DUPFD_CLOEXEC) return duplicate(fd, -1, call);   \
    const int result = call();                                                              \
    if (command == F_SETFL && result == 0 && may_count(fd)) {                               \
      if (Recording recording; recording)                                                   \
        set_append(fd, (reinterpret_cast<uintptr_t>(argument) & uintptr_t{O_APPEND}) != 0); \
    }                                                                                       \
    return result;                                                                          \
  }
FCNTL(fcntl)
FCNTL(fcntl64)

NEVE_EXPORT ssize_t write(int fd, const void* data, size_t bytes) {
  NEVE_NEXT(write);
  return transfer(fd, Direction::write, -1, [&] {
    return next != nullptr ? next(fd, data, bytes)
                           : static_cast<ssize_t>(syscall(SYS_write, fd, data, bytes));
  });
}
NEVE_EXPORT ssize_t read(int fd, void* data, size_t bytes) {
  NEVE_NEXT(read);
  return transfer(fd, Direction::read, -1, [&] {
    return next != nullptr ? next(fd, data, bytes) : static_cast<ssize_t>(syscall(SYS_read, fd, data, bytes));
  });
}

#define WITH_NEXT(name, direction, offset, parameters, arguments)                                   \
  NEVE_EXPORT ssize_t name parameters {                                                             \
    NEVE_NEXT(name);                                                                                \
    return transfer(fd, Direction::direction, offset,                                               \
                    [&]() -> ssize_t { return next != nullptr ? next arguments : no_function(); }); \
  }
WITH_NEXT(pwrite, write, offset, (int fd, const void* data, size_t bytes, off_t offset),
          (fd, data, bytes, offset))
WITH_NEXT(pwrite64, write, offset, (int fd, const void* data, size_t bytes, off64_t offset),
          (fd, data, bytes, offset))
WITH_NEXT(writev, write, -1, (int fd, const iovec* parts, int count), (fd, parts, count))
WITH_NEXT(pwritev, write, offset, (int fd, const iovec* parts, int count, off_t offset),
          (fd, parts, count, offset))
WITH_NEXT(pwritev64, write, offset, (int fd, const iovec* parts, int count, off64_t offset),
          (fd, parts, count, offset))
WITH_NEXT(pread, read, offset, (int fd, void* data, size_t bytes, off_t offset), (fd, data, bytes, offset))
WITH_NEXT(pread64, read, offset, (int fd, void* data, size_t bytes, off64_t offset),
          (fd, data, bytes, offset))
WITH_NEXT(readv, read, -1, (int fd, const iovec* parts, int count), (fd, parts, count))
WITH_NEXT(preadv, read, offset, (int fd, const iovec* parts, int count, off_t offset),
          (fd, parts, count, offset))
WITH_NEXT(preadv64, read, offset, (int fd, const iovec* parts, int count, off64_t offset),
          (fd, parts, count, offset))
WITH_NEXT(preadv2, read, offset, (int fd, const iovec* parts, int count, off_t offset, int flags),
          (fd, parts, count, offset, flags))
WITH_NEXT(preadv64v2, read, offset, (int fd, const iovec* parts, int count, off64_t offset, int flags),
          (fd, parts, count, offset, flags))

#define WITH_FLAGS(name, type)                                                              \
  NEVE_EXPORT ssize_t name(int fd, const iovec* parts, int count, type offset, int flags) { \
    NEVE_NEXT(name);                                                                        \
    return transfer(                                                                        \
        fd, Direction::write, offset,                                                       \
        [&]() -> ssize_t {                                                                  \
          return next != nullptr ? next(fd, parts, count, offset, flags) : no_function();   \
        },                                                                                  \
        (flags & RWF_APPEND) != 0 ? Landing::at_end : Landing::told);                       \
  }
WITH_FLAGS(pwritev2, off_t)
WITH_FLAGS(pwritev64v2, off64_t)

extern "C" ssize_t __read_chk(int, void*, size_t, size_t);
extern "C" ssize_t __pread_chk(int, void*, size_t, off_t, size_t);
extern "C" ssize_t __pread64_chk(int, void*, size_t, off64_t, size_t);
WITH_NEXT(__read_chk, read, -1, (int fd, void* data, size_t bytes, size_t room), (fd, data, bytes, room))
WITH_NEXT(__pread_chk, read, offset, (int fd, void* data, size_t bytes, off_t offset, size_t room),
          (fd, data, bytes, offset, room))
WITH_NEXT(__pread64_chk, read, offset, (int fd, void* data, size_t bytes, off64_t offset, size_t room),
          (fd, data, bytes, offset, room))

namespace {

// Data the kernel moves from one descriptor to another: a read of the one, a write of the other.
template <class Call>
ssize_t between(int from, const off64_t* from_offset, int to, const off64_t* to_offset, Call&& call) {
  const bool count_from = may_count(from), count_to = may_count(to);
  if (!count_from && !count_to) return call();
  const int64_t read_at = from_offset == nullptr ? -1 : *from_offset;
  const int64_t write_at = to_offset == nullptr ? -1 : *to_offset;
  const double begin = now();
  const ssize_t bytes = call();
  const double end = now();
  if (Recording recording; recording) {
    if (count_from) posix_transfer(from, Direction::read, read_at, bytes, {begin, end});
    if (count_to) posix_transfer(to, Direction::write, write_at, bytes, {begin, end});
  }
  return bytes;
}

}  // namespace

NEVE_EXPORT ssize_t copy_file_range(int from, off64_t* from_offset, int to, off64_t* to_offset, size_t bytes,
                                    unsigned flags) {
  NEVE_NEXT(copy_file_range);
  return between(from, from_offset, to, to_offset, [&]() -> ssize_t {
    return next != nullptr ? next(from, from_offset, to, to_offset, bytes, flags) : no_function();
  });
}
NEVE_EXPORT ssize_t sendfile(int to, int from, off_t* offset, size_t bytes) noexcept {
  NEVE_NEXT(sendfile);
  return between(from, offset, to, nullptr, [&]() -> ssize_t {
    return next != nullptr ? next(to, from, offset, bytes) : no_function();
  });
}
NEVE_EXPORT ssize_t sendfile64(int to, int from, off64_t* offset, size_t bytes) noexcept {
  NEVE_NEXT(sendfile64);
  return between(from, offset, to, nullptr, [&]() -> ssize_t {
    return next != nullptr ? next(to, from, offset, bytes) : no_function();
  });
}
NEVE_EXPORT ssize_t splice(int from, off64_t* from_offset, int to, off64_t* to_offset, size_t bytes,
                           unsigned flags) {
  NEVE_NEXT(splice);
  return between(from, from_offset, to, to_offset, [&]() -> ssize_t {
    return next != nullptr ? next(from, from_offset, to, to_offset, bytes, flags) : no_function();
  });
}

#define SEEK(name, type)                                                                                    \
  NEVE_EXPORT type name(int fd, type offset, int whence) noexcept {                                         \
    NEVE_NEXT(name);                                                                                        \
    const auto call = [&]() -> type { return next != nullptr ? next(fd, offset, whence) : no_function(); }; \
    if (!may_count(fd)) return call();                                                                      \
    const double begin = now();                                                                             \
    const type at = call();                                                                                 \
    const double end = now();                                                                               \
    if (at < 0) return at;                                                                                  \
    if (Recording recording; recording) seeked(fd, at, Level::posix, {begin, end});                         \
    return at;                                                                                              \
  }
SEEK(lseek, off_t)
SEEK(lseek64, off64_t)

#define META(name, counter, quality, parameters, arguments)                                     \
  NEVE_EXPORT int name parameters quality {                                                     \
    NEVE_NEXT(name);                                                                            \
    return meta(fd, counter, [&] { return next != nullptr ? next arguments : no_function(); }); \
  }
META(fsync, POSIX_FSYNCS, , (int fd), (fd))
META(fdatasync, POSIX_FDSYNCS, , (int fd), (fd))

#define RESIZE(name, counter, quality, how, size, parameters, arguments)                                    \
  NEVE_EXPORT int name parameters quality {                                                                 \
    NEVE_NEXT(name);                                                                                        \
    const int result = meta(fd, counter, [&] { return next != nullptr ? next arguments : no_function(); }); \
    if (result != 0 || !may_count(fd)) return result;                                                       \
    if (Recording recording; recording) resized(fd, size, how);                                             \
    return result;                                                                                          \
  }
RESIZE(ftruncate, POSIX_TRUNCATES, noexcept, Resize::to, length, (int fd, off_t length), (fd, length))
RESIZE(ftruncate64, POSIX_TRUNCATES, noexcept, Resize::to, length, (int fd, off64_t length), (fd, length))
RESIZE(posix_fallocate, POSIX_ALLOCATES, , Resize::at_least, offset + length,
       (int fd, off_t offset, off_t length), (fd, offset, length))
RESIZE(posix_fallocate64, POSIX_ALLOCATES, , Resize::at_least, offset + length,
       (int fd, off64_t offset, off64_t length), (fd, offset, length))
RESIZE(fallocate, POSIX_ALLOCATES, , Resize::at_least,
       (mode & FALLOC_FL_KEEP_SIZE) != 0 ? 0 : offset + length,
       (int fd, int mode, off_t offset, off_t length), (fd, mode, offset, length))
RESIZE(fallocate64, POSIX_ALLOCATES, , Resize::at_least,
       (mode & FALLOC_FL_KEEP_SIZE) != 0 ? 0 : offset + length,
       (int fd, int mode, off64_t offset, off64_t length), (fd, mode, offset, length))

#define TRUNCATE(name, type)                                                 \
  NEVE_EXPORT int name(const char* path, type length) noexcept {             \
    NEVE_NEXT(name);                                                         \
    const double begin = now();                                              \
    const int result = next != nullptr ? next(path, length) : no_function(); \
    if (result == 0 && may_open()) truncated(path, length, {begin, now()});  \
    return result;                                                           \
  }

namespace {

void truncated(const char* path, int64_t length, Span when) {
  char resolved[path_room];
  Recording recording;
  if (!recording || !resolved_path(path, resolved)) return;
  const FileIndex file = file_named(resolved);
  if (!file) return;
  count(file, POSIX_TRUNCATES);
  spent_on_meta(file, Level::posix, when);
  file_resized(file, length, Resize::to);
}

}  // namespace

TRUNCATE(truncate, off_t)
TRUNCATE(truncate64, off64_t)

// Written at once, through a buffer inside the C library.
NEVE_EXPORT int vdprintf(int fd, const char* format, va_list arguments) {
  NEVE_NEXT(vdprintf);
  return static_cast<int>(transfer(fd, Direction::write, -1, [&]() -> ssize_t {
    return next != nullptr ? next(fd, format, arguments) : no_function();
  }));
}
extern "C" int __vdprintf_chk(int, int, const char*, va_list);
NEVE_EXPORT int __vdprintf_chk(int fd, int flag, const char* format, va_list arguments) {
  NEVE_NEXT(__vdprintf_chk);
  return static_cast<int>(transfer(fd, Direction::write, -1, [&]() -> ssize_t {
    return next != nullptr ? next(fd, flag, format, arguments) : no_function();
  }));
}
NEVE_EXPORT int dprintf(int fd, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int result = vdprintf(fd, format, arguments);
  va_end(arguments);
  return result;
}
extern "C" int __dprintf_chk(int, int, const char*, ...);
NEVE_EXPORT int __dprintf_chk(int fd, int flag, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int result = __vdprintf_chk(fd, flag, format, arguments);
  va_end(arguments);
  return result;
}

NEVE_EXPORT int chdir(const char* path) noexcept {
  NEVE_NEXT(chdir);
  const int result = next != nullptr ? next(path) : no_function();
  if (result == 0) folder_changed();
  return result;
}
NEVE_EXPORT int fchdir(int fd) noexcept {
  NEVE_NEXT(fchdir);
  const int result = next != nullptr ? next(fd) : no_function();
  if (result == 0) folder_changed();
  return result;
}

// Stores into a mapping are no calls, so only that there is one can be told.
#define MMAP(name, type)                                                                                    \
  NEVE_EXPORT void* name(void* at, size_t bytes, int protection, int flags, int fd, type offset) noexcept { \
    NEVE_NEXT(name);                                                                                        \
    void* const result =                                                                                    \
        next != nullptr                                                                                     \
            ? next(at, bytes, protection, flags, fd, offset)                                                \
            : reinterpret_cast<void*>(syscall(SYS_mmap, at, bytes, protection, flags, fd, offset));         \
    if (fd < 0 || (flags & MAP_ANONYMOUS) != 0 || result == MAP_FAILED || !may_count(fd)) return result;    \
    if (Recording recording; recording) {                                                                   \
      const FileIndex file = file_of(fd);                                                                   \
      count(file, POSIX_MMAPS);                                                                             \
      if (file && (flags & MAP_PRIVATE) == 0 && (protection & PROT_WRITE) != 0) mapped_writable();          \
    }                                                                                                       \
    return result;                                                                                          \
  }
MMAP(mmap, off_t)
MMAP(mmap64, off64_t)

namespace {

// The name without the slashes that a folder's may end with.
const char* without_slashes(const char* path, char (&copy)[path_room]) {
  size_t length = path == nullptr ? 0 : std::strlen(path);
  if (length < 2 || length >= sizeof copy || path[length - 1] != '/') return path;
  while (length > 1 && path[length - 1] == '/') --length;
  std::memcpy(copy, path, length);
  copy[length] = '\0';
  return copy;
}

bool is_folder(const char* path) {
  struct stat status {};
  return syscall(SYS_newfstatat, AT_FDCWD, path, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
         S_ISDIR(status.st_mode);
}

template <class Call>
int change_names(Call&& call) {
  if (!may_open()) return call();
  if (Recording recording(Recording::Of::descriptors); recording) about_to_change_names();
  const int result = call();
  names_changed();
  return result;
}

template <class Call>
int rename_file(int from_folder, const char* from, int to_folder, const char* to, bool exchange,
                Call&& call) {
  char old_path[path_room], new_path[path_room], copy[path_room];
  const bool known = may_open() && absolute_path(from_folder, without_slashes(from, copy), old_path);
  const int result = change_names(call);
  if (result != 0 || !known) return result;
  Recording recording;
  if (!recording || !absolute_path(to_folder, without_slashes(to, copy), new_path)) return result;
  renamed(old_path, new_path,
          exchange              ? Rename::exchange
          : is_folder(new_path) ? Rename::folder
                                : Rename::plain);
  return result;
}

}  // namespace

NEVE_EXPORT int rename(const char* from, const char* to) noexcept {
  NEVE_NEXT(rename);
  return rename_file(AT_FDCWD, from, AT_FDCWD, to, false,
                     [&] { return next != nullptr ? next(from, to) : no_function(); });
}
NEVE_EXPORT int renameat(int from_folder, const char* from, int to_folder, const char* to) noexcept {
  NEVE_NEXT(renameat);
  return rename_file(from_folder, from, to_folder, to, false, [&] {
    return next != nullptr ? next(from_folder, from, to_folder, to) : no_function();
  });
}
NEVE_EXPORT int renameat2(int from_folder, const char* from, int to_folder, const char* to,
                          unsigned flags) noexcept {
  NEVE_NEXT(renameat2);
  return rename_file(from_folder, from, to_folder, to, (flags & RENAME_EXCHANGE) != 0, [&] {
    return next != nullptr ? next(from_folder, from, to_folder, to, flags) : no_function();
  });
}

#define REMOVE(name, parameters, arguments)                                                \
  NEVE_EXPORT int name parameters noexcept {                                               \
    NEVE_NEXT(name);                                                                       \
    return change_names([&] { return next != nullptr ? next arguments : no_function(); }); \
  }
REMOVE(unlink, (const char* path), (path))
REMOVE(unlinkat, (int folder, const char* path, int flags), (folder, path, flags))
REMOVE(remove, (const char* path), (path))
REMOVE(rmdir, (const char* path), (path))

// The end of the process, by exit or without its ceremonies.
namespace {

void end_of_process() {
  if (!may_open()) return;
  if (Recording recording(Recording::Of::descriptors); recording) about_to_end();
}

}  // namespace

#define END(name)                            \
  NEVE_EXPORT void name(int code) noexcept { \
    NEVE_NEXT(name);                         \
    end_of_process();                        \
    if (next != nullptr) next(code);         \
    for (;;) syscall(SYS_exit_group, code);  \
  }
END(_exit)
END(_Exit)
