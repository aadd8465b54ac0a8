// SPDX-License-Identifier: BSD-3-Clause
#include "core/stages/lossless/byte_planes.hpp"

#include <algorithm>
#include <cstring>

namespace neve {

namespace {

// Sixteen words are as many vectors as a word has bytes. Interleaving their first half with their second one
// turns the bits of a byte's place (word number, then byte number) round by one: four times makes planes of
// words, log2(word_bytes) times words of planes. Compilers know it as one instruction a vector.
typedef uint8_t Vector __attribute__((vector_size(16)));
constexpr size_t vector_words = sizeof(Vector);

template <size_t vectors>
inline __attribute__((always_inline)) void interleave_halves(Vector* v) {
  Vector mixed[vectors];
  for (size_t k = 0; k < vectors / 2; ++k) {
    const Vector a = v[k];
    const Vector b = v[k + vectors / 2];
    mixed[2 * k] = __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    mixed[2 * k + 1] =
        __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
  }
  for (size_t k = 0; k < vectors; ++k) v[k] = mixed[k];
}

template <size_t word_bytes>
void deal(const std::byte* words, std::byte* planes, size_t plane_bytes, size_t count) {
  size_t i = 0;
  for (; i + vector_words <= count; i += vector_words) {
    Vector v[word_bytes];
    std::memcpy(v, words + i * word_bytes, sizeof v);
    for (size_t turned = 1; turned < vector_words; turned *= 2) interleave_halves<word_bytes>(v);
    for (size_t b = 0; b < word_bytes; ++b) std::memcpy(planes + b * plane_bytes + i, &v[b], sizeof v[b]);
  }
  for (; i < count; ++i) {
    for (size_t b = 0; b < word_bytes; ++b) planes[b * plane_bytes + i] = words[i * word_bytes + b];
  }
}

template <size_t word_bytes>
void gather(const std::byte* planes, std::byte* words, size_t count) {
  size_t i = 0;
  for (; i + vector_words <= count; i += vector_words) {
    Vector v[word_bytes];
    for (size_t b = 0; b < word_bytes; ++b) std::memcpy(&v[b], planes + b * count + i, sizeof v[b]);
    for (size_t turned = 1; turned < word_bytes; turned *= 2) interleave_halves<word_bytes>(v);
    std::memcpy(words + i * word_bytes, v, sizeof v);
  }
  for (; i < count; ++i) {
    for (size_t b = 0; b < word_bytes; ++b) words[i * word_bytes + b] = planes[b * count + i];
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

void deal_bytes(ByteSpan words, size_t word_bytes, std::byte* planes, size_t plane_bytes) {
  const size_t count = words.size() / word_bytes;
  switch (word_bytes) {
    case 1:
      std::copy(words.begin(), words.end(), planes);
      return;
    case 2:
      return deal<2>(words.data(), planes, plane_bytes, count);
    case 4:
      return deal<4>(words.data(), planes, plane_bytes, count);
    default:
      return deal<8>(words.data(), planes, plane_bytes, count);
  }
}

void to_byte_planes(ByteSpan words, size_t word_bytes, std::span<std::byte> planes) {
  deal_bytes(words, word_bytes, planes.data(), words.size() / word_bytes);
}

void from_byte_planes(ByteSpan planes, size_t word_bytes, std::span<std::byte> words) {
  const size_t count = words.size() / word_bytes;
  switch (word_bytes) {
    case 1:
      std::copy(planes.begin(), planes.end(), words.begin());
      return;
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
