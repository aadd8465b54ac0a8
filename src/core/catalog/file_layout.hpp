// SPDX-License-Identifier: BSD-3-Clause
// What a file layout may be.
#pragma once

#include <climits>

#include "core/catalog/choices.hpp"
#include "core/catalog/refusals.hpp"
#include "neve/file_layout.hpp"

namespace neve {

inline constexpr uint64_t lustre_stripe_step = uint64_t{64} << 10;
inline constexpr uint64_t max_stripe_bytes = (uint64_t{4} << 30) - lustre_stripe_step;

// Usage error that names the option.
inline Status check_layout(const FileLayout& layout) {
  if (layout.stripe_count < 0 || layout.stripe_count > max_stripes) {
    return out_of_range("stripe_count", layout.stripe_count, 0, max_stripes);
  }
  if (layout.aggregators < 0 || layout.aggregators > max_aggregators) {
    return out_of_range("aggregators", layout.aggregators, 0, max_aggregators);
  }
  if (layout.stripe_bytes % lustre_stripe_step != 0 || layout.stripe_bytes > max_stripe_bytes) {
    return usage_error(fmt::format("stripe size is {} bytes; multiples of {} below 4 GiB are allowed",
                                   layout.stripe_bytes, lustre_stripe_step));
  }
  // MPI libraries read it as an int.
  if (layout.buffer_bytes > INT_MAX) {
    return usage_error(
        fmt::format("buffer size is {} bytes; less than 2 GiB is allowed", layout.buffer_bytes));
  }
  return {};
}

}  // namespace neve
