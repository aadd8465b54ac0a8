// SPDX-License-Identifier: BSD-3-Clause
// Limits of hierarchies: what writers allow, and readers take.
#pragma once

#include <cstdint>

namespace neve {

inline constexpr int32_t max_components = 65535;  // what a frame's header counts
inline constexpr int32_t max_ghosts = 1024;       // layers of ghost cells, in each direction

}  // namespace neve
