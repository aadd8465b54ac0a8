// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/file/written.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace neve::mpi {
namespace {

// The system's reason against bytes there; empty where it has none, or its file system cannot be asked.
std::string reason_against(const std::string& path, uint64_t at, uint64_t count) {
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (descriptor < 0) return std::strerror(errno);
  // Of the file's size as well: a limit on that is a reason, too.
  const int rc = ::fallocate(descriptor, 0, static_cast<off_t>(at), static_cast<off_t>(count));
  const int reason = rc == 0 || errno == EOPNOTSUPP || errno == ENOSYS || errno == EINTR ? 0 : errno;
  ::close(descriptor);
  return reason == 0 ? std::string() : std::strerror(reason);
}

}  // namespace

Status check_written(const MPI_Status& written, uint64_t wanted_bytes, const std::string& path) {
  MPI_Count written_bytes = 0;
  NEVE_TRY(mpi_status(MPI_Get_elements_x(&written, MPI_BYTE, &written_bytes), "MPI_Get_elements_x"));
  if (static_cast<uint64_t>(written_bytes) == wanted_bytes) return {};
  return failure(path + ": " + std::to_string(written_bytes) + " of " + std::to_string(wanted_bytes) +
                 " bytes were written; is the disk full?");
}

Status write_bytes(MPI_File file, const std::string& path, uint64_t at, const std::byte* bytes,
                   uint64_t count) {
  constexpr uint64_t most = uint64_t{1} << 28;  // of one call: an MPI count is an int
  for (uint64_t done = 0; done < count; done += most) {
    const uint64_t part = std::min(most, count - done);
    MPI_Status written;
    const Status status = mpi_status(MPI_File_write_at(file, static_cast<MPI_Offset>(at + done), bytes + done,
                                                       static_cast<int>(part), MPI_BYTE, &written),
                                     path + ": write");
    const Status complete = status.ok() ? check_written(written, part, path) : status;
    if (complete.ok()) continue;
    const std::string reason = reason_against(path, at + done, part);
    if (reason.empty()) return complete;
    return failure(path + ": writing " + std::to_string(part) + " bytes: " + reason);
  }
  return {};
}

}  // namespace neve::mpi
