// SPDX-License-Identifier: BSD-3-Clause
// Tells a user, once, that chunks are decoded and encoded again for every part of them that is written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>

#include "io/hdf5/decoded_cache.hpp"

namespace neve::hdf5 {

// Thread-safe.
class RewriteHint {
 public:
  // A chunk was decoded, to these values.
  void decoded(DecodedCache::Values values);
  // A chunk is to be encoded. Whether it is time for the hint: it is the one decoded last, changed in part,
  // and that was so often enough.
  bool encodes(std::span<const std::byte> chunk);

 private:
  std::mutex mutex_;
  DecodedCache::Values last_;
  uint64_t rewritten_ = 0;
};

// Says it on stderr, unless NEVE_HINTS is 0 or another rank of an MPI program does.
void say_rewrite_hint(size_t chunk_bytes);

}  // namespace neve::hdf5
