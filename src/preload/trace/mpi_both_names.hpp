// SPDX-License-Identifier: BSD-3-Clause
// A wrapper under both names that a function of MPI has: MPI_..., which programs and libraries call, and
// PMPI_..., which Fortran bindings call.
#pragma once

#include "preload/trace/next.hpp"

// Followed by what both exported names do.
#define BOTH(result, name, parameters, arguments)                             \
  static result neve_##name parameters;                                       \
  NEVE_EXPORT result MPI_##name parameters { return neve_##name arguments; }  \
  NEVE_EXPORT result PMPI_##name parameters { return neve_##name arguments; } \
  static result neve_##name parameters
