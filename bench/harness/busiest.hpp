// SPDX-License-Identifier: BSD-3-Clause
// How unevenly something is shared.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>

namespace neve::apps {

// The largest share over their mean; 1 where there is nothing to share.
inline double busiest_over_mean(std::span<const uint64_t> shares) {
  const uint64_t total = std::accumulate(shares.begin(), shares.end(), uint64_t{0});
  if (total == 0) return 1;
  const uint64_t most = *std::max_element(shares.begin(), shares.end());
  return static_cast<double>(most) * static_cast<double>(shares.size()) / static_cast<double>(total);
}

}  // namespace neve::apps
