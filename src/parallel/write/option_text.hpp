// SPDX-License-Identifier: BSD-3-Clause
// Write options as the C interface takes them: "rel=1e-3;field:density=abs=1e-6;covered=keep".
#pragma once

#include <string_view>

#include "neve/plotfile_writer.hpp"
#include "neve/status.hpp"

namespace neve::mpi {

// Usage error that names the item and what is allowed, also where two items settle the same. The name of a
// field may stand in double quotes (neve_mpi.h). "ghosts" counts for all three directions: who knows the
// dimension clears the others.
Result<WriteOptions> parse_write_options(std::string_view text);

}  // namespace neve::mpi
