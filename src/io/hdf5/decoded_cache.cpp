// SPDX-License-Identifier: BSD-3-Clause
#include "io/hdf5/decoded_cache.hpp"

#define XXH_INLINE_ALL  // the hash is inlined: no library to link
#define XXH_INLINE_ALL  // no library to link
#include <xxhash.h>

#include <algorithm>
#include <utility>

namespace neve::hdf5 {

FrameKey frame_key(std::span<const std::byte> frame) {
  const XXH128_hash_t hash = XXH3_128bits(frame.data(), frame.size());
  return {hash.low64, hash.high64, frame.size()};
}

DecodedCache::Values DecodedCache::find(const FrameKey& key) {
  const std::lock_guard lock(mutex_);
  const auto at =
      std::find_if(entries_.begin(), entries_.end(), [&](const Entry& e) { return e.key == key; });
  if (at == entries_.end()) return nullptr;
  entries_.splice(entries_.begin(), entries_, at);
  return at->values;
}

void DecodedCache::insert(const FrameKey& key, Values values) {
  if (values->size() > capacity_bytes_) return;
  const std::lock_guard lock(mutex_);
  // Two threads may have decoded the same frame.
  if (std::any_of(entries_.begin(), entries_.end(), [&](const Entry& e) { return e.key == key; })) return;
  held_bytes_ += values->size();
  entries_.push_front({key, std::move(values)});
  // Many tiny chunks would make the search long; past this a decode is as cheap as a search.
  constexpr size_t max_entries = 256;
  while (held_bytes_ > capacity_bytes_ || entries_.size() > max_entries) {
    held_bytes_ -= entries_.back().values->size();
    entries_.pop_back();
  }
}

}  // namespace neve::hdf5
