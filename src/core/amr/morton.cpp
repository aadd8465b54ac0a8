// SPDX-License-Identifier: BSD-3-Clause
#include "core/amr/morton.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <numeric>

#include "core/amr/load_balance.hpp"

namespace neve::amr {
namespace {

using Corner = std::array<uint32_t, max_dims>;

// Whether a's Morton code is below b's: the coordinate whose difference has the highest bit decides, and
// among equals z, then y, then x. Interleaving the bits instead would need 96-bit codes.
bool morton_less(const Corner& a, const Corner& b) {
  int decisive = max_dims - 1;
  uint32_t highest = a[max_dims - 1] ^ b[max_dims - 1];
  for (int d = max_dims - 2; d >= 0; --d) {
    const uint32_t difference = a[d] ^ b[d];
    const bool has_higher_bit = highest < difference && highest < (highest ^ difference);
    if (has_higher_bit) {
      highest = difference;
      decisive = d;
    }
  }
  return a[decisive] < b[decisive];
}

}  // namespace

std::vector<int> morton_order(std::span<const Box> boxes) {
  IntVect lowest;
  lowest.fill(std::numeric_limits<int32_t>::max());
  for (const Box& b : boxes) {
    for (int d = 0; d < max_dims; ++d) lowest[d] = std::min(lowest[d], b.lo[d]);
  }
  return morton_order(boxes, lowest);
}

std::vector<int> morton_order(std::span<const Box> boxes, const IntVect& origin) {
  std::vector<Corner> corners(boxes.size());
  for (size_t i = 0; i < boxes.size(); ++i) {
    for (int d = 0; d < max_dims; ++d) {
      corners[i][d] = static_cast<uint32_t>(int64_t{boxes[i].lo[d]} - origin[d]);
    }
  }
  std::vector<int> order(boxes.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return morton_less(corners[static_cast<size_t>(a)], corners[static_cast<size_t>(b)]);
  });
  return order;
}

std::vector<std::vector<int>> distribute(const Hierarchy& hierarchy, int ranks) {
  return share_boxes(hierarchy, ranks, cell_loads(hierarchy), DistributionMethod::even_runs);
}

}  // namespace neve::amr
