// SPDX-License-Identifier: BSD-3-Clause
#include "stages/entropy/huffman_code.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <vector>

namespace neve {

namespace {

// Lengths of an unlimited Huffman code by the two-queue method (van Leeuwen 1976): leaves sorted by count,
// merged nodes come out in order by themselves.
void unlimited_lengths(const Histogram& histogram, const std::vector<int>& by_count, Codebook& book) {
  const size_t leaves = by_count.size();
  std::vector<uint64_t> weight(2 * leaves - 1);
  std::vector<size_t> parent(2 * leaves - 1, 0);
  for (size_t i = 0; i < leaves; ++i) weight[i] = histogram[static_cast<size_t>(by_count[i])];
  size_t leaf = 0;
  size_t merged = leaves;
  for (size_t next = leaves; next < weight.size(); ++next) {
    weight[next] = 0;
    for (int child = 0; child < 2; ++child) {
      const bool take_leaf = leaf < leaves && (merged == next || weight[leaf] <= weight[merged]);
      const size_t taken = take_leaf ? leaf++ : merged++;
      weight[next] += weight[taken];
      parent[taken] = next;
    }
  }
  std::vector<uint8_t> depth(weight.size(), 0);
  for (size_t i = weight.size() - 1; i-- > 0;) depth[i] = static_cast<uint8_t>(depth[parent[i]] + 1);
  for (size_t i = 0; i < leaves; ++i) book.length[static_cast<size_t>(by_count[i])] = depth[i];
}

// Cut lengths to the limit, then repair Kraft's sum: lengthen the rarest codes that still can be, and give
// what is left over to the most frequent.
void limit_lengths(const std::vector<int>& by_count, Codebook& book) {
  constexpr int64_t whole = int64_t{1} << max_code_bits;
  int64_t kraft = 0;
  for (const int s : by_count) {
    auto& length = book.length[static_cast<size_t>(s)];
    length = std::min<uint8_t>(length, max_code_bits);
    kraft += whole >> length;
  }
  while (kraft > whole) {
    for (const int s : by_count) {
      auto& length = book.length[static_cast<size_t>(s)];
      if (length == max_code_bits) continue;
      kraft -= whole >> (length + 1);
      ++length;
      if (kraft <= whole) break;
    }
  }
  for (auto s = by_count.rbegin(); s != by_count.rend(); ++s) {
    auto& length = book.length[static_cast<size_t>(*s)];
    while (length > 1 && kraft + (whole >> length) <= whole) {
      kraft += whole >> length;
      --length;
    }
  }
}

}  // namespace

Codebook make_codebook(const Histogram& histogram) {
  Codebook book;
  std::vector<int> by_count;
  for (int s = 0; s < symbol_count; ++s) {
    if (histogram[static_cast<size_t>(s)] > 0) by_count.push_back(s);
  }
  if (by_count.empty()) return book;
  if (by_count.size() == 1) {
    book.length[static_cast<size_t>(by_count[0])] = 1;
    return book;
  }
  std::stable_sort(by_count.begin(), by_count.end(), [&](int a, int b) {
    return histogram[static_cast<size_t>(a)] < histogram[static_cast<size_t>(b)];
  });
  unlimited_lengths(histogram, by_count, book);
  limit_lengths(by_count, book);
  return book;
}

uint64_t coded_bits(const Codebook& book, const Histogram& histogram) {
  uint64_t bits = 0;
  for (size_t s = 0; s < symbol_count; ++s) {
    if (histogram[s] > 0 && book.length[s] == 0) return UINT64_MAX;
    bits += uint64_t{histogram[s]} * book.length[s];
  }
  return bits;
}

std::array<uint16_t, symbol_count> canonical_codes(const Codebook& book) {
  std::array<uint16_t, symbol_count> codes{};
  uint32_t next = 0;
  for (int length = 1; length <= max_code_bits; ++length) {
    for (size_t s = 0; s < symbol_count; ++s) {
      if (book.length[s] != length) continue;
      uint16_t reversed = 0;
      for (int b = 0; b < length; ++b)
        reversed |= static_cast<uint16_t>(((next >> b) & 1) << (length - 1 - b));
      codes[s] = reversed;
      ++next;
    }
    next <<= 1;
  }
  return codes;
}

// First and last symbol, then a nibble for each length between: 0 no code, 1..12 the length, 13 and 14 runs
// of 2 and 4 symbols without a code, 15 of 8.
void write_codebook(const Codebook& book, ByteWriter& out) {
  size_t first = 0;
  while (first < symbol_count - 1 && book.length[first] == 0) ++first;
  size_t last = symbol_count - 1;
  while (last > first && book.length[last] == 0) --last;
  std::vector<uint8_t> nibbles;
  for (size_t s = first; s <= last;) {
    size_t run = 0;
    while (s + run <= last && book.length[s + run] == 0) ++run;
    if (run == 0) {
      nibbles.push_back(book.length[s++]);
      continue;
    }
    s += run;
    for (; run >= 8; run -= 8) nibbles.push_back(15);
    if (run >= 4) nibbles.push_back(14), run -= 4;
    if (run >= 2) nibbles.push_back(13), run -= 2;
    if (run == 1) nibbles.push_back(0);
  }
  out.put(static_cast<uint8_t>(first));
  out.put(static_cast<uint8_t>(last));
  for (size_t i = 0; i < nibbles.size(); i += 2) {
    const unsigned high = i + 1 < nibbles.size() ? nibbles[i + 1] : 0U;
    out.put(static_cast<uint8_t>(nibbles[i] | high << 4));
  }
}

Result<Codebook> read_codebook(ByteReader& in) {
  Codebook book;
  const size_t first = in.get<uint8_t>();
  const size_t last = in.get<uint8_t>();
  if (in.failed() || first > last) {
    return corrupt(fmt::format("codebook: first symbol {} above last symbol {}", first, last));
  }
  uint8_t byte = 0;
  bool have_high = false;
  size_t s = first;
  while (s <= last) {
    if (!have_high) byte = in.get<uint8_t>();
    const int nibble = have_high ? byte >> 4 : byte & 15;
    have_high = !have_high;
    if (in.failed()) return corrupt("codebook: ends before its last symbol");
    if (nibble <= max_code_bits) {
      book.length[s++] = static_cast<uint8_t>(nibble);
    } else {
      s += size_t{2} << (nibble - max_code_bits - 1);
    }
  }
  if (s != last + 1)
    return corrupt(fmt::format("codebook: lengths run to symbol {}, declared {}", s - 1, last));
  constexpr uint32_t whole = 1U << max_code_bits;
  uint32_t kraft = 0;
  int used = 0;
  for (const uint8_t length : book.length) {
    if (length == 0) continue;
    kraft += whole >> length;
    ++used;
  }
  const bool single = used == 1 && kraft == whole / 2;
  if (kraft != whole && !single) {
    return corrupt(
        fmt::format("codebook: code lengths of {} symbols fill {}/{} of the code space, must fill it", used,
                    kraft, whole));
  }
  return book;
}

}  // namespace neve
