// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/write/place_hint.hpp"

#include <atomic>
#include <cmath>

#include "core/status/hint.hpp"

namespace neve::mpi {

bool yt_places_it_rightly(const Hierarchy& hierarchy) {
  constexpr double of_a_cell = 1e-6;  // what counts as elsewhere
  if (hierarchy.levels.empty()) return true;
  const Level& coarsest = hierarchy.levels.front();
  for (size_t d = 0; d < static_cast<size_t>(hierarchy.dims); ++d) {
    const double dx = coarsest.dx[d];
    const double corner = dx * coarsest.domain.lo[d];
    if (std::abs(hierarchy.prob_lo[d] - corner) > of_a_cell * dx) return false;
    if (std::abs(dx - coarsest.dx[0]) > of_a_cell * dx) return false;
  }
  return true;
}

void say_where_yt_places_it(const Hierarchy& hierarchy) {
  static std::atomic<bool> is_said = false;
  if (yt_places_it_rightly(hierarchy) || is_said.exchange(true)) return;
  say_hint(
      "yt.load takes cell 0 of a plotfile for the origin and cells for cubes, and so shows this domain in "
      "another place; neve.load_yt(path) shows it where it lies");
}

}  // namespace neve::mpi
