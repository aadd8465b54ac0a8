// SPDX-License-Identifier: BSD-3-Clause
// Boxes through HDF5's own pipeline: of whatever Neve's frames do not hold.
#pragma once

#include <cstddef>

#include "io/hdf5/plotfile_header.hpp"
#include "neve/status.hpp"

namespace neve::hdf5 {

// A box's values of `value_bytes` each, x fastest, out of those with `ghosts` layers around them.
void strip_ghosts(const Box& valid, const IntVect& ghosts, size_t value_bytes, const std::byte* with_ghosts,
                  std::byte* out);

// One component of a box, x fastest, without its ghosts. With them it is one run of elements.
Status read_plain_box(const PlotfileHeader& header, size_t level, size_t box, int component, std::byte* out);

// The same with its ghosts.
Status read_stored_box(const PlotfileHeader& header, size_t level, size_t box, int component, std::byte* out);

// Where a box begins in its level's dataset, in elements; 0 where there is no such box.
uint64_t place_of(const PlotfileHeader& header, int level, int box);

// Several components that follow each other, each with its ghosts.
Status read_stored_components(const PlotfileHeader& header, size_t level, size_t box, int first,
                              int components, std::byte* out);

}  // namespace neve::hdf5
