// SPDX-License-Identifier: BSD-3-Clause
// The cd_values of Neve's HDF5 filter: part of the file format, frozen. Needs no HDF5.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "neve/status.hpp"
#include "neve/types.hpp"

namespace neve::hdf5 {

// HDF5 keeps 256..511 for filters that are not registered with The HDF Group. 305 and 307 in there are
// known squatters (PyTables' LZO and bzip2); this number is used by nobody we know.
inline constexpr int neve_filter_id = 466;

// Words of 32 bits, in this order; 64-bit values as two words, the low one first.
//
//   word   what                                                            who writes it
//   0      layout version, 1                                               user
//   1      bound mode: 0 lossless, 1 abs, 2 rel (of each chunk's range)    user
//   2-3    bound value, bits of an f64; 0 when lossless                    user
//   4      codec: 0 automatic, 1 dual_quant, 2 exact                       user
//   5      effort: 0 fast, 1 balanced, 2 max                               user
//   6      flags: bit 0 a fill value is given, bit 1 detect fill values,   user
//          bit 2 the fill value is an integer
//   7-8    fill value, bits of an f64, or two's complement with bit 2; 0   user
//          when none is given. set_local makes it what the dtype has
//   9      dtype: 0 f32, 1 f64, 2 i8, 3 u8, 4 i16, 5 u16, 6 i32, 7 u32,    set_local
//          8 i64, 9 u64
//   10     dimensions of a chunk, 1..32                                    set_local
//   11...  chunk sizes, two words each, slowest dimension first            set_local
//
// A decoder uses words 0, 9, 10 and the chunk sizes only; everything else it needs is in the frames.
inline constexpr uint32_t filter_parameters_version = 1;
inline constexpr size_t user_words = 9;
inline constexpr size_t most_chunk_dims = 32;
inline constexpr size_t most_words = user_words + 2 + 2 * most_chunk_dims;

struct FilterParameters {
  Bound bound;
  Codec codec = Codec::automatic;
  Effort effort = Effort::fast;
  std::optional<double> fill;
  std::optional<uint64_t> integer_fill;  // two's complement; not with `fill`
  bool detect_fill = true;
  DType dtype = DType::f64;
  std::vector<uint64_t> chunk_shape;  // slowest first; empty before set_local

  uint64_t chunk_elements() const;
};

// Gives the parameters the dataset's type: integers must be lossless, and a fill value becomes one of the
// type's. Errors: usage.
Status set_dtype(DType dtype, FilterParameters& parameters);

// All words; only the user's while chunk_shape is empty.
std::vector<uint32_t> to_words(const FilterParameters& parameters);

// Errors: usage, naming the word, the value found and what is allowed. parse_user_words ignores what follows
// the user's words: HDF5 calls set_local again on a dataset that is copied.
Result<FilterParameters> parse_user_words(std::span<const uint32_t> words);
Result<FilterParameters> parse_words(std::span<const uint32_t> words);

}  // namespace neve::hdf5
