// SPDX-License-Identifier: BSD-3-Clause
// The coarse value that stands for a block of finer cells.
#pragma once

#include <cstddef>

#include "neve/box.hpp"
#include "neve/types.hpp"

namespace neve::amr {

// For each coarse cell of `region`: the average of its ratio[0] x ratio[1] x ratio[2] fine cells.
//
// The arithmetic is part of the file format, because a left-out cell has no other value: starting from the
// first fine cell, the values are added one after another in double, x fastest, then y, then z; the sum is
// divided by the number of cells in double; f32 results are rounded once, at the end. A NaN among the fine
// cells makes the average NaN; a sum beyond the largest double makes it infinite.
//
// `fine` holds fine_box, `out` holds out_box, both x fastest without gaps. region lies in out_box and
// refine(region, ratio) in fine_box; other cells of `out` are left alone.
void average_down(DType dtype, const Box& region, const IntVect& ratio, const std::byte* fine,
                  const Box& fine_box, std::byte* out, const Box& out_box);

}  // namespace neve::amr
