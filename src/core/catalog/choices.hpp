// SPDX-License-Identifier: BSD-3-Clause
// What may be asked for, of choices other than codecs and methods: names, and sizes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "core/catalog/names.hpp"
#include "neve/types.hpp"

namespace neve {

inline constexpr Named<Effort> effort_names[] = {
    {Effort::fast, "fast"}, {Effort::balanced, "balanced"}, {Effort::max, "max"}};

// Arrangement::nested is only chosen.
inline constexpr Named<Arrangement> arrangement_choices[] = {{Arrangement::automatic, "auto"},
                                                             {Arrangement::linear, "linear"},
                                                             {Arrangement::cluster, "cluster"},
                                                             {Arrangement::in_place, "in_place"}};

// Sides in cells; 0, that one is chosen, is allowed as well.
inline constexpr int unit_sides[] = {8, 16, 32};  // of unit blocks
inline constexpr int block_sides[] = {4, 6};      // of lorenzo_regression's prediction blocks

template <size_t count>
constexpr bool is_side(int cells, const int (&sides)[count]) {
  return cells == 0 || std::find(std::begin(sides), std::end(sides), cells) != std::end(sides);
}

// Of the values of a chunk.
inline constexpr uint64_t min_chunk_bytes = uint64_t{64} << 10;
inline constexpr uint64_t max_chunk_bytes = uint64_t{1} << 30;

}  // namespace neve
