// SPDX-License-Identifier: BSD-3-Clause
// What a build without MPI says of what it leaves out.
#pragma once

#include <string>

#include "neve/status.hpp"

namespace neve::alone {

// "strategy filtered needs a build of Neve with MPI, and this one has none; `make build` in the checkout
// makes one"
inline Status needs_mpi(const std::string& what) {
  return usage_error(
      what +
      " needs a build of Neve with MPI, and this one has none; `make build` in the checkout makes one");
}

}  // namespace neve::alone
