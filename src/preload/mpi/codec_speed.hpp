// SPDX-License-Identifier: BSD-3-Clause
// How fast the codec is on values of the program.
#pragma once

#include <mpi.h>

#include <optional>

#include "neve/types.hpp"
#include "preload/mpi/call_model.hpp"
#include "preload/mpi/packed.hpp"

namespace neve::pmpi {

// A copy of some of the values, packed.
Result<Bytes> take_sample(const Elements& values);

// Encodes and decodes some of the values as a call would. Nothing where there are none, or where that fails.
std::optional<CodecSpeeds> sample_speeds(const Elements& values, DType dtype);

}  // namespace neve::pmpi
