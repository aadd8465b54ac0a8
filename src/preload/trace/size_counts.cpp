// SPDX-License-Identifier: BSD-3-Clause
// Which sizes were moved how often: a map that grows in the part.
#include "preload/trace/size_counts.hpp"

#include "preload/trace/state.hpp"

namespace neve::trace {

namespace {

uint64_t mixed(uint64_t x) {
  x ^= x >> 32;
  x *= 0x9e3779b97f4a7c15ULL;
  return x ^ (x >> 29);
}

PartSize& place_of(PartSize* map, uint32_t capacity, uint64_t bytes) {
  auto i = static_cast<uint32_t>(mixed(bytes)) & (capacity - 1);
  while (map[i].count != 0 && map[i].bytes != bytes) i = (i + 1) & (capacity - 1);
  return map[i];
}

// Room for another size: the map is kept at most three quarters full.
bool has_room(const PartAccesses& accesses) { return accesses.map_used + 1 <= accesses.map_capacity / 4 * 3; }

void grow(PartAccesses& accesses) {
  const uint32_t capacity = accesses.map_capacity == 0 ? 16 : accesses.map_capacity * 2;
  const uint32_t larger = state.arena.allocate(capacity * sizeof(PartSize));
  if (larger == 0) return;
  auto* to = state.arena.at<PartSize>(larger);
  const auto* from = state.arena.at<PartSize>(accesses.map);
  for (uint32_t i = 0; i < accesses.map_capacity; ++i) {
    if (from[i].count != 0) place_of(to, capacity, from[i].bytes) = from[i];
  }
  // A process killed between these two leaves a map whose rest is read as zeros, or not at all.
  accesses.map = larger;
  accesses.map_capacity = capacity;
}

}  // namespace

void count_size(PartAccesses& accesses, uint64_t bytes) {
  ++accesses.bins[bin_of(bytes)];
  if (accesses.map_capacity != 0) {
    PartSize& place = place_of(state.arena.at<PartSize>(accesses.map), accesses.map_capacity, bytes);
    if (place.count != 0) {
      ++place.count;
      return;
    }
  }
  const bool is_wanted = accesses.map_used < state.settings.sizes;
  if (is_wanted && !has_room(accesses)) grow(accesses);
  if (!is_wanted || !has_room(accesses)) {
    ++accesses.overflow_calls;
    accesses.overflow_bytes += bytes;
    return;
  }
  PartSize& place = place_of(state.arena.at<PartSize>(accesses.map), accesses.map_capacity, bytes);
  place.bytes = bytes;
  place.count = 1;
  ++accesses.map_used;
}

}  // namespace neve::trace
