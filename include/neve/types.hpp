// SPDX-License-Identifier: BSD-3-Clause
// Element types, error bounds and codecs: the vocabulary every room shares.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "neve/status.hpp"

namespace neve {

// Values are those of the frame format; never renumber.
enum class DType : uint8_t { f32 = 0, f64 = 1 };

inline size_t dtype_bytes(DType t) { return t == DType::f32 ? 4 : 8; }
std::string_view dtype_name(DType t);  // "f32", "f64"

// `rel` is relative to the value range (max - min over finite, non-fill values) of the whole field:
// over all ranks and boxes of a level for a hierarchy, over the whole array for an array.
// Values are those of the HDF5 filter parameters; never renumber.
enum class BoundMode : uint8_t { lossless = 0, abs = 1, rel = 2 };

struct Bound {
  BoundMode mode = BoundMode::rel;
  double value = 1e-3;  // ignored when lossless

  bool operator==(const Bound&) const = default;
};

// "rel=1e-3", "abs=0.5", "lossless". Anything else, a value that is not finite and > 0, or an
// unknown mode is a usage error that lists what is allowed.
Result<Bound> parse_bound(std::string_view text);
Status check_bound(const Bound& bound);
std::string to_string(const Bound& bound);  // parse_bound's inverse, shortest exact digits

// The codec of one section. Values are those of the frame format; never renumber.
enum class Codec : uint8_t {
  automatic = 0,           // only asked for, never stored
  dual_quant = 1,          // prequantize, Lorenzo on integers, Huffman
  exact = 2,               // every bit kept
  constant = 3,            // one value repeated
  lorenzo_regression = 4,  // Lorenzo or linear regression per block, linear-scaling quantization, Huffman
  interpolation = 5,       // spline interpolation from coarse to fine, Huffman
  context = 6,             // the same interpolation, entropy coded by neighbourhood context
};
std::string_view codec_name(Codec codec);          // "auto", "dual_quant", ...
Result<Codec> parse_codec(std::string_view name);  // what a user may ask for: auto, dual_quant, exact

// How the boxes of a chunk lie while they are predicted. Values are those of the frame format; never
// renumber.
enum class Arrangement : uint8_t {
  linear = 0,    // each box, or each unit block of it, on its own
  cluster = 1,   // unit blocks stacked into a compact cube (AMRIC)
  in_place = 2,  // boxes where they lie in space; holes and left-out cells cost nothing
  nested = 3,    // in place, with what the next coarser level holds around them; only chosen, never asked for
  automatic = 255,  // only asked for, never stored
};
std::string_view arrangement_name(Arrangement arrangement);  // "auto", "linear", ...
Result<Arrangement> parse_arrangement(std::string_view name);
std::string arrangement_text(Arrangement arrangement, int unit_cells);  // "in_place", "cluster 16", ...

// Choices that are made for the user unless forced, so that each can be measured.
struct CodecTuning {
  Arrangement arrangement = Arrangement::automatic;
  int unit_cells = 0;        // side of the unit blocks of linear and cluster: 8, 16, 32; 0: chosen
  int block_cells = 0;       // side of lorenzo_regression's prediction blocks: 4, 6; 0: AMRIC's equation 1
  bool merge_units = false;  // lorenzo_regression predicts across unit blocks stacked in a line (AMRIC's LM)

  bool operator==(const CodecTuning&) const = default;
};
Status check_tuning(const CodecTuning& tuning);

enum class Effort : uint8_t { fast = 0, balanced = 1, max = 2 };
Result<Effort> parse_effort(std::string_view name);
std::string_view effort_name(Effort effort);

}  // namespace neve
