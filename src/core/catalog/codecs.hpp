// SPDX-License-Identifier: BSD-3-Clause
// Every codec, a row each: what anybody needs to know of it without calling it. A codec NAME has draft_NAME
// and decode_NAME (codecs/section_codec.hpp), which the same rows find.
#pragma once

#include <string_view>
#include <type_traits>

#include "neve/types.hpp"

namespace neve {

// Of each codec in order of its number:
// - may it be asked for by name? Codec constant is only found;
// - does it keep every bit? The others quantize, and hold no integers;
// - does a decoded value depend on its original and the component's spec alone, not on its neighbours?
// - can it predict from what the next coarser level holds around a box?
// - how fast it mostly is, in 100 MB/s (lossless_methods.hpp says of what); lossless has a speed a method.
//             name, is asked for, keeps bits, decodes alone, can nest, typical speed
#define NEVE_CODECS(ROW)                                  \
  ROW(dual_quant, true, false, true, false, 3.2)          \
  ROW(exact, true, true, true, false, 1.7)                \
  ROW(constant, false, true, true, false, 10)             \
  ROW(lorenzo_regression, true, false, false, false, 1.8) \
  ROW(interpolation, true, false, false, true, 1.1)       \
  ROW(context, true, false, false, true, 0.7)             \
  ROW(lossless, true, true, true, false, 0)               \
  ROW(axis_passes, true, false, false, false, 3.0)

struct CodecTraits {
  Codec codec;
  std::string_view name;
  bool is_asked_for;
  bool keeps_bits;
  bool decodes_alone;
  bool can_nest;
  double typical_speed;
};

// Codec::automatic, which stands for the choice among them, is in the first row.
inline constexpr CodecTraits codec_rows[] = {{Codec::automatic, "auto", true, false, false, false, 0},
#define NEVE_CODEC_ROW(name, ...) {Codec::name, #name, __VA_ARGS__},
                                             NEVE_CODECS(NEVE_CODEC_ROW)
#undef NEVE_CODEC_ROW
};
inline constexpr int codec_count = static_cast<int>(std::extent_v<decltype(codec_rows)>);
static_assert(codec_count == codecs, "include/neve/types.hpp says how many numbers there are");

constexpr bool is_codec(Codec codec) { return static_cast<int>(codec) < codec_count; }
// Of numbers that are no member of the enumeration: nothing that a codec can.
constexpr CodecTraits traits_of(Codec codec) {
  return is_codec(codec) ? codec_rows[static_cast<int>(codec)]
                         : CodecTraits{codec, "unknown", false, false, false, false, 0};
}

// Whether asking for this codec at this effort may bring one that predicts from the next coarser level.
constexpr bool may_nest(Codec asked, Effort effort) {
  return traits_of(asked).can_nest || (asked == Codec::automatic && effort != Effort::fast);
}

}  // namespace neve
