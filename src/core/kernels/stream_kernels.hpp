// SPDX-License-Identifier: BSD-3-Clause
// The hot loops of coding, of which kernels.hpp has a table for each instruction set: rows of a stream all
// the way from values to symbols and back, symbols to codes, checksums. All give the same bytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/kernels/kernels.hpp"

namespace neve {

// Where codes go, least significant bit first. Up to 8 bytes behind `at` may be written.
struct BitSink {
  uint64_t bits = 0;
  unsigned held = 0;  // below 8 between calls
  std::byte* at = nullptr;
};

// Codes of the 64 symbols from `first` on that have at most 12 bits: what fits into registers as look-ups.
struct NarrowCodes {
  static constexpr size_t symbols = 64;
  static constexpr unsigned max_bits = 12;

  uint16_t first = 0;
  // Whether most symbols are among them, so that it pays to try.
  bool is_worthwhile = false;
  alignas(16) std::array<uint8_t, symbols> low{};
  // Bits 8 to 11 of the code above its length; 0 without a code.
  alignas(16) std::array<uint8_t, symbols> high_and_length{};
};

// Look-ups that take prefix codes of at most 16 bits apart, least significant bit first.
struct CodeLookups {
  static constexpr unsigned bits = 11;  // 16 KiB of look-ups, half of a first-level cache
  static constexpr size_t entries = size_t{1} << bits;
  // By the next `bits` bits: up to three symbols of 16 bits, then (from several_shift on) in a byte each the
  // bits they take and how many they are. Where the first code is longer they are 0, and the entry is where
  // in `longer` its look-ups begin.
  static constexpr unsigned several_shift = 48;
  const uint64_t* several;
  // By the bits behind those: symbol, and above it the bits it takes; 0: no code begins like this.
  static constexpr size_t longer_entries = size_t{1} << (16 - bits);
  const uint32_t* longer;
};

// A bit stream on its way into symbols (kernels/code_lanes.hpp).
struct CodeLane {
  const std::byte* at;
  uint64_t bits;
  uint16_t* out;
};

// Codebooks whose costs are compared at once.
inline constexpr size_t compared_codebooks = 16;

template <class T>
struct StreamRowKernels {
  // quantize, predict along x and pack_wide at once; center and origin are 0. quant_codes[-1] counts
  // as the quantization code before. Where stats counts a rejected value only `quant_codes` means
  // anything. Returns whether there are escapes.
  bool (*code)(const T* values, size_t, const Quantizer<T>&, const NeighbourRows&, int32_t* quant_codes,
               uint16_t* symbols, QuantizeStats<T>&);
  // unpack_wide, unpredict and dequantize at once. Returns whether there are escapes; then quantization codes
  // and values mean nothing. Writes no padding behind `values`.
  bool (*restore)(const uint16_t* symbols, size_t, const NeighbourRows&, T step, int32_t* quant_codes,
                  T* values);
};

struct StreamKernels {
  StreamRowKernels<float> rows_f32;
  StreamRowKernels<double> rows_f64;
  // Puts groups of symbols while all of a group have narrow codes. Returns how many symbols it took.
  size_t (*put_narrow_u8)(const uint8_t* symbols, size_t, const NarrowCodes&, BitSink&);
  size_t (*put_narrow_u16)(const uint16_t* symbols, size_t, const NarrowCodes&, BitSink&);
  // So many turns of four lanes side by side, each of which may take and give what code_lanes.hpp says.
  // Returns false where no code fits.
  bool (*decode_four)(CodeLane* lanes, ptrdiff_t turns, const CodeLookups&);
  // costs[b] += counts[s] * lengths[s][b] over all symbols; the sums stay below 2^32.
  void (*add_costs)(const uint32_t* counts, const uint8_t (*lengths)[compared_codebooks], size_t symbols,
                    uint32_t* costs);
  // CRC-32 (ISO 3309) of more bytes, continued as zlib does.
  uint32_t (*crc32)(uint32_t before, const std::byte*, size_t);
};

const StreamKernels& portable_stream_kernels();

// The portable ones, by the steps of `k` one after the other.
template <class T>
bool code_row_by_steps(const Kernels& k, const T* values, size_t n, const Quantizer<T>& q,
                       const NeighbourRows& around, int32_t* quant_codes, uint16_t* symbols,
                       QuantizeStats<T>& stats);
template <class T>
bool restore_row_by_steps(const Kernels& k, const uint16_t* symbols, size_t n, const NeighbourRows& around,
                          T step, int32_t* quant_codes, T* values);

template <class T>
const StreamRowKernels<T>& stream_row_kernels() {
  if constexpr (sizeof(T) == 4) {
    return kernels().stream->rows_f32;
  } else {
    return kernels().stream->rows_f64;
  }
}

}  // namespace neve
