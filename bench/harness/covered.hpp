// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "neve/plotfile_writer.hpp"

namespace neve {

// What measurements do with covered cells unless told otherwise, and say that they did: AMRIC leaves such
// cells out, and recorded figures were made with it. Python's bench/covered.py says the same.
inline constexpr Covered bench_covered = Covered::automatic;
inline constexpr const char* bench_covered_help =
    "cells a finer level covers, in compressed files: auto (left out where the finer average holds the "
    "bound; "
    "AMRIC leaves them out), drop, keep";

}  // namespace neve
