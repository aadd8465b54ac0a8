// SPDX-License-Identifier: BSD-3-Clause
// MPI files whose values are kept as frames, as a program that knows nothing of it uses them. Whatever frames
// cannot serve makes the file a plain one, with the values that it has.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>

namespace neve::pmpi {

// A call of the program as MPI would do it, on a file that may be another than the program's; returns its
// code.
using Plain = std::function<int(MPI_File)>;

enum class Pointer {
  given,
  own,
  shared,
  ordered
};  // where a call reads or writes: at an offset, or a file pointer

struct Access {
  bool is_write;
  bool is_collective;
  bool is_nonblocking;
  bool is_split;  // the beginning of a split collective call
  Pointer pointer;
  MPI_Offset offset;  // in elements of the view
  const void* data;
  int64_t count;
  MPI_Datatype type;
  MPI_Status* status;    // of a call that comes back when it is done
  MPI_Request* request;  // of a nonblocking one
};
// Whether it comes back only when all ranks have called it: nonblocking calls may not.
inline bool waits(const Access& access) { return access.is_collective && !access.is_nonblocking; }
// Bytes that it asks to be read or written.
uint64_t asked_bytes(const Access& access);

int access_file(MPI_File file, const Access& access, const Plain& plain);
int end_split(MPI_File file, MPI_Status* status, const Plain& plain);

int seek_file(MPI_File file, MPI_Offset offset, int whence, const Plain& plain);
int file_position(MPI_File file, MPI_Offset* offset, const Plain& plain);
int seek_file_shared(MPI_File file, MPI_Offset offset, int whence, const Plain& plain);
int file_position_shared(MPI_File file, MPI_Offset* offset, const Plain& plain);
int file_size(MPI_File file, MPI_Offset* bytes, const Plain& plain);
int set_file_size(MPI_File file, MPI_Offset bytes, bool may_shrink, const Plain& plain);
int set_file_view(MPI_File file, MPI_Offset displacement, MPI_Datatype element, MPI_Datatype filetype,
                  const char* representation, const Plain& plain);
int set_file_atomicity(MPI_File file, bool is_on, const Plain& plain);
// What MPI knows of the handle that its calls go to: atomicity, the view, offsets in it.
int ask_file(MPI_File file, const Plain& plain);
int set_file_errhandler(MPI_File file, const Plain& plain);
int sync_file(MPI_File file, const Plain& plain);

struct FileCounts {
  uint64_t writes = 0, reads = 0, value_bytes = 0, frame_bytes = 0;  // bytes: written by this rank
};
FileCounts& file_counts();

}  // namespace neve::pmpi
