// SPDX-License-Identifier: BSD-3-Clause
// Element types, error bounds and codecs, shared by all parts of Neve.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "neve/members.hpp"
#include "neve/status.hpp"

#pragma GCC visibility push(default)
namespace neve {

// Values are those of the frame format; never renumber.
enum class DType : uint8_t {
  f32 = 0,
  f64 = 1,
  // Integers are always kept bit for bit; hierarchies have none.
  i8 = 2,
  u8 = 3,
  i16 = 4,
  u16 = 5,
  i32 = 6,
  u32 = 7,
  i64 = 8,
  u64 = 9,
};
inline constexpr int dtypes = 10;

// Every function that returns a Status or a Result refuses numbers that are not in an enumeration. For such
// numbers the names here and below are "unknown", and a value has 0 bytes.
size_t dtype_bytes(DType t);
std::string_view dtype_name(DType t);  // "f32", "f64", "i8", ...
inline bool is_integer(DType t) { return t >= DType::i8; }
inline bool is_signed(DType t) {
  return t != DType::u8 && t != DType::u16 && t != DType::u32 && t != DType::u64;
}
// Whether an integer type has the value; `value` is two's complement of 64 bits.
bool holds_integer(DType t, uint64_t value);
std::string integer_text(DType t, uint64_t value);  // its decimal digits

// `rel` is relative to the value range (max - min over finite, non-fill values) of the whole field:
// over all ranks and boxes of a level for a hierarchy, over the whole array for an array.
// `ratio` asks for bytes before / bytes after, `psnr` for 20 log10(value range / root mean square error) in
// dB. Neve searches the error bound that gives it, so they are available for whole arrays and streams, not
// for fields of files. Values are those of the frame format and the HDF5 filter parameters; never renumber.
enum class BoundMode : uint8_t { lossless = 0, abs = 1, rel = 2, ratio = 3, psnr = 4 };

struct Bound {
  BoundMode mode = BoundMode::rel;
  double value = 1e-3;  // ignored when lossless
  // Of a ratio that nothing reaches: the most there is, instead of an error. Not in a bound's text.
  bool best_effort = false;

  bool operator==(const Bound& other) const {
    return mode == other.mode && value == other.value && best_effort == other.best_effort;
  }
  bool operator!=(const Bound& other) const { return !(*this == other); }
};

enum class BoundUse : uint8_t {
  field,  // abs, rel, lossless
  array,  // ratio and psnr as well; of streams, too, which refuse lossless
};
// "rel=1e-3", "abs=0.5", "lossless"; for arrays also "ratio=10", "psnr=60". Anything else, a value that is
// not finite and > 0 (of a ratio: > 1), or an unknown mode is a usage error that lists what is allowed.
Result<Bound> parse_bound(std::string_view text, BoundUse use = BoundUse::field);
Status check_bound(const Bound& bound, BoundUse use = BoundUse::field);
bool is_known_bound_mode(unsigned number);
std::string to_string(const Bound& bound);  // parse_bound's inverse, shortest exact digits

// The codec of one section. Values are those of the frame format; never renumber.
enum class Codec : uint8_t {
  automatic = 0,           // can be asked for, is never stored
  dual_quant = 1,          // prequantize, Lorenzo on integers, Huffman
  exact = 2,               // every bit kept
  constant = 3,            // one value repeated
  lorenzo_regression = 4,  // Lorenzo or linear regression per block, linear-scaling quantization, Huffman
  interpolation = 5,       // spline interpolation from coarse to fine, Huffman
  context = 6,             // the same interpolation, entropy coded by neighbourhood context
  lossless = 7,            // every bit kept, by the method that suits the values
  axis_passes = 8,         // interpolation from coarse to fine, one pass an axis, Huffman and runs of zeros
};
inline constexpr int codecs = 9;           // automatic among them
std::string_view codec_name(Codec codec);  // "auto", "dual_quant", ...
// Whether the codec may be used for integers; the others quantize.
bool keeps_integers(Codec codec);
Result<Codec> parse_codec(std::string_view name);  // what a user may ask for: all but constant

// How codec lossless encodes values bit for bit. Values are those of the frame format; never renumber.
enum class LosslessMethod : uint8_t {
  automatic = 0,  // only asked for, never stored
  // ACOMPS: byte segregation (B), byte-wise (BW), byte-wise with XOR (BWXOR), each with three compressors.
  b_lzo = 1,
  b_zlib = 2,
  b_bzip2 = 3,
  bw_lzo = 4,
  bw_zlib = 5,
  bw_bzip2 = 6,
  bwxor_lzo = 7,
  bwxor_zlib = 8,
  bwxor_bzip2 = 9,
  zstd = 10,             // values as they are, for exact repeats
  lz4 = 11,              // the same
  shuffle_zstd = 12,     // bytes of equal significance together
  shuffle_lz4 = 13,      // the same
  bitshuffle_zstd = 14,  // bits of equal significance together
  bitshuffle_lz4 = 15,   // the same
  xor_zstd = 16,         // each value XOR the one before, then as shuffle_zstd
  lorenzo = 17,          // differences along the axes that pay, of values as ordered integers
  multiple = 18,         // the same for values as multiples of one unit (decimals, fixed point)
  rank = 19,             // the same for values as ranks among the few different ones
};
inline constexpr int lossless_methods = 20;                           // automatic among them
std::string_view lossless_method_name(LosslessMethod method);         // "auto", "B-LZO", "shuffle-zstd", ...
Result<LosslessMethod> parse_lossless_method(std::string_view name);  // capitals do not matter

// Some of these methods, to choose from.
struct LosslessMethods {
  uint32_t bits = 0;  // 1 << number of each; none: all

  bool is_all() const { return bits == 0; }
  bool has(LosslessMethod method) const {
    return is_all() || (bits >> static_cast<unsigned>(method) & 1) != 0;
  }
  bool operator==(const LosslessMethods& other) const { return bits == other.bits; }
  bool operator!=(const LosslessMethods& other) const { return bits != other.bits; }
};
// "all", "acomps" (the nine of ACOMPS), or names of methods with + or a comma between them.
Result<LosslessMethods> parse_lossless_methods(std::string_view names);
std::string lossless_methods_text(LosslessMethods methods);  // what parse_lossless_methods takes

// How the boxes of a chunk are placed for prediction. Values are those of the frame format; never
// renumber.
enum class Arrangement : uint8_t {
  linear = 0,    // each box, or each unit block of it, on its own
  cluster = 1,   // unit blocks stacked into a compact cube (AMRIC)
  in_place = 2,  // boxes where they lie in space; holes and left-out cells cost nothing
  nested = 3,    // in place, with values of the next coarser level around them; only chosen, never asked for
  automatic = 255,  // only asked for, never stored
};
std::string_view arrangement_name(Arrangement arrangement);  // "auto", "linear", ...
Result<Arrangement> parse_arrangement(std::string_view name);
std::string arrangement_text(Arrangement arrangement, int unit_cells);  // "in_place", "cluster 16", ...

// Choices that are made automatically unless they are forced; forcing them allows to measure each.
struct CodecTuning {
  Arrangement arrangement = Arrangement::automatic;
  int unit_cells = 0;        // side of the unit blocks of linear and cluster: 8, 16, 32, 64; 0: chosen
  int block_cells = 0;       // side of lorenzo_regression's prediction blocks: 4, 6; 0: AMRIC's equation 1
  bool merge_units = false;  // lorenzo_regression and interpolation predict across units stacked in a line
  LosslessMethod method = LosslessMethod::automatic;  // of codec lossless
  LosslessMethods candidates;                         // of codec lossless, where the method is chosen
  // Codec lossless scores its methods by speed (in 100 MB/s, as typical of a method) times speed_weight plus
  // ratio times ratio_weight; the highest score wins (ACOMPS). Not negative, not both 0.
  double speed_weight = 0;
  double ratio_weight = 1;

  auto fields() const { return all_members<8>(*this); }
  bool operator==(const CodecTuning& other) const { return fields() == other.fields(); }
  bool operator!=(const CodecTuning& other) const { return !(*this == other); }
};
Status check_tuning(const CodecTuning& tuning);

// Threads that a call may be given.
inline constexpr int max_threads = 1024;
Status check_threads(int64_t threads);  // usage error unless 1 to max_threads

enum class Effort : uint8_t { fast = 0, balanced = 1, max = 2 };
Result<Effort> parse_effort(std::string_view name);
std::string_view effort_name(Effort effort);

}  // namespace neve
#pragma GCC visibility pop
