// SPDX-License-Identifier: BSD-3-Clause
// How ranks write a file.
#pragma once

#include <cstdint>
#include <string>

#include "neve/status.hpp"

namespace neve::mpi {

enum class Strategy : uint8_t {
  skeleton,  // rank 0 writes the file's structure, then all ranks their frames in one MPI-IO call
  filtered,  // HDF5's collective filtered write, a rank's whole level one chunk: AMRIC's way
  amrex_1d,  // chunks of 1024 elements, each compressed alone as a 1D array: AMReX's way
};

// Usage error that lists what is allowed.
Result<Strategy> parse_strategy(const std::string& name);

}  // namespace neve::mpi
