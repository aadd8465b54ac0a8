// SPDX-License-Identifier: BSD-3-Clause
#include "io/plotfile/file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace neve::plotfile {

Result<std::shared_ptr<File>> File::open(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return failure(fmt::format("cannot open {}: {}", path, std::strerror(errno)));
  struct stat info {};
  if (::fstat(fd, &info) != 0) {
    const int why = errno;
    ::close(fd);
    return failure(fmt::format("cannot ask the size of {}: {}", path, std::strerror(why)));
  }
  if (!S_ISREG(info.st_mode)) {
    ::close(fd);
    return failure(fmt::format("{} is not a regular file", path));
  }
  return std::shared_ptr<File>(new File(path, fd, info.st_size));
}

File::File(std::string path, int fd, int64_t size_bytes)
    : path_(std::move(path)), fd_(fd), size_bytes_(size_bytes) {}

File::~File() { ::close(fd_); }

Status File::read(int64_t offset, std::span<std::byte> out) const {
  if (offset < 0 || offset > size_bytes_ || static_cast<int64_t>(out.size()) > size_bytes_ - offset) {
    return corrupt(fmt::format("{} has {} bytes; bytes {} to {} are needed", path_, size_bytes_, offset,
                               offset + static_cast<int64_t>(out.size())));
  }
  size_t done = 0;
  while (done < out.size()) {
    const ssize_t n = ::pread(fd_, out.data() + done, out.size() - done,
                              static_cast<off_t>(offset) + static_cast<off_t>(done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return failure(fmt::format("cannot read {}: {}", path_, std::strerror(errno)));
    if (n == 0) {
      return corrupt(fmt::format("{} ended at byte {} while being read; it had {} bytes when opened", path_,
                                 offset + static_cast<int64_t>(done), size_bytes_));
    }
    done += static_cast<size_t>(n);
  }
  return {};
}

Status File::read(int64_t offset, std::span<std::byte> first, std::span<std::byte> second) const {
  const std::array<iovec, 2> parts{{{first.data(), first.size()}, {second.data(), second.size()}}};
  const ssize_t n = ::preadv(fd_, parts.data(), static_cast<int>(parts.size()), static_cast<off_t>(offset));
  if (n >= 0 && static_cast<size_t>(n) == first.size() + second.size()) return {};
  NEVE_TRY(read(offset, first));
  return read(offset + static_cast<int64_t>(first.size()), second);
}

Result<std::string> read_text(const std::string& path) {
  NEVE_ASSIGN(const std::shared_ptr<File> file, File::open(path));
  std::string text(static_cast<size_t>(file->size_bytes()), '\0');
  NEVE_TRY(file->read(0, std::as_writable_bytes(std::span(text))));
  return text;
}

}  // namespace neve::plotfile
