// SPDX-License-Identifier: BSD-3-Clause
#include "core/stages/entropy/huffman_code.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <vector>

#include "core/stages/entropy/code_lengths.hpp"

namespace neve {

Codebook make_codebook(const Histogram& histogram) {
  Codebook codebook;
  // By count, then by symbol.
  std::array<uint64_t, symbol_count> keys;
  size_t used = 0;
  for (size_t s = 0; s < symbol_count; ++s) {
    if (histogram[s] > 0) keys[used++] = uint64_t{histogram[s]} << 16 | s;
  }
  std::sort(keys.begin(), keys.begin() + static_cast<ptrdiff_t>(used));
  std::array<uint16_t, symbol_count> by_count;
  for (size_t k = 0; k < used; ++k) by_count[k] = static_cast<uint16_t>(keys[k] & 0xffff);
  huffman_lengths(histogram, std::span<const uint16_t>(by_count.data(), used), max_code_bits,
                  codebook.length);
  return codebook;
}

uint64_t coded_bits(const Codebook& codebook, const Histogram& histogram) {
  uint64_t bits = 0;
  for (size_t s = 0; s < symbol_count; ++s) {
    if (histogram[s] > 0 && codebook.length[s] == 0) return UINT64_MAX;
    bits += uint64_t{histogram[s]} * codebook.length[s];
  }
  return bits;
}

std::array<uint16_t, symbol_count> canonical_codes(const Codebook& codebook) {
  std::array<uint16_t, symbol_count> codes;
  canonical_codes(codebook.length, max_code_bits, codes);
  return codes;
}

// First and last symbol, then a nibble for each length between: 0 no code, 1..12 the length, 13 and 14 runs
// of 2 and 4 symbols without a code, 15 of 8.
void write_codebook(const Codebook& codebook, ByteWriter& out) {
  size_t first = 0;
  while (first < symbol_count - 1 && codebook.length[first] == 0) ++first;
  size_t last = symbol_count - 1;
  while (last > first && codebook.length[last] == 0) --last;
  std::array<uint8_t, symbol_count + 1> nibbles{};
  size_t count = 0;
  for (size_t s = first; s <= last;) {
    size_t run = 0;
    while (s + run <= last && codebook.length[s + run] == 0) ++run;
    if (run == 0) {
      nibbles[count++] = codebook.length[s++];
      continue;
    }
    s += run;
    for (; run >= 8; run -= 8) nibbles[count++] = 15;
    if (run >= 4) nibbles[count++] = 14, run -= 4;
    if (run >= 2) nibbles[count++] = 13, run -= 2;
    if (run == 1) nibbles[count++] = 0;
  }
  out.put(static_cast<uint8_t>(first));
  out.put(static_cast<uint8_t>(last));
  for (size_t i = 0; i < count; i += 2) out.put(static_cast<uint8_t>(nibbles[i] | nibbles[i + 1] << 4));
}

Result<Codebook> read_codebook(ByteReader& in) {
  Codebook codebook;
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
      codebook.length[s++] = static_cast<uint8_t>(nibble);
    } else {
      s += size_t{2} << (nibble - max_code_bits - 1);
    }
  }
  if (s != last + 1)
    return corrupt(fmt::format("codebook: lengths run to symbol {}, declared {}", s - 1, last));
  NEVE_TRY(require_complete_code(codebook.length, max_code_bits));
  return codebook;
}

void CodebookTable::add(const Codebook& codebook) {
  begins_.push_back(static_cast<uint32_t>(bytes_.size()));
  ByteWriter out(bytes_);
  write_codebook(codebook, out);
}

Codebook CodebookTable::at(size_t number) const {
  ByteReader in(ByteSpan(bytes_).subspan(begins_[number]));
  return *read_codebook(in);  // as it was added
}

}  // namespace neve
