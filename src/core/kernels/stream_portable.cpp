// SPDX-License-Identifier: BSD-3-Clause
// The reference of stream_simd.cpp in plain C++.
#include <zlib.h>

#include <algorithm>

#include "core/kernels/code_lanes.hpp"
#include "core/kernels/portable.hpp"
#include "core/kernels/stream_kernels.hpp"

namespace neve {

namespace {

// Symbol by symbol is what the caller does anyway.
template <class Symbol>
size_t put_nothing(const Symbol*, size_t, const NarrowCodes&, BitSink&) {
  return 0;
}

bool decode_four(CodeLane* lanes, ptrdiff_t turns, const CodeLookups& table) {
  return code_lanes::run_four(lanes, turns, table);
}

void decode_symbols(SymbolLane* lanes, ptrdiff_t turns, uint64_t mask) {
  code_lanes::run_four(lanes, turns, mask);
}

void add_costs(const uint32_t* counts, const uint8_t (*lengths)[compared_codebooks], size_t symbols,
               uint32_t* costs) {
  for (size_t s = 0; s < symbols; ++s) {
    if (counts[s] == 0) continue;
    for (size_t b = 0; b < compared_codebooks; ++b) costs[b] += counts[s] * lengths[s][b];
  }
}

size_t count_near(const uint8_t* symbols, size_t n, uint8_t first, uint16_t* counts) {
  size_t outside = 0;
  for (size_t i = 0; i < n; ++i) {
    ++counts[symbols[i]];
    outside += static_cast<uint8_t>(symbols[i] - first) >= near_symbols ? 1 : 0;
  }
  return outside;
}

uint32_t weighted_sum(const uint16_t* counts, const uint16_t* weights, size_t n) {
  uint32_t sum = 0;
  for (size_t s = 0; s < n; ++s) sum += uint32_t{counts[s]} * weights[s];
  return sum;
}

uint32_t crc32_of_zlib(uint32_t before, const std::byte* bytes, size_t n) {
  return static_cast<uint32_t>(crc32_z(before, reinterpret_cast<const unsigned char*>(bytes), n));
}

}  // namespace

const StreamKernels& portable_stream_kernels() {
  static const StreamKernels table{.put_narrow_u8 = put_nothing<uint8_t>,
                                   .put_narrow_u16 = put_nothing<uint16_t>,
                                   .decode_four = decode_four,
                                   .decode_symbols = decode_symbols,
                                   .add_costs = add_costs,
                                   .count_near = count_near,
                                   .weighted_sum = weighted_sum,
                                   .crc32 = crc32_of_zlib};
  return table;
}

}  // namespace neve
