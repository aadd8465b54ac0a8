// SPDX-License-Identifier: BSD-3-Clause
#include "io/hdf5/held_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <span>

#include "io/files/descriptor.hpp"
#include "io/files/write.hpp"

namespace neve::hdf5 {

Status HeldFile::write_into(const std::string& path) const {
  files::Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!file.is_open()) return files::system_failure("cannot open " + path);
  for (const Run& run : runs) {
    NEVE_TRY(files::write_fully(file.number(), static_cast<int64_t>(run.address),
                                std::as_bytes(std::span(run.bytes)), path));
  }
  while (::ftruncate(file.number(), static_cast<off_t>(file_bytes)) != 0) {
    if (errno != EINTR) return files::system_failure("cannot truncate " + path);
  }
  return file.close(path);
}

}  // namespace neve::hdf5
