// SPDX-License-Identifier: BSD-3-Clause
#include "io/files/write.hpp"

#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include "io/files/list_folder.hpp"

namespace neve::files {

namespace fs = std::filesystem;

Result<Descriptor> create_file(const std::string& path) {
  constexpr int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  Descriptor file(::open(path.c_str(), flags, 0666));  // less the user's umask
  if (!file.is_open()) return system_failure("cannot create " + path);
  return file;
}

Status write_fully(int fd, int64_t offset, std::span<const std::byte> bytes, const std::string& name) {
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t n = ::pwrite(fd, bytes.data() + done, bytes.size() - done,
                               static_cast<off_t>(offset) + static_cast<off_t>(done));
    if (n < 0 && errno == EINTR) continue;
    if (n == 0) errno = EIO;
    if (n <= 0) {
      return system_failure("cannot write " + std::to_string(bytes.size() - done) + " bytes at " +
                            std::to_string(offset + static_cast<int64_t>(done)) + " of " + name);
    }
    done += static_cast<size_t>(n);
  }
  return {};
}

Status write_fully(int fd, int64_t offset, std::span<const std::byte> first,
                   std::span<const std::byte> second, const std::string& name) {
  const auto part = [](std::span<const std::byte> bytes) {
    return iovec{const_cast<std::byte*>(bytes.data()), bytes.size()};
  };
  const std::array<iovec, 2> parts{part(first), part(second)};
  const ssize_t n = ::pwritev(fd, parts.data(), static_cast<int>(parts.size()), static_cast<off_t>(offset));
  if (n >= 0 && static_cast<size_t>(n) == first.size() + second.size()) return {};
  NEVE_TRY(write_fully(fd, offset, first, name));
  return write_fully(fd, offset + static_cast<int64_t>(first.size()), second, name);
}

Status sync_file(int fd, const std::string& name) {
  int rc = 0;
  do {
    rc = ::fsync(fd);
  } while (rc != 0 && errno == EINTR);
  return rc == 0 ? Status() : system_failure(name + ": sync");
}

Status sync_path(const std::string& path) {
  const Descriptor opened(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!opened.is_open()) return system_failure(path + ": opening to sync");
  return sync_file(opened.number(), path);
}

Status sync_name(const Target& target) {
  const Status synced = sync_path(target.folder);
  return synced.ok() ? synced : synced.in(target.given + " is written, but its name may not last");
}

Status sync_tree(const std::string& folder) {
  NEVE_ASSIGN(const std::vector<Entry> entries, list_folder(folder));
  for (const Entry& entry : entries) {
    const std::string path = folder + "/" + entry.name;
    if (entry.is_folder()) {
      NEVE_TRY(sync_tree(path));
    } else if (!entry.is_link()) {
      NEVE_TRY(sync_path(path));
    }
  }
  return sync_path(folder);
}

}  // namespace neve::files
