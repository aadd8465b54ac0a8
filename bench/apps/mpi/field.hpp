// SPDX-License-Identifier: BSD-3-Clause
// What every rank holds a copy of.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>
#include <vector>

#include "core/bits/bytes.hpp"
#include "neve/status.hpp"
#include "neve/types.hpp"

namespace neve::mpibench {

struct Field {
  std::string name;
  DType dtype = DType::f32;
  std::vector<uint64_t> shape;  // slowest first
  Bytes values;

  uint64_t count() const { return values.size() / dtype_bytes(dtype); }
  MPI_Datatype type() const { return dtype == DType::f32 ? MPI_FLOAT : MPI_DOUBLE; }
  std::vector<uint64_t> layer() const { return {shape.begin() + 1, shape.end()}; }
};

// The .npy of floating-point values, generated waves where the name is empty; repeated along its slowest
// direction as often as `rank_bytes` hold it, once at least.
neve::Result<Field> read_field(const std::string& input, uint64_t rank_bytes);

}  // namespace neve::mpibench
