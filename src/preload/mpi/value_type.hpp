// SPDX-License-Identifier: BSD-3-Clause
// An MPI datatype all of whose elements are floats, or all doubles.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "neve/types.hpp"

namespace neve::pmpi {

struct ValueType {
  DType dtype = DType::f32;
  uint64_t values = 1;          // of one instance, more than none
  bool is_dense = true;         // instances lie as an array of values, from the first byte on
  std::vector<uint64_t> shape;  // the array that one instance is, slowest first; empty: a line
};

// Nothing for any other type.
std::optional<ValueType> value_type_of(MPI_Datatype type);

// The sizes of layers in which instances lie, of so many one behind another (the most that anyone has);
// empty: a line. Each instance is whole layers, and a layer has at most `most` bytes where there is a choice.
std::vector<uint64_t> layer_of(const ValueType& type, uint64_t instances, uint64_t most);

// The named MPI type of such values.
MPI_Datatype named_type(DType dtype);

}  // namespace neve::pmpi
