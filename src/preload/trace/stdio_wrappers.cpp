// SPDX-License-Identifier: BSD-3-Clause
// The stdio level. Inside the C library a stream's buffer reaches the kernel by calls that no wrapper sees,
// so calls are counted here, under a family of their own, and what they hand over is not in the POSIX
// counters.
#include <fcntl.h>
#include <stdio.h>

#include <cstdarg>
#include <cstring>

#include "preload/trace/next.hpp"
#include "preload/trace/recorder.hpp"
#include "preload/trace/streams.hpp"

using namespace neve::trace;

namespace {

// A stream in memory has none; asking must not show in errno.
int descriptor(FILE* stream) {
  if (stream == nullptr) return -1;
  const int kept = errno;
  const int fd = fileno_unlocked(stream);
  errno = kept;
  return fd;
}

FILE* no_stream() {
  errno = ENOSYS;
  return nullptr;
}

// As open(2) would be told by this mode.
int flags_of(const char* mode) {
  if (mode == nullptr) return O_RDWR | O_TRUNC;  // a temporary file
  const bool updates = std::strchr(mode, '+') != nullptr;
  const int way = updates ? O_RDWR : mode[0] == 'r' ? O_RDONLY : O_WRONLY;
  return way | (mode[0] == 'w' ? O_TRUNC : 0) | (mode[0] == 'a' ? O_APPEND : 0);
}

template <class Call>
FILE* open_stream(Counter counter, const char* path, const char* mode, Call&& call) {
  if (!may_open()) return call();
  const double begin = now();
  FILE* const stream = call();
  const double end = now();
  const int fd = descriptor(stream);
  if (fd < 0) return stream;
  if (Recording recording(Recording::Of::descriptors); recording) {
    if (counter == STDIO_FDOPENS) {
      const FileIndex file = file_of(fd);
      if ((flags_of(mode) & O_APPEND) != 0) set_append(fd, true);
      count(file, counter);
      spent_on_meta(file, Level::stdio, {begin, end});
    } else {
      count(opened(fd, path, flags_of(mode), Level::stdio, {begin, end}), counter);
    }
    meet_stream(stream, fd);
    stream_begins(fd);
  }
  return stream;
}

// `bytes_of` turns the call's result into the bytes moved, below 0 where it failed.
template <class Call, class BytesOf>
auto transfer(FILE* stream, Direction direction, Call&& call, BytesOf&& bytes_of) {
  const int fd = descriptor(stream);
  if (!may_count(fd)) return call();
  const double begin = now();
  const auto result = call();
  const double end = now();
  const int64_t bytes = bytes_of(result);
  if (bytes < 0) return result;
  if (Recording recording; recording) stdio_transfer(fd, direction, bytes, {begin, end});
  return result;
}

// Around a call that writes to a stream, flushes or moves it: tells what the program has put into its buffer
// by itself.
template <class Call>
auto watched(FILE* stream, int fd, Call&& call) {
  const StreamCall here = begin_stream_call(stream, fd);
  if (here.is_first || here.inlined > 0) {
    if (Recording recording; recording) {
      if (here.is_first) stream_begins(fd);
      stdio_inlined(fd, here.inlined, now());
    }
  }
  const auto result = call();
  end_stream_call(stream, here);
  return result;
}

template <class Call, class BytesOf>
auto write_to(FILE* stream, Call&& call, BytesOf&& bytes_of) {
  const int fd = descriptor(stream);
  if (!may_count(fd)) return call();
  return transfer(
      stream, Direction::write, [&] { return watched(stream, fd, call); }, bytes_of);
}

constexpr auto one_unless_end = [](int character) -> int64_t { return character == EOF ? -1 : 1; };
constexpr auto as_it_is = [](auto count) -> int64_t { return static_cast<int64_t>(count); };

template <class Call>
int seek(FILE* stream, Call&& call) {
  const int fd = descriptor(stream);
  if (!may_count(fd)) return call();
  const double begin = now();
  const int result = watched(stream, fd, call);
  const double end = now();
  if (result != 0) return result;
  const off64_t at = ftello64(stream);
  if (Recording recording; recording && at >= 0) seeked(fd, at, Level::stdio, {begin, end});
  return result;
}

int no_function() {
  errno = ENOSYS;
  return -1;
}

}  // namespace

NEVE_EXPORT FILE* fopen(const char* path, const char* mode) {
  NEVE_NEXT(fopen);
  return open_stream(STDIO_OPENS, path, mode,
                     [&] { return next != nullptr ? next(path, mode) : no_stream(); });
}
NEVE_EXPORT FILE* fopen64(const char* path, const char* mode) {
  NEVE_NEXT(fopen64);
  return open_stream(STDIO_OPENS, path, mode,
                     [&] { return next != nullptr ? next(path, mode) : no_stream(); });
}
NEVE_EXPORT FILE* tmpfile() {
  NEVE_NEXT(tmpfile);
  return open_stream(STDIO_OPENS, nullptr, nullptr, [&] { return next != nullptr ? next() : no_stream(); });
}
NEVE_EXPORT FILE* fdopen(int fd, const char* mode) noexcept {
  NEVE_NEXT(fdopen);
  return open_stream(STDIO_FDOPENS, nullptr, mode,
                     [&] { return next != nullptr ? next(fd, mode) : no_stream(); });
}

namespace {

// What waits in a buffer reaches the file before the size of the file is looked at. A stream that another
// thread holds is left alone: a program that ends must not wait for it.
void write_out(FILE* stream, int fd) {
  if (bytes_waiting(fd) == 0 || ftrylockfile(stream) != 0) return;
  const int kept = errno;
  NEVE_NEXT(fflush_unlocked);
  if (next != nullptr) next(stream);
  errno = kept;
  funlockfile(stream);
}

void look_before_close(FILE* stream, int fd) {
  if (!may_count(fd)) return;
  watched(stream, fd, [] { return 0; });
  write_out(stream, fd);
}

void forget_stream(FILE* stream) {
  const int fd = descriptor(stream);
  if (fd < 0 || !may_open()) return;
  look_before_close(stream, fd);
  if (Recording recording(Recording::Of::descriptors); recording) closing(fd);
}

}  // namespace

NEVE_EXPORT FILE* freopen(const char* path, const char* mode, FILE* stream) {
  NEVE_NEXT(freopen);
  forget_stream(stream);
  return open_stream(STDIO_OPENS, path, mode,
                     [&] { return next != nullptr ? next(path, mode, stream) : no_stream(); });
}
NEVE_EXPORT FILE* freopen64(const char* path, const char* mode, FILE* stream) {
  NEVE_NEXT(freopen64);
  forget_stream(stream);
  return open_stream(STDIO_OPENS, path, mode,
                     [&] { return next != nullptr ? next(path, mode, stream) : no_stream(); });
}

NEVE_EXPORT int fclose(FILE* stream) {
  NEVE_NEXT(fclose);
  if (next == nullptr) return no_function();
  const int fd = descriptor(stream);
  if (fd < 0 || !may_open()) return next(stream);
  look_before_close(stream, fd);
  FileIndex file;
  if (Recording recording(Recording::Of::descriptors); recording) file = closing(fd);
  const double begin = now();
  const int result = next(stream);
  const double end = now();
  if (!file) return result;
  if (Recording recording; recording) closed(file, Level::stdio, {begin, end});
  return result;
}

namespace {

// What lies in the streams' buffers before they are all written.
template <class Then>
void look_at_all_streams(Then&& then) {
  if (!may_open()) return;
  int fd = 0;
  while (FILE* const stream = next_stream(fd)) {
    if (may_count(fd)) {
      watched(stream, fd, [] { return 0; });
      then(stream, fd);
    }
    ++fd;
  }
}

template <class Call>
int flush(FILE* stream, Call&& call) {
  if (stream == nullptr) look_at_all_streams([](FILE*, int) {});
  const int fd = descriptor(stream);
  if (!may_count(fd)) return call();
  const double begin = now();
  const int result = watched(stream, fd, call);
  const double end = now();
  if (Recording recording; recording && result == 0) {
    const FileIndex file = file_of(fd);
    count(file, STDIO_FLUSHES);
    spent_on_meta(file, Level::stdio, {begin, end});
  }
  return result;
}

// When the program ends by exit the C library would write what is left in the buffers after this.
__attribute__((destructor)) void at_exit() {
  look_at_all_streams(write_out);
  if (!may_open()) return;
  if (Recording recording(Recording::Of::descriptors); recording) about_to_end();
}

}  // namespace

#define FLUSH(name)                                                                       \
  NEVE_EXPORT int name(FILE* stream) {                                                    \
    NEVE_NEXT(name);                                                                      \
    return flush(stream, [&] { return next != nullptr ? next(stream) : no_function(); }); \
  }
FLUSH(fflush)
FLUSH(fflush_unlocked)

namespace {

auto whole_blocks(size_t size, size_t count) {
  return [=](size_t done) {
    return done == 0 && count > 0 && size > 0 ? -1 : static_cast<int64_t>(done * size);
  };
}

}  // namespace

#define WRITE_BLOCKS(name)                                                                         \
  NEVE_EXPORT size_t name(const void* data, size_t size, size_t count, FILE* stream) {             \
    NEVE_NEXT(name);                                                                               \
    return write_to(                                                                               \
        stream, [&]() -> size_t { return next != nullptr ? next(data, size, count, stream) : 0; }, \
        whole_blocks(size, count));                                                                \
  }
#define READ_BLOCKS(name)                                                                  \
  NEVE_EXPORT size_t name(void* data, size_t size, size_t count, FILE* stream) {           \
    NEVE_NEXT(name);                                                                       \
    return transfer(                                                                       \
        stream, Direction::read,                                                           \
        [&]() -> size_t { return next != nullptr ? next(data, size, count, stream) : 0; }, \
        whole_blocks(size, count));                                                        \
  }
WRITE_BLOCKS(fwrite)
WRITE_BLOCKS(fwrite_unlocked)
READ_BLOCKS(fread)
READ_BLOCKS(fread_unlocked)

extern "C" size_t __fread_chk(void*, size_t, size_t, size_t, FILE*);
NEVE_EXPORT size_t __fread_chk(void* data, size_t room, size_t size, size_t count, FILE* stream) {
  NEVE_NEXT(__fread_chk);
  return transfer(
      stream, Direction::read,
      [&]() -> size_t { return next != nullptr ? next(data, room, size, count, stream) : 0; },
      whole_blocks(size, count));
}

#define PUT_CHARACTER(name)                                                                                 \
  NEVE_EXPORT int name(int character, FILE* stream) {                                                       \
    NEVE_NEXT(name);                                                                                        \
    return write_to(                                                                                        \
        stream, [&] { return next != nullptr ? next(character, stream) : no_function(); }, one_unless_end); \
  }
#undef putc
#undef getc
#undef putc_unlocked
#undef fputc_unlocked
#undef getc_unlocked
#undef fgetc_unlocked
PUT_CHARACTER(fputc)
PUT_CHARACTER(putc)
extern "C" int _IO_putc(int, FILE*);
PUT_CHARACTER(_IO_putc)
PUT_CHARACTER(fputc_unlocked)
PUT_CHARACTER(putc_unlocked)

#define GET_CHARACTER(name)                                                                      \
  NEVE_EXPORT int name(FILE* stream) {                                                           \
    NEVE_NEXT(name);                                                                             \
    return transfer(                                                                             \
        stream, Direction::read, [&] { return next != nullptr ? next(stream) : no_function(); }, \
        one_unless_end);                                                                         \
  }
GET_CHARACTER(fgetc)
GET_CHARACTER(getc)
extern "C" int _IO_getc(FILE*);
GET_CHARACTER(_IO_getc)
GET_CHARACTER(fgetc_unlocked)
GET_CHARACTER(getc_unlocked)

// Called by putc_unlocked and its kin, which are compiled into the program, when the buffer is full.
extern "C" int __overflow(FILE*, int);
NEVE_EXPORT int __overflow(FILE* stream, int character) {
  NEVE_NEXT(__overflow);
  const auto call = [&] { return next != nullptr ? next(stream, character) : no_function(); };
  const int fd = descriptor(stream);
  if (!may_count(fd)) return call();
  const int result = watched(stream, fd, call);
  if (character == EOF || result == EOF) return result;
  if (Recording recording; recording) stdio_inlined(fd, 1, now());
  return result;
}

#define PUT_STRING(name)                                                                           \
  NEVE_EXPORT int name(const char* text, FILE* stream) {                                           \
    NEVE_NEXT(name);                                                                               \
    return write_to(                                                                               \
        stream, [&] { return next != nullptr ? next(text, stream) : no_function(); },              \
        [&](int result) { return result == EOF ? -1 : static_cast<int64_t>(std::strlen(text)); }); \
  }
PUT_STRING(fputs)
PUT_STRING(fputs_unlocked)

NEVE_EXPORT int puts(const char* text) {
  NEVE_NEXT(puts);
  return write_to(
      stdout, [&] { return next != nullptr ? next(text) : no_function(); },
      [&](int result) { return result == EOF ? -1 : static_cast<int64_t>(std::strlen(text)) + 1; });
}
NEVE_EXPORT int putchar(int character) {
  NEVE_NEXT(putchar);
  return write_to(
      stdout, [&] { return next != nullptr ? next(character) : no_function(); }, one_unless_end);
}

NEVE_EXPORT int putchar_unlocked(int character) {
  NEVE_NEXT(putchar_unlocked);
  return write_to(
      stdout, [&] { return next != nullptr ? next(character) : no_function(); }, one_unless_end);
}

NEVE_EXPORT char* fgets(char* text, int room, FILE* stream) {
  NEVE_NEXT(fgets);
  return transfer(
      stream, Direction::read,
      [&]() -> char* { return next != nullptr ? next(text, room, stream) : nullptr; },
      [&](const char* result) { return result == nullptr ? -1 : static_cast<int64_t>(std::strlen(text)); });
}
extern "C" char* __fgets_chk(char*, size_t, int, FILE*);
NEVE_EXPORT char* __fgets_chk(char* text, size_t known, int room, FILE* stream) {
  NEVE_NEXT(__fgets_chk);
  return transfer(
      stream, Direction::read,
      [&]() -> char* { return next != nullptr ? next(text, known, room, stream) : nullptr; },
      [&](const char* result) { return result == nullptr ? -1 : static_cast<int64_t>(std::strlen(text)); });
}
NEVE_EXPORT ssize_t getdelim(char** line, size_t* room, int delimiter, FILE* stream) {
  NEVE_NEXT(getdelim);
  return transfer(
      stream, Direction::read,
      [&]() -> ssize_t { return next != nullptr ? next(line, room, delimiter, stream) : no_function(); },
      as_it_is);
}
extern "C" ssize_t __getdelim(char**, size_t*, int, FILE*);
NEVE_EXPORT ssize_t __getdelim(char** line, size_t* room, int delimiter, FILE* stream) {
  NEVE_NEXT(__getdelim);
  return transfer(
      stream, Direction::read,
      [&]() -> ssize_t { return next != nullptr ? next(line, room, delimiter, stream) : no_function(); },
      as_it_is);
}
NEVE_EXPORT ssize_t getline(char** line, size_t* room, FILE* stream) {
  NEVE_NEXT(getline);
  return transfer(
      stream, Direction::read,
      [&]() -> ssize_t { return next != nullptr ? next(line, room, stream) : no_function(); }, as_it_is);
}

NEVE_EXPORT int vfprintf(FILE* stream, const char* format, va_list arguments) {
  NEVE_NEXT(vfprintf);
  return write_to(
      stream, [&] { return next != nullptr ? next(stream, format, arguments) : no_function(); }, as_it_is);
}
extern "C" int __vfprintf_chk(FILE*, int, const char*, va_list);
NEVE_EXPORT int __vfprintf_chk(FILE* stream, int flag, const char* format, va_list arguments) {
  NEVE_NEXT(__vfprintf_chk);
  return write_to(
      stream, [&] { return next != nullptr ? next(stream, flag, format, arguments) : no_function(); },
      as_it_is);
}
NEVE_EXPORT int vprintf(const char* format, va_list arguments) { return vfprintf(stdout, format, arguments); }

#define PRINT(declaration, last, call) \
  NEVE_EXPORT int declaration {        \
    va_list arguments;                 \
    va_start(arguments, last);         \
    const int result = call;           \
    va_end(arguments);                 \
    return result;                     \
  }
PRINT(fprintf(FILE* stream, const char* format, ...), format, vfprintf(stream, format, arguments))
PRINT(printf(const char* format, ...), format, vfprintf(stdout, format, arguments))
extern "C" int __fprintf_chk(FILE*, int, const char*, ...);
extern "C" int __printf_chk(int, const char*, ...);
PRINT(__fprintf_chk(FILE* stream, int flag, const char* format, ...), format,
      __vfprintf_chk(stream, flag, format, arguments))
PRINT(__printf_chk(int flag, const char* format, ...), format,
      __vfprintf_chk(stdout, flag, format, arguments))

NEVE_EXPORT int fseek(FILE* stream, long offset, int whence) {
  NEVE_NEXT(fseek);
  return seek(stream, [&] { return next != nullptr ? next(stream, offset, whence) : no_function(); });
}
NEVE_EXPORT int fseeko(FILE* stream, off_t offset, int whence) {
  NEVE_NEXT(fseeko);
  return seek(stream, [&] { return next != nullptr ? next(stream, offset, whence) : no_function(); });
}
NEVE_EXPORT int fseeko64(FILE* stream, off64_t offset, int whence) {
  NEVE_NEXT(fseeko64);
  return seek(stream, [&] { return next != nullptr ? next(stream, offset, whence) : no_function(); });
}
NEVE_EXPORT void rewind(FILE* stream) {
  NEVE_NEXT(rewind);
  seek(stream, [&] {
    if (next != nullptr) next(stream);
    return 0;
  });
}
NEVE_EXPORT int fsetpos(FILE* stream, const fpos_t* position) {
  NEVE_NEXT(fsetpos);
  return seek(stream, [&] { return next != nullptr ? next(stream, position) : no_function(); });
}
