// SPDX-License-Identifier: BSD-3-Clause
// What may be asked for, of choices other than codecs and methods: names, and sizes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <string_view>

#include "core/catalog/names.hpp"
#include "core/catalog/refusals.hpp"
#include "neve/choice.hpp"
#include "neve/types.hpp"
#include "neve/write_options.hpp"

namespace neve {

inline constexpr Named<Effort> effort_names[] = {
    {Effort::fast, "fast"}, {Effort::balanced, "balanced"}, {Effort::max, "max"}};

// Arrangement::nested is only chosen.
inline constexpr Named<Arrangement> arrangement_choices[] = {{Arrangement::automatic, "auto"},
                                                             {Arrangement::linear, "linear"},
                                                             {Arrangement::cluster, "cluster"},
                                                             {Arrangement::in_place, "in_place"}};

inline constexpr Named<Covered> covered_names[] = {
    {Covered::automatic, "auto"}, {Covered::drop, "drop"}, {Covered::keep, "keep"}};
inline constexpr Named<Behind> behind_names[] = {
    {Behind::none, "none"}, {Behind::encode, "encode"}, {Behind::copy, "copy"}};

inline constexpr Named<Speeds> speeds_names[] = {{Speeds::typical, "typical"},
                                                 {Speeds::measured, "measured"}};

// Sides in cells; 0, that one is chosen, is allowed as well.
inline constexpr int unit_sides[] = {8, 16, 32, 64};  // of unit blocks
inline constexpr int block_sides[] = {4, 6};          // of lorenzo_regression's prediction blocks

template <size_t count>
constexpr bool is_side(int64_t cells, const int (&sides)[count]) {
  return cells == 0 || std::find(std::begin(sides), std::end(sides), cells) != std::end(sides);
}

template <size_t count>
std::string allowed_sides(const int (&sides)[count]) {
  return "0, " + joined(sides, " and ");
}

// "unit is 7; 0, 8, 16, 32 and 64 are allowed"
template <size_t count>
Status check_side(std::string_view what, int64_t cells, const int (&sides)[count]) {
  return is_side(cells, sides) ? Status() : not_among(what, cells, allowed_sides(sides));
}

// Of the choice of a lossless method.
inline Status check_weight(std::string_view what, double weight) {
  const bool is_allowed = weight >= 0 && weight <= std::numeric_limits<double>::max();
  return is_allowed ? Status() : not_among(what, weight, "finite numbers of at least 0");
}

// Of the choices of a series.
inline Status check_delta(std::string_view what, double delta) { return check_weight(what, delta); }

// Storage targets of a file; 0 leaves it to the file system.
inline constexpr int max_stripes = 2000;
inline constexpr int max_aggregators = 1 << 20;

// Of the values of a chunk.
inline constexpr uint64_t min_chunk_bytes = uint64_t{64} << 10;
inline constexpr uint64_t max_chunk_bytes = uint64_t{1} << 30;
inline constexpr int max_chunk_values = 1 << 24;  // of strategy amrex-1d

}  // namespace neve
