// SPDX-License-Identifier: BSD-3-Clause
// Which kernel tables this processor can run, and which one is in force.
#pragma once

#include <vector>

#include "kernels/kernels.hpp"

namespace neve {

// Best first, `portable` last.
std::vector<const Kernels*> supported_kernels();

}  // namespace neve
