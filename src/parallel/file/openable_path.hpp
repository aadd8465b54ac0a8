// SPDX-License-Identifier: BSD-3-Clause
// The path of a file as MPI_File_open can take it.
#pragma once

#include <mpi.h>

#include <string>

#include "io/files/descriptor.hpp"
#include "neve/status.hpp"
#include "parallel/comm/agree.hpp"

namespace neve::mpi {

// Open MPI's OMPIO (4.1) overflows a buffer at paths of some 240 characters, ROMIO takes what precedes a
// colon for a kind of file system, and the standard names no limit. So a path that is long or holds a colon
// is said relative to an open folder, or as an open file, by /proc/self/fd. Each rank has its own, as each
// may by the standard. To be kept until the file is closed.
class OpenablePath {
 public:
  // Not collective. Fails, naming the length and what is allowed, where the system knows no such names, and
  // where the folder cannot be opened; a missing file is for MPI_File_open to tell.
  static Result<OpenablePath> of(const std::string& path);
  // Too long for MPI libraries, colon or not.
  static bool is_needed_for_length(const std::string& path);
  OpenablePath() = default;

  const std::string& text() const { return text_; }
  const char* c_str() const { return text_.c_str(); }

 private:
  std::string text_;
  files::Descriptor opened_;
};

// Collective: MPI_File_open with every rank's own name of `path`, which is to live as long as the file. All
// ranks fail where one does; then the file may stay open on others, because closing is collective.
Status open_file(const Comm& comm, const std::string& path, int mode, MPI_Info info, OpenablePath& name,
                 MPI_File& file);

}  // namespace neve::mpi
