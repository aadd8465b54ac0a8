// SPDX-License-Identifier: BSD-3-Clause
// Polyphase classes of a grid, and which decoded cells a cell may be predicted from.
//
// Interpolation goes from coarse to fine. At a level with spacing s a cell's class says in which directions
// its coordinate is an odd multiple of s (bit 0: x, 1: y, 2: z). Class 0 is the next coarser level; the
// others follow in class_order, each predicted from classes before it and from its own rows before.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace neve {

inline constexpr int class_count = 8;
inline constexpr std::array<int, 7> class_order = {1, 2, 4, 3, 5, 6, 7};

// A decoded cell that takes part in a least-squares prediction: class, and how far its index in the class
// lies from that of the predicted cell.
struct Tap {
  int from_class = 0;
  std::array<int, 3> shift{};
};

// The taps of a class. `live` (bit 0: x, ...) are the directions in which the field is wide enough for any.
// Cells on an axis up to 3 s away, cells of other classes at a distance of up to sqrt(2) s, and of the same
// class the rows before at 2 s; by z, then y, then x.
std::vector<Tap> stencil_taps(int of_class, int live);

}  // namespace neve
