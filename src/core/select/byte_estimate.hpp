// SPDX-License-Identifier: BSD-3-Clause
// What methods on bytes would take of a section, from slices of it.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/select/lossless_choice.hpp"
#include "core/select/lossless_samples.hpp"
#include "core/select/weighted_log.hpp"
#include "core/stages/lossless/byte_coder.hpp"
#include "core/stages/lossless/byte_planes.hpp"
#include "core/stages/lossless/word_xor.hpp"

namespace neve {

inline constexpr CoderLevels trial_levels{.zstd = 1};
// Of slices, words that tell whether byte methods have a chance.
inline constexpr size_t entropy_slice_words = 17;

// Bytes that xor_zstd would take if each byte were coded alone, by its plane: from the first words of slices.
template <class T>
double plane_entropy_bytes(const LosslessCells<T>& cells, std::span<const WordOf<T>> words) {
  using U = WordOf<T>;
  std::array<std::array<uint32_t, 256>, sizeof(U)> counts{};
  const size_t apart = words.size() / slices;
  const size_t each = std::min(apart, entropy_slice_words);
  if (each < 2) return 0;
  for (size_t s = 0; s < slices; ++s) {
    for (size_t i = s * apart + 1; i < s * apart + each; ++i) {
      const U xored = words[i] ^ words[i - 1];
      for (size_t b = 0; b < sizeof(U); ++b) ++counts[b][static_cast<uint8_t>(xored >> (8 * b))];
    }
  }
  const auto sampled = static_cast<uint32_t>(slices * (each - 1));
  double bits = 0;
  for (const auto& plane : counts) {
    for (const uint32_t count : plane) bits -= weighted_log(count);
    bits += weighted_log(sampled);
  }
  return bits / 8 / sampled * static_cast<double>(cells.held);
}

// Bytes that a method would take for all of the section, from what zstd makes of slices of it.
template <class T>
LosslessCandidate try_zstd(const LosslessCells<T>& cells, std::span<const WordOf<T>> words,
                           LosslessMethod method) {
  using U = WordOf<T>;
  LosslessCandidate candidate;
  candidate.method = method;
  if (words.empty()) return candidate;
  std::vector<U> own(words.begin(), words.end());
  if (method == LosslessMethod::xor_zstd) xor_with_previous(std::span(own));
  const ByteSpan bytes = std::as_bytes(std::span<const U>(own));
  Bytes planes(bytes.size());
  if (method == LosslessMethod::zstd) {
    std::copy(bytes.begin(), bytes.end(), planes.begin());
  } else if (method == LosslessMethod::bitshuffle_zstd) {
    to_bit_planes(bytes, sizeof(U), planes);
  } else {
    to_byte_planes(bytes, sizeof(U), planes);
  }
  Bytes coded;
  ByteWriter out(coded);
  if (!write_coded(ByteCoder::zstd, planes, out, trial_levels).ok()) {
    candidate.bytes = HUGE_VAL;
    return candidate;
  }
  candidate.bytes =
      static_cast<double>(coded.size()) / static_cast<double>(words.size()) * static_cast<double>(cells.held);
  return candidate;
}

}  // namespace neve
