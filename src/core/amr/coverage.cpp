// SPDX-License-Identifier: BSD-3-Clause
#include "core/amr/coverage.hpp"

#include <algorithm>

namespace neve::amr {
namespace {

// Joins boxes that touch face to face across direction `d` and agree in the others.
void merge_along(std::vector<Box>& boxes, int d) {
  const int e = (d + 1) % max_dims;
  const int f = (d + 2) % max_dims;
  std::sort(boxes.begin(), boxes.end(), [&](const Box& a, const Box& b) {
    const std::array<int32_t, 5> key_a{a.lo[f], a.hi[f], a.lo[e], a.hi[e], a.lo[d]};
    const std::array<int32_t, 5> key_b{b.lo[f], b.hi[f], b.lo[e], b.hi[e], b.lo[d]};
    return key_a < key_b;
  });
  size_t kept = 0;
  for (size_t i = 1; i < boxes.size(); ++i) {
    Box& last = boxes[kept];
    const Box& next = boxes[i];
    const bool same_section = last.lo[e] == next.lo[e] && last.hi[e] == next.hi[e] &&
                              last.lo[f] == next.lo[f] && last.hi[f] == next.hi[f];
    if (same_section && next.lo[d] == last.hi[d] + 1) {
      last.hi[d] = next.hi[d];
    } else {
      boxes[++kept] = next;
    }
  }
  if (!boxes.empty()) boxes.resize(kept + 1);
}

}  // namespace

Box fully_covered(const Box& fine, const IntVect& ratio) {
  Box r;
  for (int d = 0; d < max_dims; ++d) {
    r.lo[d] = -floor_div(-fine.lo[d], ratio[d]);  // rounded up
    r.hi[d] = floor_div(fine.hi[d] + 1, ratio[d]) - 1;
  }
  return r;
}

std::vector<CoveredPart> covered_parts(const Box& coarse, const BoxIndex& finer, const IntVect& ratio) {
  std::vector<CoveredPart> parts;
  for (int i : finer.intersecting(refine(coarse, ratio))) {
    const Box cells = intersect(fully_covered(finer.box(i), ratio), coarse);
    if (!cells.empty()) parts.push_back({cells, i});
  }
  return parts;
}

std::vector<Rect> covered_rects(const Box& coarse, const BoxIndex& finer, const IntVect& ratio) {
  std::vector<Box> boxes;
  for (const CoveredPart& part : covered_parts(coarse, finer, ratio)) boxes.push_back(part.cells);
  for (int d = 0; d < max_dims; ++d) merge_along(boxes, d);
  std::vector<Rect> rects;
  rects.reserve(boxes.size());
  for (const Box& b : boxes) {
    Rect r;
    for (int d = 0; d < max_dims; ++d) {
      r.lo[static_cast<size_t>(d)] = int64_t{b.lo[d]} - coarse.lo[d];
      r.size[static_cast<size_t>(d)] = b.size(d);
    }
    rects.push_back(r);
  }
  return rects;
}

}  // namespace neve::amr
