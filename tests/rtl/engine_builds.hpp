// SPDX-License-Identifier: BSD-3-Clause
// The engines that several tests share, as CMakeLists.txt builds them.
#pragma once

#include "Vengine1.h"
#include "Vengine4.h"
#include "rtl/model/engine_model.hpp"

namespace neve::rtl {

inline constexpr EngineBuild one{.lanes = 1, .block_bits = 12, .dims = 3, .line_bits = 12, .plane_bits = 16};
inline constexpr EngineBuild four{.lanes = 4, .block_bits = 10, .dims = 3, .line_bits = 10, .plane_bits = 10};
inline constexpr unsigned one_bytes = 8;
inline constexpr unsigned four_bytes = 16;

}  // namespace neve::rtl
