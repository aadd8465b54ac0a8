// SPDX-License-Identifier: BSD-3-Clause
// The codebooks that encoder and decoder both know, and a hardware engine holds in its memories. A set is
// never changed: streams name its version.
#include <array>
#include <vector>

#include "core/stream/codebook.hpp"
#include "neve/stream.hpp"

namespace neve::stream {

namespace {

struct LengthRun {
  uint8_t length;
  uint16_t symbols;
};

const std::array<std::vector<LengthRun>, offline_codebook_count>& tables() {
  static const std::array<std::vector<LengthRun>, offline_codebook_count> all{{
#include "core/stream/offline_codebooks.inc"
  }};
  return all;
}

}  // namespace

std::span<const Codebook> offline_codebooks() {
  static const std::vector<Codebook> codebooks = [] {
    std::vector<Codebook> made;
    for (const std::vector<LengthRun>& table : tables()) {
      Codebook& codebook = made.emplace_back();
      size_t symbol = 0;
      for (const LengthRun& run : table) {
        for (size_t end = symbol + run.symbols; symbol < end; ++symbol) codebook.length[symbol] = run.length;
      }
    }
    return made;
  }();
  return codebooks;
}

}  // namespace neve::stream
