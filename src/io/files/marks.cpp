// SPDX-License-Identifier: BSD-3-Clause
#include "io/files/marks.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <span>
#include <vector>

#include "io/files/descriptor.hpp"
#include "io/files/write.hpp"

namespace neve::files {

Status create_marks(const std::string& path, size_t count) {
  const std::vector<std::byte> none(count, static_cast<std::byte>(Mark::none));
  NEVE_ASSIGN(Descriptor file, create_file(path));
  NEVE_TRY(write_fully(file.number(), 0, none, path));
  return file.close(path);
}

Status set_mark(const std::string& path, size_t index, Mark mark) {
  Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!file.is_open()) return system_failure("cannot open " + path);
  const auto byte = static_cast<std::byte>(mark);
  NEVE_TRY(write_fully(file.number(), static_cast<int64_t>(index), std::span(&byte, 1), path));
  // A network file system sends it with the close.
  return file.close(path);
}

// (Opened anew each time: that is when a network file system asks for what others have written.)
Result<Mark> common_mark(const std::string& path, size_t count) {
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) return system_failure("cannot open " + path);
  std::vector<char> marks(count, static_cast<char>(Mark::none));
  for (size_t at = 0; at < count;) {
    const ssize_t got = ::pread(file.number(), marks.data() + at, count - at, static_cast<off_t>(at));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_failure("reading " + path);
    if (got == 0) break;
    at += static_cast<size_t>(got);
  }
  const auto has = [&](Mark mark) { return std::ranges::count(marks, static_cast<char>(mark)) > 0; };
  if (has(Mark::none)) return Mark::none;
  return has(Mark::failed) ? Mark::failed : Mark::done;
}

}  // namespace neve::files
