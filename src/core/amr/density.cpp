// SPDX-License-Identifier: BSD-3-Clause
#include "core/amr/density.hpp"

#include "core/amr/box_index.hpp"
#include "core/amr/coverage.hpp"

namespace neve::amr {
namespace {

constexpr uint64_t free_pairs = uint64_t{1} << 20;
constexpr uint64_t pairs_per_box = 32;

uint64_t cells_of(const Level& level) {
  uint64_t cells = 0;
  for (const Box& box : level.boxes) cells += static_cast<uint64_t>(box.cells());
  return cells;
}

// A product of sides may be past 64 bits.
double cells_of(const Box& domain) {
  double cells = 1;
  for (int d = 0; d < max_dims; ++d) cells *= static_cast<double>(domain.size(d));
  return cells;
}

}  // namespace

uint64_t max_meeting_pairs(const Level& level, const Level& finer) {
  return free_pairs + pairs_per_box * (level.boxes.size() + finer.boxes.size());
}

std::optional<uint64_t> covered_cells(const Level& level, const Level& finer) {
  const BoxIndex index(level.boxes);
  const uint64_t most = max_meeting_pairs(level, finer);
  uint64_t cells = 0, pairs = 0;
  for (const Box& fine : finer.boxes) {
    const Box covered = fully_covered(fine, level.ref_ratio);
    if (covered.empty()) continue;
    // Boxes of a level are disjoint, so no cell is counted twice.
    for (const int i : index.intersecting(covered)) {
      cells += static_cast<uint64_t>(intersect(index.box(i), covered).cells());
      if (++pairs > most) return {};
    }
  }
  return cells;
}

std::vector<LevelDensity> level_densities(const Hierarchy& h) {
  std::vector<LevelDensity> densities;
  for (size_t l = 0; l < h.levels.size(); ++l) {
    const Level& level = h.levels[l];
    const uint64_t held = cells_of(level);
    const double domain = cells_of(level.domain);
    LevelDensity of;
    of.fills = static_cast<double>(held) / domain;
    std::optional<uint64_t> covered = 0;
    if (l + 1 < h.levels.size()) covered = covered_cells(level, h.levels[l + 1]);
    if (covered) of.density = static_cast<double>(held - *covered) / domain;
    densities.push_back(of);
  }
  return densities;
}

}  // namespace neve::amr
