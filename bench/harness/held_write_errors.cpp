// SPDX-License-Identifier: BSD-3-Clause
// The program's own definitions of the MPI calls by which HDF5 writes: the dynamic linker finds them before
// those of the MPI library and of a tracing library, which they call.
#include "bench/harness/held_write_errors.hpp"

#include <dlfcn.h>
#include <mpi.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "bench/harness/imitated_link.hpp"
#include "core/status/guarded.hpp"
#include "parallel/comm/agree.hpp"
#include "parallel/file/written.hpp"

namespace neve::apps {
namespace {

thread_local HeldWriteErrors* current = nullptr;

template <class Function>
Function next_function(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

// Of those that nothing but a file gives: MPI's messages between processes set others in passing.
bool is_of_a_device(int reason) {
  return reason == EIO || reason == ENOSPC || reason == EDQUOT || reason == EFBIG || reason == EROFS;
}

Status outcome(int code, const MPI_Status& written, uint64_t bytes, int reason, const std::string& path) {
  Status status = mpi::mpi_status(code, path, "write");
  // ROMIO says nothing of a rank that has nothing to write.
  if (status.ok() && bytes > 0) status = mpi::check_written(written, bytes, path);
  if (status.ok() || !is_of_a_device(reason)) return status;
  return failure(path + ": cannot write: " + std::strerror(reason));
}

// Does a write; of one that fails, notes why and makes `written` say that it did not. Open MPI's calls
// succeed where nothing could be written.
template <class Write>
int held_write(MPI_Count bytes, MPI_Status* written, Write&& write) {
  if (current == nullptr) return write(written);
  MPI_Status mine;
  errno = 0;
  const int code = write(&mine);
  const int reason = errno;
  current->note(guarded(
      "write", [&] { return outcome(code, mine, static_cast<uint64_t>(bytes), reason, current->path()); }));
  MPI_Status_set_elements_x(&mine, MPI_BYTE, bytes);
  if (written != MPI_STATUS_IGNORE) *written = mine;
  return MPI_SUCCESS;
}

// Through the link that is imitated, if any is.
template <class Write>
int linked_write(int count, MPI_Datatype type, MPI_Status* written, Write&& write) {
  const double speed = imitated_link().to_file;
  if (current == nullptr && speed <= 0) return write(written);
  MPI_Count type_bytes = 0;
  if (const int code = MPI_Type_size_x(type, &type_bytes); code != MPI_SUCCESS) return code;
  const MPI_Count bytes = type_bytes * count;
  return through_link(static_cast<double>(bytes), speed, [&] { return held_write(bytes, written, write); });
}

}  // namespace

HeldWriteErrors::HeldWriteErrors(std::string path) : path_(std::move(path)) { current = this; }

HeldWriteErrors::~HeldWriteErrors() { current = nullptr; }

}  // namespace neve::apps

#define NEVE_BEFORE_MPI extern "C" __attribute__((visibility("default")))

NEVE_BEFORE_MPI int MPI_File_write_at(MPI_File file, MPI_Offset at, const void* values, int count,
                                      MPI_Datatype type, MPI_Status* written) {
  static const auto next = neve::apps::next_function<decltype(&MPI_File_write_at)>("MPI_File_write_at");
  return neve::apps::linked_write(
      count, type, written, [&](MPI_Status* status) { return next(file, at, values, count, type, status); });
}

NEVE_BEFORE_MPI int MPI_File_write_at_all(MPI_File file, MPI_Offset at, const void* values, int count,
                                          MPI_Datatype type, MPI_Status* written) {
  static const auto next =
      neve::apps::next_function<decltype(&MPI_File_write_at_all)>("MPI_File_write_at_all");
  return neve::apps::linked_write(
      count, type, written, [&](MPI_Status* status) { return next(file, at, values, count, type, status); });
}

// Cuts the file to its size when HDF5 closes it.
NEVE_BEFORE_MPI int MPI_File_set_size(MPI_File file, MPI_Offset bytes) {
  static const auto next = neve::apps::next_function<decltype(&MPI_File_set_size)>("MPI_File_set_size");
  const int code = next(file, bytes);
  neve::apps::HeldWriteErrors* const held = neve::apps::current;
  if (held == nullptr) return code;
  held->note(
      neve::guarded("write", [&] { return neve::mpi::mpi_status(code, held->path(), "setting its size"); }));
  return MPI_SUCCESS;
}
