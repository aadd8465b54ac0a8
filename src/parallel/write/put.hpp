// SPDX-License-Identifier: BSD-3-Clause
// The ranks' bytes into the file: by each rank for itself, or by MPI-IO.
#pragma once

#include <cstdint>
#include <string>

#include "neve/plotfile_writer.hpp"
#include "parallel/comm/agree.hpp"
#include "parallel/file/write_pieces.hpp"
#include "parallel/write/file_pieces.hpp"

namespace neve::mpi {

// Whether this rank is asked for something that only MPI-IO does: collective buffering, or hints by name.
bool asks_for_mpi_io(const WriteOptions& options);

// Whether each rank writes its frames for itself; the same on all ranks where the arguments are. `bytes`: of
// all ranks. Many ranks with little each are better put together by MPI-IO's aggregators: they would wait for
// each other's locks on the blocks that they share.
bool puts_directly(Strategy strategy, bool any_asks_for_mpi_io, int ranks, uint64_t bytes);

struct PutWork {
  const std::string& path;
  const Hints& hints;
  WriteOrder order;
  bool is_direct;
  bool is_synced_later;  // by rank 0: where it is direct, the put itself need not be durable
  uint32_t datasets;
  uint64_t end;  // of what all ranks put
};

// Not collective where it is direct, else collective. `mine`: of this rank's work before, then with the put's
// own; an error of the function itself is all ranks'. The report gets times, hints, and this rank's part of
// calls and bytes.
Status put_pieces(const Comm& comm, const PutWork& work, FilePieces& pieces, Status& mine,
                  WriteReport& report);

}  // namespace neve::mpi
