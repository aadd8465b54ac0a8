// SPDX-License-Identifier: BSD-3-Clause
// Names that a file is to hold.
#pragma once

#include "neve/hierarchy.hpp"
#include "neve/status.hpp"

namespace neve::mpi {

// Usage error unless components and side files are named in UTF-8. Readers do not ask: a foreign file may
// have other names, and is read; what is written has none.
Status check_names(const Hierarchy& hierarchy);

}  // namespace neve::mpi
