// SPDX-License-Identifier: BSD-3-Clause
#include "core/stages/lossless/byte_segregation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "core/stages/lossless/byte_planes.hpp"

namespace neve {

namespace {

// A position is compressible when its most frequent byte is this much more frequent than if all 256 were
// equally so. The slides name the rule (skewness) and no number; ISOBAR (Schendel et al., ICDE 2012), which
// they build on, has 1.42.
constexpr double skewed_share = 1.42 / 256;

// Bit b: byte position b is compressible.
uint8_t compressible_positions(ByteSpan planes, size_t word_bytes) {
  const size_t count = planes.size() / word_bytes;
  unsigned positions = 0;
  for (size_t b = 0; b < word_bytes; ++b) {
    std::array<uint32_t, 256> seen{};
    for (const std::byte byte : planes.subspan(b * count, count)) ++seen[static_cast<size_t>(byte)];
    const double most = *std::max_element(seen.begin(), seen.end());
    if (most > skewed_share * static_cast<double>(count)) positions |= 1U << b;
  }
  return static_cast<uint8_t>(positions);
}

// The chosen positions of all values, value after value.
Bytes interleave(ByteSpan planes, size_t count, const std::vector<size_t>& positions) {
  Bytes out(count * positions.size());
  for (size_t p = 0; p < positions.size(); ++p) {
    const std::byte* const plane = planes.data() + positions[p] * count;
    for (size_t i = 0; i < count; ++i) out[i * positions.size() + p] = plane[i];
  }
  return out;
}

void deal_out(ByteSpan bytes, size_t count, const std::vector<size_t>& positions, Bytes& planes) {
  for (size_t p = 0; p < positions.size(); ++p) {
    std::byte* const plane = planes.data() + positions[p] * count;
    for (size_t i = 0; i < count; ++i) plane[i] = bytes[i * positions.size() + p];
  }
}

struct Positions {
  std::vector<size_t> compressible, noise;
  Positions(uint8_t mask, size_t word_bytes) {
    for (size_t b = 0; b < word_bytes; ++b) (((mask >> b) & 1) != 0 ? compressible : noise).push_back(b);
  }
};

}  // namespace

Status write_segregated(Segregation segregation, ByteCoder coder, ByteSpan words, size_t word_bytes,
                        ByteWriter& out) {
  Bytes planes(words.size());
  to_byte_planes(words, word_bytes, planes);
  const size_t count = words.size() / word_bytes;
  const uint8_t mask = compressible_positions(planes, word_bytes);
  const Positions positions(mask, word_bytes);
  Bytes compressible;
  if (segregation == Segregation::bytes) {
    compressible = interleave(planes, count, positions.compressible);
  } else {
    for (const size_t b : positions.compressible) {
      compressible.insert(compressible.end(), planes.begin() + static_cast<ptrdiff_t>(b * count),
                          planes.begin() + static_cast<ptrdiff_t>((b + 1) * count));
    }
  }
  out.put(mask);
  NEVE_TRY(write_coded(coder, compressible, out));
  out.put_bytes(interleave(planes, count, positions.noise));
  return {};
}

Status read_segregated(Segregation segregation, ByteCoder coder, ByteReader& in, size_t word_bytes,
                       std::span<std::byte> words) {
  const size_t count = words.size() / word_bytes;
  const auto mask = in.get<uint8_t>();
  if (in.failed() || mask >> word_bytes != 0) {
    return corrupt(
        fmt::format("segregated bytes: positions 0x{:02x} of values of {} bytes", mask, word_bytes));
  }
  const Positions positions(mask, word_bytes);
  NEVE_ASSIGN(const Bytes compressible, read_coded(coder, in, count * positions.compressible.size()));
  const ByteSpan noise = in.get_bytes(count * positions.noise.size());
  if (in.failed()) return corrupt("segregated bytes: end inside their incompressible part");
  Bytes planes(words.size());
  if (segregation == Segregation::bytes) {
    deal_out(compressible, count, positions.compressible, planes);
  } else {
    for (size_t p = 0; p < positions.compressible.size(); ++p) {
      std::copy_n(compressible.begin() + static_cast<ptrdiff_t>(p * count), count,
                  planes.begin() + static_cast<ptrdiff_t>(positions.compressible[p] * count));
    }
  }
  deal_out(noise, count, positions.noise, planes);
  from_byte_planes(planes, word_bytes, words);
  return {};
}

}  // namespace neve
