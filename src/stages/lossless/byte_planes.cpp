// SPDX-License-Identifier: BSD-3-Clause
#include "stages/lossless/byte_planes.hpp"

#include <algorithm>
#include <cstring>

namespace neve {

namespace {

// Words whose bytes are dealt out before the next ones: they stay in the cache meanwhile.
constexpr size_t words_at_once = 2048;

template <size_t word_bytes>
void deal(const std::byte* words, std::byte* planes, size_t count) {
  for (size_t begin = 0; begin < count; begin += words_at_once) {
    const size_t end = std::min(count, begin + words_at_once);
    for (size_t b = 0; b < word_bytes; ++b) {
      std::byte* const plane = planes + b * count;
      for (size_t i = begin; i < end; ++i) plane[i] = words[i * word_bytes + b];
    }
  }
}

template <size_t word_bytes>
void gather(const std::byte* planes, std::byte* words, size_t count) {
  for (size_t begin = 0; begin < count; begin += words_at_once) {
    const size_t end = std::min(count, begin + words_at_once);
    for (size_t i = begin; i < end; ++i) {
      for (size_t b = 0; b < word_bytes; ++b) words[i * word_bytes + b] = planes[b * count + i];
    }
  }
}

// The 8x8 bit matrix turned over its diagonal: byte k of the result holds bit k of every byte. Warren,
// Hacker's Delight, 2nd edition, section 7-3.
uint64_t transpose8(uint64_t x) {
  uint64_t t = (x ^ (x >> 7)) & 0x00aa00aa00aa00aaULL;
  x = x ^ t ^ (t << 7);
  t = (x ^ (x >> 14)) & 0x0000cccc0000ccccULL;
  x = x ^ t ^ (t << 14);
  t = (x ^ (x >> 28)) & 0x00000000f0f0f0f0ULL;
  return x ^ t ^ (t << 28);
}

void split_bits(const std::byte* bytes, std::byte* bits, size_t count) {
  const size_t groups = count / 8;
  for (size_t g = 0; g < groups; ++g) {
    uint64_t x = 0;
    std::memcpy(&x, bytes + 8 * g, 8);
    x = transpose8(x);
    for (size_t k = 0; k < 8; ++k) bits[(7 - k) * groups + g] = static_cast<std::byte>(x >> (8 * k));
  }
  std::copy(bytes + 8 * groups, bytes + count, bits + 8 * groups);
}

void join_bits(const std::byte* bits, std::byte* bytes, size_t count) {
  const size_t groups = count / 8;
  for (size_t g = 0; g < groups; ++g) {
    uint64_t x = 0;
    for (size_t k = 0; k < 8; ++k) x |= static_cast<uint64_t>(bits[(7 - k) * groups + g]) << (8 * k);
    x = transpose8(x);
    std::memcpy(bytes + 8 * g, &x, 8);
  }
  std::copy(bits + 8 * groups, bits + count, bytes + 8 * groups);
}

}  // namespace

void to_byte_planes(ByteSpan words, size_t word_bytes, std::span<std::byte> planes) {
  const size_t count = words.size() / word_bytes;
  switch (word_bytes) {
    case 1:
      return deal<1>(words.data(), planes.data(), count);
    case 2:
      return deal<2>(words.data(), planes.data(), count);
    case 4:
      return deal<4>(words.data(), planes.data(), count);
    default:
      return deal<8>(words.data(), planes.data(), count);
  }
}

void from_byte_planes(ByteSpan planes, size_t word_bytes, std::span<std::byte> words) {
  const size_t count = words.size() / word_bytes;
  switch (word_bytes) {
    case 1:
      return gather<1>(planes.data(), words.data(), count);
    case 2:
      return gather<2>(planes.data(), words.data(), count);
    case 4:
      return gather<4>(planes.data(), words.data(), count);
    default:
      return gather<8>(planes.data(), words.data(), count);
  }
}

void to_bit_planes(ByteSpan words, size_t word_bytes, std::span<std::byte> planes) {
  const size_t count = words.size() / word_bytes;
  Bytes bytes(words.size());
  to_byte_planes(words, word_bytes, bytes);
  for (size_t b = 0; b < word_bytes; ++b)
    split_bits(bytes.data() + b * count, planes.data() + b * count, count);
}

void from_bit_planes(ByteSpan planes, size_t word_bytes, std::span<std::byte> words) {
  const size_t count = words.size() / word_bytes;
  Bytes bytes(words.size());
  for (size_t b = 0; b < word_bytes; ++b)
    join_bits(planes.data() + b * count, bytes.data() + b * count, count);
  from_byte_planes(bytes, word_bytes, words);
}

}  // namespace neve
