// SPDX-License-Identifier: BSD-3-Clause
// Values for the left-out cells of a nested region: what the next coarser level holds there, prolonged
// linearly. Encoder and decoder must come to the same bits: docs/format.md, "Values of the coarser level".
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/format/regions.hpp"
#include "core/sections/section_data.hpp"
#include "neve/frame.hpp"

namespace neve {

// Whose coarser values, and which of them are no values.
struct Prolongation {
  const CoarserLevel* coarser = nullptr;
  Extents ratio{1, 1, 1, 1};
  int component = 0;
  std::optional<double> fill;
};

// The coarser cells that prolongation to a region's cells reaches.
Rect coarser_cells(const Region& region, const Extents& ratio);

// `left_out`: of the region's cells; empty: none. Errors: those of the coarser level.
template <class T>
Result<NestedValues<T>> prolong(const Prolongation& from, const Region& region,
                                const std::vector<uint8_t>& left_out);

}  // namespace neve
