// SPDX-License-Identifier: BSD-3-Clause
// A ratio that is asked for: when it is met, and what is said where nothing meets it.
#pragma once

#include <fmt/format.h>

#include "neve/status.hpp"
#include "neve/types.hpp"

namespace neve {

// A ratio is met from this share below it on.
inline constexpr double ratio_tolerance = 0.03;
// Of the values' range, a bound that no search goes below.
inline constexpr double smallest_share_of_range = 0x1p-60;

inline bool is_ratio_met(const Bound& asked, double reached) {
  return reached * (1 + ratio_tolerance) >= asked.value;
}

inline Status unreachable_ratio(const Bound& asked, double reached) {
  return usage_error(fmt::format(
      "bound {}: not reached, under no bound up to the range of the values: they become {:.4g} times "
      "smaller at most; ask for less, or for best effort",
      to_string(asked), reached));
}

}  // namespace neve
