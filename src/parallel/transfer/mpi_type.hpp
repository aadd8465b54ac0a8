// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <optional>

#include "neve/types.hpp"

namespace neve::mpi {

// The type of the values that a named MPI datatype describes; nothing for derived types and for what Neve
// does not compress (complex, logical, characters, long double, pairs).
std::optional<DType> dtype_of(MPI_Datatype type);

}  // namespace neve::mpi
