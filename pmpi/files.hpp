// SPDX-License-Identifier: BSD-3-Clause
// MPI files whose values are kept as frames, as a program that knows nothing of it uses them.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>

namespace neve::pmpi {

// A call of the program as MPI would do it; returns its code.
using Plain = std::function<int()>;

// Opening and closing, as the functions of MPI.
int open_file(MPI_Comm comm, const char* name, int mode, MPI_Info info, MPI_File* file);
int close_file(MPI_File* file);

struct Access {
  const char* name;  // of the MPI function
  MPI_File file;
  bool is_explicit;   // at `offset`; else at the file pointer
  MPI_Offset offset;  // in elements of the view
  int64_t count;
  MPI_Datatype type;
  MPI_Status* status;
  bool is_collective;
};
int write_file(const Access& access, const void* data, const Plain& plain);
int read_file(const Access& access, void* data, const Plain& plain);

// What frames cannot give (shared pointers, nonblocking and split calls, atomicity): in a file that holds
// none yet it makes the file one of plain values; in one that does it ends the program.
int other_access(const char* name, MPI_File file, const Plain& plain);

int seek_file(MPI_File file, MPI_Offset offset, int whence, const Plain& plain);
int file_position(MPI_File file, MPI_Offset* offset, const Plain& plain);
int file_size(MPI_File file, MPI_Offset* bytes, const Plain& plain);
int set_file_size(const char* name, MPI_File file, MPI_Offset bytes, bool may_shrink, const Plain& plain);
int set_file_view(MPI_File file, MPI_Offset displacement, MPI_Datatype element, MPI_Datatype filetype,
                  const char* representation, const Plain& plain);
int sync_file(MPI_File file, const Plain& plain);

struct FileCounts {
  uint64_t writes = 0, reads = 0, value_bytes = 0, frame_bytes = 0;  // bytes: written by this rank
};
const FileCounts& file_counts();

}  // namespace neve::pmpi
