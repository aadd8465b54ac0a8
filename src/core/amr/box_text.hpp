// SPDX-License-Identifier: BSD-3-Clause
// A box as AMReX writes it, for messages and plotfile headers.
#pragma once

#include <string>

#include "neve/box.hpp"

namespace neve::amr {

// "((0,0,0) (31,31,63) (0,0,0))" in 3D: corners, then the index type, here always cell-centred.
std::string to_string(const Box& box, int dims);

}  // namespace neve::amr
