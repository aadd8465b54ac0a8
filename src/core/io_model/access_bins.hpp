// SPDX-License-Identifier: BSD-3-Clause
// Darshan's ten ranges of access sizes, in which the ACB paper draws its figures 10 and 11.
#pragma once

#include <array>
#include <cstdint>

#include "core/io_model/write_calls.hpp"

namespace neve::io_model {

inline constexpr size_t bin_count = 10;
inline constexpr std::array<const char*, bin_count> bin_names = {
    "0-100", "100-1K", "1K-10K", "10K-100K", "100K-1M", "1M-4M", "4M-10M", "10M-100M", "100M-1G", "1G+"};
// A bin holds sizes up to and with its bound; the last has none.
inline constexpr std::array<uint64_t, bin_count - 1> bin_bounds = {
    100, 1024, 10240, 102400, 1048576, 4194304, 10485760, 104857600, 1073741824};

inline std::array<uint64_t, bin_count> binned(const SizeCounts& counts) {
  std::array<uint64_t, bin_count> bins{};
  for (const auto& [bytes, count] : counts) {
    size_t bin = 0;
    while (bin < bin_bounds.size() && bytes > bin_bounds[bin]) ++bin;
    bins[bin] += count;
  }
  return bins;
}

}  // namespace neve::io_model
