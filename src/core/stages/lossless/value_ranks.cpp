// SPDX-License-Identifier: BSD-3-Clause
#include "core/stages/lossless/value_ranks.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/bits/word_index.hpp"
#include "core/stages/lossless/byte_coder.hpp"
#include "core/stages/lossless/byte_planes.hpp"

namespace neve {

namespace {

// Small tables are read far more often than written; large ones take long at a high level.
constexpr size_t small_table = 32 << 10;
CoderLevels table_levels(size_t bytes) { return {.zstd = bytes <= small_table ? 9 : 3}; }

}  // namespace

template <class U>
std::optional<std::vector<U>> distinct_words(std::span<const U> words, bool cyclic, size_t most) {
  constexpr size_t words_per_distinct = 64;  // seldom fewer
  WordIndex<U> seen(std::min(words.size() / words_per_distinct, most));
  std::vector<U> distinct;
  U before = 0;
  bool first = true;
  for (const U word : words) {
    if (!first && word == before) continue;
    first = false;
    before = word;
    if (!seen.insert(word, 0)) continue;
    if (seen.size() > most) return {};
    distinct.push_back(word);
  }
  std::sort(distinct.begin(), distinct.end());
  if (!cyclic || distinct.empty()) return distinct;
  size_t begin = 0;
  U widest = distinct.front() - distinct.back();  // around the end, modulo 2^bits
  for (size_t i = 1; i < distinct.size(); ++i) {
    const U gap = distinct[i] - distinct[i - 1];
    if (gap <= widest) continue;
    widest = gap;
    begin = i;
  }
  std::rotate(distinct.begin(), distinct.begin() + static_cast<ptrdiff_t>(begin), distinct.end());
  return distinct;
}

template <class U>
void write_distinct(std::span<const U> distinct, ByteWriter& out) {
  std::vector<U> gaps(distinct.begin(), distinct.end());
  for (size_t i = gaps.size(); i-- > 1;) gaps[i] -= gaps[i - 1];
  Bytes planes(gaps.size() * sizeof(U));
  to_byte_planes(std::as_bytes(std::span(gaps)), sizeof(U), planes);
  out.put_varint(gaps.size());
  // zstd takes what it is given: it cannot be missing, nor is this too long.
  (void)write_coded(ByteCoder::zstd, planes, out, table_levels(planes.size()));
}

template <class U>
Result<std::vector<U>> read_distinct(ByteReader& in, uint64_t words) {
  const uint64_t count = in.get_varint();
  const uint64_t most = std::clamp<uint64_t>(words, 1, max_ranks);
  if (in.failed() || count < 1 || count > most) {
    return corrupt(fmt::format("ranks: {} distinct values, 1 to {} are allowed", count, most));
  }
  NEVE_ASSIGN(const Bytes planes, read_coded(ByteCoder::zstd, in, count * sizeof(U)));
  std::vector<U> distinct(count);
  from_byte_planes(planes, sizeof(U), std::as_writable_bytes(std::span(distinct)));
  for (size_t i = 1; i < count; ++i) distinct[i] += distinct[i - 1];
  return distinct;
}

template std::optional<std::vector<uint8_t>> distinct_words<uint8_t>(std::span<const uint8_t>, bool, size_t);
template void write_distinct<uint8_t>(std::span<const uint8_t>, ByteWriter&);
template Result<std::vector<uint8_t>> read_distinct<uint8_t>(ByteReader&, uint64_t);
template std::optional<std::vector<uint16_t>> distinct_words<uint16_t>(std::span<const uint16_t>, bool,
                                                                       size_t);
template void write_distinct<uint16_t>(std::span<const uint16_t>, ByteWriter&);
template Result<std::vector<uint16_t>> read_distinct<uint16_t>(ByteReader&, uint64_t);
template std::optional<std::vector<uint32_t>> distinct_words<uint32_t>(std::span<const uint32_t>, bool,
                                                                       size_t);
template void write_distinct<uint32_t>(std::span<const uint32_t>, ByteWriter&);
template Result<std::vector<uint32_t>> read_distinct<uint32_t>(ByteReader&, uint64_t);
template std::optional<std::vector<uint64_t>> distinct_words<uint64_t>(std::span<const uint64_t>, bool,
                                                                       size_t);
template void write_distinct<uint64_t>(std::span<const uint64_t>, ByteWriter&);
template Result<std::vector<uint64_t>> read_distinct<uint64_t>(ByteReader&, uint64_t);

}  // namespace neve
