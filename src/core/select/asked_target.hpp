// SPDX-License-Identifier: BSD-3-Clause
// A ratio or a PSNR that is asked for: where bounds are looked for, when it is met, and what is said where
// nothing meets it. Alike for frames and streams.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

#include "core/math/portable_math.hpp"
#include "core/select/bound_search.hpp"
#include "neve/status.hpp"
#include "neve/types.hpp"

namespace neve {

// A ratio is met from this share below it on.
inline constexpr double ratio_tolerance = 0.03;
inline constexpr double db_per_octave = 6.0206;  // 20 log10(2)

// Tries bounds from next to nothing to the values' range, above 0, beyond which nothing changes.
inline BoundSearch search_up_to(double width, double start, const SearchTarget& target) {
  constexpr double smallest_share = 0x1p-60;
  const double least = std::max(width * smallest_share, std::numeric_limits<double>::min());
  return {start, std::min(least, width), width, target};
}

inline bool is_ratio_met(const Bound& asked, double reached) {
  return reached * (1 + ratio_tolerance) >= asked.value;
}

// What a report adds where best effort has not met a ratio; else nothing.
inline std::string missed_ratio_text(const Bound& asked, double reached) {
  if (asked.mode != BoundMode::ratio || is_ratio_met(asked, reached)) return {};
  return fmt::format("ratio {:.5g} was asked for; {:.5g} is the most that was found\n", asked.value, reached);
}

inline Status unreachable_ratio(const Bound& asked, double reached) {
  return usage_error(
      fmt::format("bound {}: not reached, under no bound up to the range of the values: they become {:.4g} "
                  "times smaller at most; ask for less, or for best effort",
                  to_string(asked), reached));
}

// 20 log10(range / root mean square error) of so many values, from the sum of the squares of their errors as
// shares of the range: squares of errors themselves may lie beyond what a double holds. Infinite without
// errors.
inline double psnr_of(double squares, uint64_t values) {
  if (squares == 0) return std::numeric_limits<double>::infinity();
  return -10 * math::log10(squares / static_cast<double>(values));
}

}  // namespace neve
