// SPDX-License-Identifier: BSD-3-Clause
// How ranks write a file.
#pragma once

#include <cstdint>
#include <string>

#include "core/catalog/strategies.hpp"
#include "neve/status.hpp"

namespace neve::mpi {

// Usage error that lists what is allowed.
Result<Strategy> parse_strategy(const std::string& name);

// Which pieces one MPI-IO write call takes.
struct WriteOrder {
  bool is_collective = true;
  bool joins_datasets = false;  // a call takes pieces of all datasets
  uint64_t pieces_a_call = 0;   // of a rank; 0: all
  // The MPI library's buffers take no more than the pieces of a call either.
  bool bounds_memory = false;
};

// Not for filtered, where HDF5 writes. amrex_1d differs from skeleton in its chunks alone.
WriteOrder write_order(Strategy strategy, int aggregate_boxes);

}  // namespace neve::mpi
