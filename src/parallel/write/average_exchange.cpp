// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/write/average_exchange.hpp"

#include <algorithm>
#include <tuple>

#include "core/amr/coverage.hpp"

namespace neve::mpi {
namespace {

struct Slab {
  int fine_box = 0;
  int round = 0;
  Box cells;
};

// Cut across the last direction at multiples of the ratio, so that no coarse cell is cut.
std::vector<Slab> cut_into_slabs(const Hierarchy& hierarchy, size_t fine_level, const IntVect& ratio,
                                 const std::vector<int>& owner, const ExchangeLimits& limits, int& rounds) {
  const int d = hierarchy.dims - 1;
  const int64_t value_bytes = static_cast<int64_t>(dtype_bytes(hierarchy.dtype));
  const int64_t ratio_cells = int64_t{ratio[0]} * ratio[1] * ratio[2];
  const std::vector<Box>& boxes = hierarchy.levels[fine_level].boxes;
  std::vector<int64_t> sent_bytes(owner.empty() ? 0 : *std::max_element(owner.begin(), owner.end()) + 1, 0);
  std::vector<Slab> slabs;
  rounds = 0;
  for (size_t b = 0; b < boxes.size(); ++b) {
    const Box& box = boxes[b];
    const int64_t layer_bytes = box.cells() / box.size(d) * ratio[d] * value_bytes;
    const int64_t thickness = std::max<int64_t>(1, limits.slab_bytes / layer_bytes) * ratio[d];
    int64_t begin = box.lo[d];
    for (int64_t end = int64_t{floor_div(box.lo[d], ratio[d])} * ratio[d] + thickness; begin <= box.hi[d];
         begin = end, end += thickness) {
      Slab slab{static_cast<int>(b), 0, box};
      slab.cells.lo[d] = static_cast<int32_t>(begin);
      slab.cells.hi[d] = static_cast<int32_t>(std::min<int64_t>(end - 1, box.hi[d]));
      int64_t& sent = sent_bytes[static_cast<size_t>(owner[b])];
      slab.round = static_cast<int>(sent / limits.round_bytes);
      sent += slab.cells.cells() / ratio_cells * value_bytes;
      rounds = std::max(rounds, slab.round + 1);
      slabs.push_back(slab);
    }
  }
  return slabs;
}

void sort_parts(std::vector<AveragePart>& parts) {
  std::sort(parts.begin(), parts.end(), [](const AveragePart& a, const AveragePart& b) {
    return std::tie(a.round, a.peer, a.slab, a.coarse_box) < std::tie(b.round, b.peer, b.slab, b.coarse_box);
  });
}

}  // namespace

AverageExchange plan_average_exchange(const Hierarchy& hierarchy, size_t coarse_level,
                                      const amr::BoxIndex& coarse_index, const Ownership& owners, int rank,
                                      const ExchangeLimits& limits) {
  AverageExchange exchange;
  const Level& coarse = hierarchy.levels[coarse_level];
  const IntVect& ratio = coarse.ref_ratio;
  const std::vector<int>& fine_owner = owners[coarse_level + 1];
  const std::vector<int>& coarse_owner = owners[coarse_level];
  const std::vector<Slab> slabs =
      cut_into_slabs(hierarchy, coarse_level + 1, ratio, fine_owner, limits, exchange.rounds);

  const auto add_parts = [&](std::vector<AveragePart>& parts, size_t coarse_box, const amr::BoxIndex& fine,
                             size_t first_slab, const auto& peer_of) {
    for (const amr::CoveredPart& part : amr::covered_parts(coarse.boxes[coarse_box], fine, ratio)) {
      const size_t slab = first_slab + static_cast<size_t>(part.fine_box);
      parts.push_back({slabs[slab].round, peer_of(slab), static_cast<int>(slab), slabs[slab].fine_box,
                       static_cast<int>(coarse_box), part.cells});
    }
  };

  for (size_t slab = 0; slab < slabs.size(); ++slab) {
    if (fine_owner[static_cast<size_t>(slabs[slab].fine_box)] != rank) continue;
    const amr::BoxIndex only(std::span(&slabs[slab].cells, 1));
    for (const int coarse_box : coarse_index.intersecting(coarsen(slabs[slab].cells, ratio))) {
      const int peer = coarse_owner[static_cast<size_t>(coarse_box)];
      add_parts(exchange.sends, static_cast<size_t>(coarse_box), only, slab, [&](size_t) { return peer; });
    }
  }

  std::vector<Box> slab_boxes;
  slab_boxes.reserve(slabs.size());
  for (const Slab& slab : slabs) slab_boxes.push_back(slab.cells);
  const amr::BoxIndex slab_index(slab_boxes);
  for (size_t box = 0; box < coarse.boxes.size(); ++box) {
    if (coarse_owner[box] != rank) continue;
    add_parts(exchange.receives, box, slab_index, 0,
              [&](size_t slab) { return fine_owner[static_cast<size_t>(slabs[slab].fine_box)]; });
  }
  sort_parts(exchange.sends);
  sort_parts(exchange.receives);
  return exchange;
}

}  // namespace neve::mpi
