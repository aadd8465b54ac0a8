// SPDX-License-Identifier: BSD-3-Clause
// The frames decoded last. yt reads one box and one field at a time through a chunk cache smaller than a
// chunk, so HDF5 asks for the same chunk again and again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace neve::hdf5 {

// Keyed by the frame's bytes rather than by file and chunk: a filter is told neither.
struct FrameKey {
  uint64_t hash_low = 0;
  uint64_t hash_high = 0;
  uint64_t frame_bytes = 0;

  bool operator==(const FrameKey&) const = default;
};

FrameKey frame_key(std::span<const std::byte> frame);

// Thread-safe. Holds at most `capacity_bytes` of decoded values, the most recently used ones.
class DecodedCache {
 public:
  using Values = std::shared_ptr<const std::vector<std::byte>>;

  explicit DecodedCache(uint64_t capacity_bytes) : capacity_bytes_(capacity_bytes) {}

  uint64_t capacity_bytes() const { return capacity_bytes_; }
  Values find(const FrameKey& key);  // null when it is not held
  void insert(const FrameKey& key, Values values);

 private:
  struct Entry {
    FrameKey key;
    Values values;
  };

  const uint64_t capacity_bytes_;
  std::mutex mutex_;
  // Most recent first. A linear search: at 8 MiB a chunk there are about eight entries.
  std::list<Entry> entries_;
  uint64_t held_bytes_ = 0;
};

}  // namespace neve::hdf5
