// SPDX-License-Identifier: BSD-3-Clause
// Which kernel tables this processor can run, and which one is in force.
#pragma once

#include <vector>

#include "core/kernels/kernels.hpp"
#include "neve/status.hpp"

namespace neve {

// Best first, `portable` last.
std::vector<const Kernels*> supported_kernels();

// Usage error when NEVE_SIMD names what this machine cannot run. Encoding and decoding begin with it.
Status check_simd_environment();

}  // namespace neve
