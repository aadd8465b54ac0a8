// SPDX-License-Identifier: BSD-3-Clause
// Bounded little-endian reading and writing. The reader never passes its end: after the first read
// that would, it stays failed and returns zeros, so a parser may check once per record.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "core/bits/zigzag.hpp"

namespace neve {

static_assert(std::endian::native == std::endian::little, "the frame format is written as memory holds it");

using Bytes = std::vector<std::byte>;
using ByteSpan = std::span<const std::byte>;

class ByteWriter {
 public:
  explicit ByteWriter(Bytes& out) : out_(out) {}

  template <class T>
  void put(T value) {
    put_bytes(&value, sizeof value);
  }
  void put_bytes(const void* data, size_t bytes) {
    const auto* p = static_cast<const std::byte*>(data);
    out_.insert(out_.end(), p, p + bytes);
  }
  void put_bytes(ByteSpan bytes) { put_bytes(bytes.data(), bytes.size()); }
  // LEB128: seven bits a byte, least significant first, top bit set on all but the last.
  void put_varint(uint64_t value) {
    while (value >= 0x80) {
      out_.push_back(static_cast<std::byte>(value | 0x80));
      value >>= 7;
    }
    out_.push_back(static_cast<std::byte>(value));
  }
  // Zigzag: small magnitudes of either sign stay short.
  void put_signed_varint(int64_t value) { put_varint(zigzag(value)); }
  size_t size() const { return out_.size(); }

 private:
  Bytes& out_;
};

class ByteReader {
 public:
  explicit ByteReader(ByteSpan bytes) : bytes_(bytes) {}

  template <class T>
  T get() {
    T value{};
    if (sizeof(T) > remaining()) {
      failed_ = true;
      return value;
    }
    std::memcpy(&value, bytes_.data() + at_, sizeof value);
    at_ += sizeof value;
    return value;
  }
  uint64_t get_varint() {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const auto byte = get<uint8_t>();
      const uint64_t part = byte & 0x7f;
      if (failed_ || (shift == 63 && part > 1)) break;
      value |= part << shift;
      if (byte < 0x80) return value;
    }
    failed_ = true;
    return 0;
  }
  int64_t get_signed_varint() { return unzigzag(get_varint()); }
  ByteSpan get_bytes(uint64_t count) {
    if (count > remaining()) {
      failed_ = true;
      return {};
    }
    const ByteSpan part = bytes_.subspan(at_, count);
    at_ += count;
    return part;
  }
  bool failed() const { return failed_; }
  size_t position() const { return at_; }
  size_t remaining() const { return failed_ ? 0 : bytes_.size() - at_; }

 private:
  ByteSpan bytes_;
  size_t at_ = 0;
  bool failed_ = false;
};

}  // namespace neve
