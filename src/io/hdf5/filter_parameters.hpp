// SPDX-License-Identifier: BSD-3-Clause
// The cd_values of Neve's HDF5 filter: part of the file format, frozen. Needs no HDF5.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "io/hdf5/filter_ids.hpp"
#include "neve/frame.hpp"
#include "neve/status.hpp"
#include "neve/types.hpp"

namespace neve::hdf5 {

// Words of 32 bits, in this order; 64-bit values as two words, the low one first. The user's part first:
//
//   word   what
//   0      layout version, 2; 3 where the words on methods follow; or 1, whose user's part ends behind word 8
//   1      bound mode: 0 lossless, 1 abs, 2 rel (of each chunk's range; needs flag bit 3)
//   2-3    bound value, bits of an f64; 0 when lossless
//   4      codec: 0 auto, 1 dual_quant, 2 exact, 4 to 7 as in a frame
//   5      effort: 0 fast, 1 balanced, 2 max
//   6      flags: bit 0 a fill value is given, bit 1 detect fill values, bit 2 the fill value is an integer,
//          bit 3 chunks are written once, bit 4 the range of the values is given,
//          bit 5 the values have their bound already: chunks that are encoded again keep every bit,
//          bit 6 zeros are what HDF5 fills chunks up with, bit 7 the dataset's values are big-endian
//   7-8    fill value, bits of an f64, or two's complement with bit 2; 0 when none is given
//   9      how many further missing values follow, 0 to max_missing
//   10...  each of them, bits of an f64
//   then   with bit 4 lowest and highest value, bits of f64
//   then   with layout 3 how codec lossless chooses its method: the candidates, a bit for the number of each
//          method, 0: all; the weights of speed and of ratio, bits of f64
//
// Behind it what set_local adds:
//
//   dtype: 0 f32, 1 f64, 2 i8, 3 u8, 4 i16, 5 u16, 6 i32, 7 u32, 8 i64, 9 u64
//   dimensions of a chunk, 1 to 32
//   chunk sizes, two words each, slowest dimension first
//
// set_local also makes the fill value one of the dtype's, adds the dataset's own to the missing values, and
// sets bits 5 to 7. A decoder uses dtype and chunk sizes only; everything else it needs is in the frames.
inline constexpr uint32_t filter_parameters_version = 3;
// What is written where nothing is said of methods, so that an older Neve reads it.
inline constexpr uint32_t filter_layout_without_methods = 2;
inline constexpr size_t min_user_words = 9;
inline constexpr size_t max_missing = 16;
inline constexpr size_t max_chunk_dims = 32;
inline constexpr size_t method_words = 5;
inline constexpr size_t max_words =
    min_user_words + 1 + 2 * max_missing + 4 + method_words + 2 + 2 * max_chunk_dims;

struct FilterParameters {
  Bound bound;
  Codec codec = Codec::automatic;
  Effort effort = Effort::fast;
  std::optional<double> fill;
  std::optional<uint64_t> integer_fill;  // two's complement; not with `fill`
  bool detect_fill = true;
  std::vector<double> missing;  // beside the fill value; at most max_missing. Integers have none
  // The writer writes each chunk once and whole. Else encoding can be repeated (Lattice, neve/frame.hpp).
  bool is_written_once = false;
  std::optional<ValueRange> range;  // of all values to come
  // How codec lossless chooses its method; the weights also how codec auto chooses, as in CodecTuning.
  LosslessMethods candidates;
  double speed_weight = 0, ratio_weight = 1;
  bool has_bound_already = false;  // encoding keeps every bit
  bool has_zero_padding = false;
  bool is_big_endian = false;  // frames are little-endian all the same
  DType dtype = DType::f64;
  std::vector<uint64_t> chunk_shape;  // slowest first; empty before set_local

  uint64_t chunk_elements() const;
  uint64_t chunk_bytes() const;
};

// Errors: usage, where it is no range of values.
Status check_range(const ValueRange& range, std::string_view what);

// What a bound relative to a range comes to in the values' own units: a bound in these, or, of a range
// without width, every bit.
Bound bound_in_range(const Bound& bound, const ValueRange& range);

// Whether what is asked of a new dataset can be kept. Errors: usage, with what to write instead.
Status check_promises(const FilterParameters& parameters);

// What is said of methods.
CodecTuning tuning_of(const FilterParameters& parameters);

// The words on methods, as layout 3 has them; none where nothing is said.
std::vector<uint32_t> words_on_methods(const FilterParameters& parameters);

// How a chunk is encoded.
ArrayOptions array_options(const FilterParameters& parameters);

// Gives the parameters the dataset's type: integers must be lossless, and a fill value becomes one of the
// type's. Errors: usage.
Status set_dtype(DType dtype, FilterParameters& parameters);

// All words; only the user's while chunk_shape is empty.
std::vector<uint32_t> to_words(const FilterParameters& parameters);

// What a user's words say, and how many they are. None, or one that is 0: lossless. More follow where HDF5
// calls set_local again, on a dataset whose properties are those of another.
struct UserParameters {
  FilterParameters parameters;
  size_t words = 0;
};

// Errors: usage, naming the word, the value found and what is allowed.
Result<UserParameters> parse_user_words(std::span<const uint32_t> words);
// Of a dataset. What layout 1 has written has its bound already.
Result<FilterParameters> parse_words(std::span<const uint32_t> words);

}  // namespace neve::hdf5
