// SPDX-License-Identifier: BSD-3-Clause
#include "core/stages/entropy/escapes.hpp"

#include <fmt/format.h>

#include <bit>

#include "core/bits/zigzag.hpp"
#include "core/stages/entropy/bit_io.hpp"
#include "core/stages/lossless/byte_pack.hpp"

namespace neve {

void write_escapes(std::span<const int32_t> escapes, ByteWriter& out) {
  Bytes widths;
  Bytes raw;
  BitWriter bits(raw);
  widths.reserve(escapes.size());
  for (const int32_t escape : escapes) {
    const uint32_t z = zigzag(escape);
    const auto width = static_cast<unsigned>(std::bit_width(z));
    widths.push_back(static_cast<std::byte>(width));
    if (width > 1) bits.put(z, width - 1);
  }
  bits.finish();
  out.put_varint(escapes.size());
  if (escapes.empty()) return;
  write_packed(widths, out);
  out.put_bytes(raw);
}

Result<std::vector<int32_t>> read_escapes(ByteReader& in, uint64_t max_count) {
  const uint64_t count = in.get_varint();
  if (in.failed() || count > max_count) {
    return corrupt(fmt::format("escapes: {} declared, at most {} possible", count, max_count));
  }
  std::vector<int32_t> escapes;
  if (count == 0) return escapes;
  NEVE_ASSIGN(const Bytes widths, read_packed(in, count));
  if (widths.size() != count) {
    return corrupt(fmt::format("escapes: {} widths for {} escapes", widths.size(), count));
  }
  uint64_t raw_bits = 0;
  for (const std::byte b : widths) {
    const auto width = static_cast<unsigned>(b);
    if (width > 32) return corrupt(fmt::format("escapes: width of {} bits, at most 32", width));
    raw_bits += width > 1 ? width - 1 : 0;
  }
  const ByteSpan raw = in.get_bytes((raw_bits + 7) / 8);
  if (in.failed()) return corrupt("escapes: raw bits run past the end of their section");
  BitReader bits(raw);
  escapes.reserve(count);
  for (const std::byte b : widths) {
    const auto width = static_cast<unsigned>(b);
    const uint32_t top = width > 0 ? uint32_t{1} << (width - 1) : 0;
    const uint32_t low = width > 1 ? static_cast<uint32_t>(bits.get(width - 1)) : 0;
    escapes.push_back(unzigzag(top | low));
  }
  return escapes;
}

}  // namespace neve
