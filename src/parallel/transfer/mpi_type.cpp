// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/transfer/mpi_type.hpp"

#include <initializer_list>

#include "core/bits/value_types.hpp"

namespace neve::mpi {
namespace {

bool is_any_of(MPI_Datatype type, std::initializer_list<MPI_Datatype> named) {
  for (const MPI_Datatype candidate : named) {
    if (type == candidate) return true;
  }
  return false;
}

}  // namespace

std::optional<DType> dtype_of(MPI_Datatype type) {
  // A library without Fortran has MPI_DATATYPE_NULL, or a type of size 0, under Fortran's names.
  if (type == MPI_DATATYPE_NULL) return {};
  int bytes = 0;
  if (MPI_Type_size(type, &bytes) != MPI_SUCCESS || (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8)) {
    return {};
  }
  if (is_any_of(type, {MPI_FLOAT, MPI_DOUBLE, MPI_REAL, MPI_REAL4, MPI_REAL8, MPI_DOUBLE_PRECISION}) &&
      bytes >= 4) {
    return bytes == 4 ? DType::f32 : DType::f64;
  }
  if (is_any_of(type, {MPI_SIGNED_CHAR, MPI_SHORT, MPI_INT, MPI_LONG, MPI_LONG_LONG, MPI_INT8_T, MPI_INT16_T,
                       MPI_INT32_T, MPI_INT64_T, MPI_INTEGER})) {
    return integer_type(static_cast<size_t>(bytes), true);
  }
  if (is_any_of(type, {MPI_UNSIGNED_CHAR, MPI_UNSIGNED_SHORT, MPI_UNSIGNED, MPI_UNSIGNED_LONG,
                       MPI_UNSIGNED_LONG_LONG, MPI_UINT8_T, MPI_UINT16_T, MPI_UINT32_T, MPI_UINT64_T})) {
    return integer_type(static_cast<size_t>(bytes), false);
  }
  return {};
}

}  // namespace neve::mpi
