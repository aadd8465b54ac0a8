// SPDX-License-Identifier: BSD-3-Clause
#include "io/files/scratch_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "io/files/write.hpp"

namespace neve::files {

Result<ScratchFile> ScratchFile::make(const std::string& path) {
  constexpr int flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  Descriptor file(::open(path.c_str(), flags, 0600));
  if (!file.is_open()) return system_failure("cannot create " + path);
  if (::unlink(path.c_str()) != 0) return system_failure("cannot remove " + path);
  return ScratchFile(std::move(file), path);
}

Status ScratchFile::write(uint64_t offset, std::span<const std::byte> bytes) const {
  return write_fully(file_.number(), static_cast<int64_t>(offset), bytes, path_);
}

Status ScratchFile::read(uint64_t offset, std::span<std::byte> out) const {
  size_t done = 0;
  while (done < out.size()) {
    const ssize_t n =
        ::pread(file_.number(), out.data() + done, out.size() - done, static_cast<off_t>(offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n == 0) errno = EIO;
    if (n <= 0) return system_failure("cannot read " + path_);
    done += static_cast<size_t>(n);
  }
  return {};
}

Status ScratchFile::clear() const {
  return ::ftruncate(file_.number(), 0) == 0 ? Status() : system_failure("cannot empty " + path_);
}

}  // namespace neve::files
