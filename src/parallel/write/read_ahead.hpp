// SPDX-License-Identifier: BSD-3-Clause
// Work on values that do not fit into memory: a thread of its own reads them piece by piece, ahead of the
// threads that work on them.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "neve/status.hpp"

namespace neve::mpi {

struct PiecewiseWork {
  int threads = 1;  // that work; the one that reads is not among them
  size_t pieces = 0;
  size_t piece_bytes = 0;  // the most that a piece needs
  // The values of a piece into `out`: by rising piece, one at a time, not on the calling thread.
  std::function<Status(size_t piece, std::byte* out)> read;
  // Begins by rising piece, in several threads, the calling one among them. `values`: what was read.
  std::function<Status(size_t piece, std::byte* values)> work;
  std::string phase;                           // an exception of `work` is an error of it
  std::function<void(size_t)> done = nullptr;  // as of run_workers
};

// Not collective. Holds the values of two pieces beside those that threads work on. The error of the lowest
// piece that failed, in reading or in work; once one failed no new piece is begun. Where the system gives no
// thread to read, pieces are read and worked on in turn.
Status run_reading_ahead(const PiecewiseWork& work);

}  // namespace neve::mpi
