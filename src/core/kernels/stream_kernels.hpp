// SPDX-License-Identifier: BSD-3-Clause
// The hot loops of coding, of which kernels.hpp has a table for each instruction set: symbols to codes and
// back, what codebooks cost, checksums. All give the same bytes.
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

// Look-ups that take prefix codes of at most 12 bits apart: by as many of the next bits as the longest code
// has up to three symbols of 8 bits, then, from bits_shift on, the bits they take, and from count_shift of
// those on how many they are. Never none.
struct SymbolLookups {
  static constexpr unsigned bits = 12;  // at most
  static constexpr unsigned bits_shift = 24, count_shift = 6;
};

// A bit stream on its way into such symbols, with the look-ups of its codebook.
struct SymbolLane {
  const std::byte* at;
  uint64_t bits;
  uint8_t* out;
  const uint32_t* lookups;
};

// Neighbouring symbols that count_near counts side by side.
inline constexpr size_t near_symbols = 16;

// Codebooks whose costs are compared at once.
inline constexpr size_t compared_codebooks = 16;

struct StreamKernels {
  // Puts groups of symbols while all of a group have narrow codes. Returns how many symbols it took.
  size_t (*put_narrow_u8)(const uint8_t* symbols, size_t, const NarrowCodes&, BitSink&);
  size_t (*put_narrow_u16)(const uint16_t* symbols, size_t, const NarrowCodes&, BitSink&);
  // So many turns of four lanes side by side, each of which may take and give what code_lanes.hpp says.
  // Returns false where no code fits.
  bool (*decode_four)(CodeLane* lanes, ptrdiff_t turns, const CodeLookups&);
  // The same for symbols of 8 bits. `mask` takes the bits that are looked up.
  void (*decode_symbols)(SymbolLane* lanes, ptrdiff_t turns, uint64_t mask);
  // costs[b] += counts[s] * lengths[s][b] over all symbols; the sums stay below 2^32.
  void (*add_costs)(const uint32_t* counts, const uint8_t (*lengths)[compared_codebooks], size_t symbols,
                    uint32_t* costs);
  // counts[s] += how often s occurs, of n symbols, 2^15 at most; fast where most of them lie in the 16 from
  // `first` on. Returns how many do not.
  size_t (*count_near)(const uint8_t* symbols, size_t n, uint8_t first, uint16_t* counts);
  // Sum of counts[s] * weights[s]; both are below 2^15, and the sum below 2^31.
  uint32_t (*weighted_sum)(const uint16_t* counts, const uint16_t* weights, size_t);
  // CRC-32 (ISO 3309) of more bytes, continued as zlib does.
  uint32_t (*crc32)(uint32_t before, const std::byte*, size_t);
};

const StreamKernels& portable_stream_kernels();

}  // namespace neve
