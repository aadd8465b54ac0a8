// SPDX-License-Identifier: BSD-3-Clause
// A box in a C caller's memory: how its values lie, for writing and reading, and how a reader fills it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "core/sections/strides.hpp"
#include "neve/hierarchy.hpp"
#include "neve/status.hpp"

namespace neve::capi {

// As the caller gives it: strides of 0 are those of a box that is held with its ghosts.
struct BoxMemory {
  void* values = nullptr;
  int ghosts = 0;
  long long stride_y = 0, stride_z = 0;
};

// Strides of a box of `size` values (x, y, z, components) in a caller's memory, who gives those of y, z and
// the components; 0: behind what the ones before take. Usage error where they are negative, where values
// would overlap, and where no memory holds the box.
Result<Strides> strides_in_memory(const Extents& size, const std::array<int64_t, 3>& given);

// Calls read(where), which puts the component with `stored` layers of ghosts one value behind the other, and
// has the memory filled with what both have: in place where it lies like that, else out of a buffer.
Status fill_box(const Hierarchy& hierarchy, int level, int box, const IntVect& stored,
                const BoxMemory& memory, const std::function<Status(std::byte*)>& read);

}  // namespace neve::capi
