// SPDX-License-Identifier: BSD-3-Clause
// MPI-IO of one process: positioned writes of the system.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

#include "alone/datatype.hpp"
#include "alone/errors.hpp"
#include "alone/info.hpp"

namespace neve::alone {

struct File {
  int descriptor = -1;
  Info hints;
  MPI_Offset begin = 0;         // of the view
  Datatype places = of_1_byte;  // which bytes of the file it shows, again and again
};

namespace {

// Small runs are put together to writes of this size.
constexpr uint64_t buffer_bytes = uint64_t{4} << 20;

// Bytes on their way into a file.
class Output {
 public:
  explicit Output(int descriptor) : descriptor_(descriptor) {}

  uint64_t written() const { return written_; }

  int put(uint64_t at, const std::byte* bytes, uint64_t count) {
    if (at != at_ + buffer_.size() || buffer_.size() + count > buffer_bytes) {
      if (const int flushed = flush(); flushed != MPI_SUCCESS) return flushed;
      at_ = at;
    }
    if (count < buffer_bytes) {
      buffer_.insert(buffer_.end(), bytes, bytes + count);
      return MPI_SUCCESS;
    }
    at_ += count;
    return write(at, bytes, count);
  }
  int flush() {
    const int done = write(at_, buffer_.data(), buffer_.size());
    at_ += buffer_.size();
    buffer_.clear();
    return done;
  }

 private:
  int write(uint64_t at, const std::byte* bytes, uint64_t count) {
    for (uint64_t done = 0; done < count;) {
      const ssize_t part = ::pwrite(descriptor_, bytes + done, count - done, static_cast<off_t>(at + done));
      if (part < 0 && errno == EINTR) continue;
      if (part < 0) return system_error();
      if (part == 0) return first_of_system + ENOSPC;
      done += static_cast<uint64_t>(part);
      written_ += static_cast<uint64_t>(part);
    }
    return MPI_SUCCESS;
  }

  int descriptor_;
  std::vector<std::byte> buffer_;
  uint64_t at_ = 0;  // in the file, of what is in the buffer
  uint64_t written_ = 0;
};

int flags_of(int mode) {
  return ((mode & MPI_MODE_RDWR) != 0 ? O_RDWR : O_WRONLY) | ((mode & MPI_MODE_CREATE) != 0 ? O_CREAT : 0) |
         ((mode & MPI_MODE_EXCL) != 0 ? O_EXCL : 0) | O_CLOEXEC;
}

bool is_allowed(int mode) {
  constexpr int known = MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_WRONLY | MPI_MODE_RDWR;
  const bool writes = (mode & MPI_MODE_WRONLY) != 0, reads_and_writes = (mode & MPI_MODE_RDWR) != 0;
  return (mode & ~known) == 0 && writes != reads_and_writes;
}

// The values in the order of their type, to the places of the view from its byte `at` on.
int write_values(const File& file, MPI_Offset at, const void* values, uint64_t count, const Datatype& type,
                 Output& output) {
  Bytes source(type, reinterpret_cast<MPI_Aint>(values), count);
  Bytes target(file.places, file.begin, for_ever);
  target.skip(static_cast<uint64_t>(at));
  for (Run from = source.next(for_ever); from.bytes > 0; from = source.next(for_ever)) {
    for (uint64_t done = 0; done < from.bytes;) {
      const Run to = target.next(from.bytes - done);
      const auto* bytes = reinterpret_cast<const std::byte*>(from.at) + done;
      if (const int put = output.put(static_cast<uint64_t>(to.at), bytes, to.bytes); put != MPI_SUCCESS)
        return put;
      done += to.bytes;
    }
  }
  return output.flush();
}

}  // namespace
}  // namespace neve::alone

using namespace neve::alone;

int MPI_File_open(MPI_Comm, const char* path, int mode, MPI_Info info, MPI_File* file) {
  return guarded([&]() -> int {
    if (!is_allowed(mode)) return bad_argument;
    auto made = std::make_unique<File>();
    if (info != MPI_INFO_NULL) made->hints = *info;
    made->descriptor = ::open(path, flags_of(mode), 0666);
    if (made->descriptor < 0) return system_error();
    *file = made.release();
    return MPI_SUCCESS;
  });
}

int MPI_File_close(MPI_File* file) {
  const int closed = ::close((*file)->descriptor) == 0 ? MPI_SUCCESS : system_error();
  delete *file;
  *file = MPI_FILE_NULL;
  return closed;
}

int MPI_File_sync(MPI_File file) {
  while (::fsync(file->descriptor) != 0) {
    if (errno != EINTR) return system_error();
  }
  return MPI_SUCCESS;
}

int MPI_File_get_info(MPI_File file, MPI_Info* info) {
  return guarded([&] {
    *info = std::make_unique<Info>(file->hints).release();
    return MPI_SUCCESS;
  });
}

int MPI_File_set_view(MPI_File file, MPI_Offset begin, MPI_Datatype unit, MPI_Datatype places,
                      const char* representation, MPI_Info info) {
  return guarded([&]() -> int {
    const bool is_native = std::string_view(representation) == "native";
    if (begin < 0 || unit != MPI_BYTE || places->bytes == 0 || !is_native || info != MPI_INFO_NULL) {
      return bad_argument;
    }
    file->begin = begin;
    file->places = *places;
    return MPI_SUCCESS;
  });
}

int MPI_File_write_at(MPI_File file, MPI_Offset at, const void* values, int count, MPI_Datatype type,
                      MPI_Status* status) {
  return guarded([&]() -> int {
    if (at < 0 || count < 0) return bad_argument;
    Output output(file->descriptor);
    const int written = write_values(*file, at, values, static_cast<uint64_t>(count), *type, output);
    if (status != MPI_STATUS_IGNORE) *status = {0, 0, written, static_cast<MPI_Count>(output.written())};
    return written;
  });
}

int MPI_File_write_at_all(MPI_File file, MPI_Offset at, const void* values, int count, MPI_Datatype type,
                          MPI_Status* status) {
  return MPI_File_write_at(file, at, values, count, type, status);
}
