// SPDX-License-Identifier: BSD-3-Clause
// How much of the domain each level of a hierarchy holds.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "neve/hierarchy.hpp"

namespace neve::amr {

// In shares of the cells that the level's domain has.
struct LevelDensity {
  double fills = 0;  // cells of its boxes
  // Those of them that no finer level covers (coverage.hpp): the density of AMRIC's table 1 (Wang et al., SC
  // 2023). Where boxes are aligned to the ratio and each level lies inside the one before, the densities of
  // all levels add up to what level 0 fills. Nothing where too many pairs of boxes meet.
  std::optional<double> density;
};

// Of a hierarchy that check_hierarchy allows.
std::vector<LevelDensity> level_densities(const Hierarchy& h);

// The cells of `level` that `finer` covers; nothing where more pairs of their boxes meet than
// max_meeting_pairs: long boxes across others can make as many as the product of their numbers.
std::optional<uint64_t> covered_cells(const Level& level, const Level& finer);

uint64_t max_meeting_pairs(const Level& level, const Level& finer);

}  // namespace neve::amr
