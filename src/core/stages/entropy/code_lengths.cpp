// SPDX-License-Identifier: BSD-3-Clause
#include "core/stages/entropy/code_lengths.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace neve {

namespace {

// Lengths of an unlimited Huffman code by the two-queue method (van Leeuwen 1976): leaves sorted by count,
// merged nodes come out in order by themselves. Then cut to max_bits.
void cut_lengths(std::span<const uint32_t> counts, std::span<const uint16_t> ascending, int max_bits,
                 std::span<uint8_t> lengths) {
  const size_t leaves = ascending.size();
  const size_t nodes = 2 * leaves - 1;
  std::array<uint64_t, 2 * max_alphabet> weight;
  std::array<uint16_t, 2 * max_alphabet> parent;
  std::array<uint16_t, 2 * max_alphabet> depth;
  for (size_t i = 0; i < leaves; ++i) weight[i] = counts[ascending[i]];
  size_t leaf = 0;
  size_t merged = leaves;
  for (size_t next = leaves; next < nodes; ++next) {
    weight[next] = 0;
    for (int child = 0; child < 2; ++child) {
      const bool take_leaf = leaf < leaves && (merged == next || weight[leaf] <= weight[merged]);
      const size_t taken = take_leaf ? leaf++ : merged++;
      weight[next] += weight[taken];
      parent[taken] = static_cast<uint16_t>(next);
    }
  }
  depth[nodes - 1] = 0;
  for (size_t i = nodes - 1; i-- > 0;) depth[i] = static_cast<uint16_t>(depth[parent[i]] + 1);
  for (size_t i = 0; i < leaves; ++i) {
    lengths[ascending[i]] = static_cast<uint8_t>(std::min<int>(depth[i], max_bits));
  }
}

// Repair Kraft's sum after the cut: lengthen the rarest codes that still can be, and give what is left over
// to the most frequent.
void repair_kraft(std::span<const uint16_t> ascending, int max_bits, std::span<uint8_t> lengths) {
  const int64_t whole = int64_t{1} << max_bits;
  int64_t kraft = 0;
  for (const uint16_t s : ascending) kraft += whole >> lengths[s];
  while (kraft > whole) {
    for (const uint16_t s : ascending) {
      uint8_t& length = lengths[s];
      if (length == max_bits) continue;
      kraft -= whole >> (length + 1);
      ++length;
      if (kraft <= whole) break;
    }
  }
  for (auto s = ascending.rbegin(); s != ascending.rend(); ++s) {
    uint8_t& length = lengths[*s];
    while (length > 1 && kraft + (whole >> length) <= whole) {
      kraft += whole >> length;
      --length;
    }
  }
}

}  // namespace

void huffman_lengths(std::span<const uint32_t> counts, std::span<const uint16_t> ascending, int max_bits,
                     std::span<uint8_t> lengths) {
  if (ascending.empty()) return;
  if (ascending.size() == 1) {
    lengths[ascending[0]] = 1;
    return;
  }
  cut_lengths(counts, ascending, max_bits, lengths);
  repair_kraft(ascending, max_bits, lengths);
}

Status require_complete_code(std::span<const uint8_t> lengths, int max_bits) {
  const uint32_t whole = uint32_t{1} << max_bits;
  uint32_t filled = 0;
  int used = 0;
  for (const uint8_t length : lengths) {
    if (length == 0) continue;
    filled += whole >> length;
    ++used;
  }
  const bool is_single = used == 1 && filled == whole / 2;
  if (filled == whole || is_single) return {};
  return corrupt(
      fmt::format("codebook: code lengths of {} symbols fill {}/{} of the code space, must fill it", used,
                  filled, whole));
}

void canonical_codes(std::span<const uint8_t> lengths, int max_bits, std::span<uint16_t> codes) {
  std::array<uint32_t, 17> next{};
  for (const uint8_t length : lengths) ++next[length];
  uint32_t code = 0;
  uint32_t of_shorter = 0;
  for (size_t length = 1; length <= static_cast<size_t>(max_bits); ++length) {
    code = (code + of_shorter) << 1;
    of_shorter = next[length];
    next[length] = code;
  }
  for (size_t s = 0; s < lengths.size(); ++s) {
    const unsigned length = lengths[s];
    codes[s] =
        length == 0 ? uint16_t{0} : static_cast<uint16_t>(reverse_16_bits(next[length]++) >> (16 - length));
  }
}

}  // namespace neve
