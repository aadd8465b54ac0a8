// SPDX-License-Identifier: BSD-3-Clause
#include "io/hdf5/rewrite_hint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/status/hint.hpp"

namespace neve::hdf5 {
namespace {

// A file that is closed with a half-filled chunk, and opened again, is none of it.
constexpr uint64_t often = 32;
constexpr size_t min_bytes = size_t{256} << 10;  // smaller chunks take no time worth a word

// Most of a chunk of which a part was written is as it was decoded, which a look at a few places tells. All
// of it is where somebody copies.
bool is_changed_in_part(std::span<const std::byte> a, std::span<const std::byte> b) {
  constexpr size_t places = 64, width = 8;
  if (a.size() != b.size() || a.size() < width) return false;
  size_t equal = 0;
  for (size_t i = 0; i < places; ++i) {
    const size_t at = (a.size() - width) / places * i;
    equal += std::memcmp(a.data() + at, b.data() + at, width) == 0 ? 1 : 0;
  }
  return equal > places / 2 && std::memcmp(a.data(), b.data(), a.size()) != 0;
}

}  // namespace

void RewriteHint::decoded(DecodedCache::Values values) {
  const std::lock_guard lock(mutex_);
  last_ = std::move(values);
}

bool RewriteHint::encodes(std::span<const std::byte> chunk) {
  const std::lock_guard lock(mutex_);
  const DecodedCache::Values last = std::exchange(last_, nullptr);
  if (last == nullptr || chunk.size() < min_bytes || !is_changed_in_part(*last, chunk)) return false;
  return ++rewritten_ == often;
}

void say_rewrite_hint(size_t chunk_bytes) {
  constexpr double mib = 1 << 20;
  say_hint(fmt::format(
      "chunks of {:.1f} MiB are decoded and encoded again for each part of them that is written. Write whole "
      "chunks, or let HDF5 keep them until they are full (h5py: rdcc_nbytes={}), or make them as parts "
      "arrive "
      "(chunks=neve.guess_chunks(shape, dtype, append_axis=0))",
      static_cast<double>(chunk_bytes) / mib, 4 * chunk_bytes));
}

}  // namespace neve::hdf5
