// SPDX-License-Identifier: BSD-3-Clause
// A self-describing stretch of bytes: as it is, or by zstd where that pays.
#pragma once

#include <cstdint>
#include <memory>

#include "core/bits/bytes.hpp"
#include "neve/status.hpp"

namespace neve {

// zstd level for what stands beside the symbols and is small: masks, escapes, exact values.
inline constexpr int side_zstd_level = 3;

void write_packed(ByteSpan bytes, ByteWriter& out);
// The same, as they are.
void write_raw(ByteSpan bytes, ByteWriter& out);

// Errors: corrupt; also when the declared size is above `max_bytes`, before anything is allocated.
Result<Bytes> read_packed(ByteReader& in, uint64_t max_bytes);

// The same bytes piece by piece, so that what they unpack to need not be held.
class PackedReader {
 public:
  // As read_packed.
  static Result<PackedReader> open(ByteReader& in, uint64_t max_bytes);
  PackedReader(PackedReader&&) noexcept;
  PackedReader& operator=(PackedReader&&) noexcept;
  ~PackedReader();

  // What comes next: at least `record` bytes, at most some hundred thousand, fewer only at the end. Valid
  // until the next call. Errors: corrupt.
  Result<ByteSpan> ahead(size_t record);
  // Goes on behind the first `bytes` of what ahead() returned.
  void advance(size_t bytes) { at_ += bytes; }
  uint64_t left() const { return unread_ + (filled_ - at_); }

 private:
  struct Unpacker;
  PackedReader();
  Status fill();

  uint64_t unread_ = 0;                 // still packed
  ByteSpan packed_;                     // of which this
  std::unique_ptr<Unpacker> unpacker_;  // null: packed_ is the bytes themselves
  Bytes held_;
  size_t at_ = 0;
  size_t filled_ = 0;
};

}  // namespace neve
