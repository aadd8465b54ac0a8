// SPDX-License-Identifier: BSD-3-Clause
// Bytes of a process over time, counted as they move.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "preload/trace/part.hpp"

namespace neve::trace {

inline void double_bins(PartHeatmap& map) {
  for (auto& level : map.bytes) {
    for (auto& bins : level) {
      for (int i = 0; i < heat_bins; ++i) {
        const uint64_t moved = bins[i];
        bins[i] = 0;
        bins[i / 2] += moved;
      }
    }
  }
  map.bin_seconds *= 2;
}

// `bytes` moved evenly from `begin` to `end`, in seconds since the start of the process.
inline void add_heat(PartHeatmap& map, Level level, Direction direction, uint64_t bytes, double begin,
                     double end) {
  begin = std::max(begin, 0.0);
  end = std::max(end, begin);
  constexpr double longest_run = 1e12;
  if (end > longest_run) return;  // a clock that was set: no bin is right
  while (end >= heat_bins * map.bin_seconds) double_bins(map);
  uint64_t* bins = map.bytes[static_cast<size_t>(level)][static_cast<size_t>(direction)];
  const auto first = static_cast<size_t>(begin / map.bin_seconds);
  const size_t last = std::min<size_t>(static_cast<size_t>(end / map.bin_seconds), heat_bins - 1);
  uint64_t done = 0;
  for (size_t bin = first; bin < last; ++bin) {
    const double until = std::max(begin, static_cast<double>(bin + 1) * map.bin_seconds);
    const auto upto = static_cast<uint64_t>(static_cast<double>(bytes) * ((until - begin) / (end - begin)));
    bins[bin] += upto - done;
    done = upto;
  }
  bins[last] += bytes - done;
}

}  // namespace neve::trace
