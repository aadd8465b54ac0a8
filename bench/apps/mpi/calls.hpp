// SPDX-License-Identifier: BSD-3-Clause
// The calls that are measured: MPI's, of values, and their counterparts of neve/transfer.h, of frames.
#pragma once

#include <string>
#include <vector>

#include "bench/apps/mpi/field.hpp"
#include "neve/transfer.h"
#include "neve/types.hpp"
#include "parallel/comm/agree.hpp"

namespace neve::mpibench {

struct CallOptions {
  Bound bound;
  int threads = 1;  // of each rank
  uint64_t block_bytes = 4 << 20;
};

// All functions are collective. The field outlives this.
class Calls {
 public:
  Calls(const mpi::Comm& comm, const Field& field, const CallOptions& options);
  Calls(const Calls&) = delete;
  Calls& operator=(const Calls&) = delete;

  // To rank 0, which has room for all ranks' values at `all`.
  Status gather_values(std::byte* all) const;
  Status gather_frames(std::byte* all) const;
  // To a new file that is durable when the call comes back.
  Status write_values(const std::string& path) const;
  Status write_frames(const std::string& path) const;
  // Each rank the values of the next one, from a file of frames.
  Result<Bytes> read_frames(const std::string& path) const;

 private:
  const mpi::Comm& comm_;
  const Field& field_;
  std::string bound_;
  std::vector<uint64_t> layer_;
  neve_compress_options values_ = NEVE_COMPRESS_OPTIONS_INIT;
  neve_mpi_options call_ = NEVE_MPI_OPTIONS_INIT;
};

}  // namespace neve::mpibench
