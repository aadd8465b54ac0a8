// SPDX-License-Identifier: BSD-3-Clause
// Every method of codec lossless, a row each: its name, and how fast it mostly is.
//
// Speeds of methods and codecs are in 100 MB/s: encoding at effort balanced on one core of a shared server,
// over the float variables of the climate files and plotfiles in ../shared/data. Methods:
// `neve bench lossless --methods` measures them; codecs: relative bound 1e-4. Good for weighing them against
// each other; measured speeds would make a file depend on what else the machine does.
#pragma once

#include <string_view>
#include <type_traits>

#include "neve/types.hpp"

namespace neve {

struct LosslessMethodTraits {
  LosslessMethod method;
  std::string_view name;
  double typical_speed;
};

// In order of their numbers. LosslessMethod::automatic, which stands for the choice among them, comes first.
inline constexpr LosslessMethodTraits lossless_method_rows[] = {
    {LosslessMethod::automatic, "auto", 0},
    {LosslessMethod::b_lzo, "B-LZO", 2.3},
    {LosslessMethod::b_zlib, "B-zlib", 0.32},
    {LosslessMethod::b_bzip2, "B-bzip2", 0.06},
    {LosslessMethod::bw_lzo, "BW-LZO", 3.1},
    {LosslessMethod::bw_zlib, "BW-zlib", 0.41},
    {LosslessMethod::bw_bzip2, "BW-bzip2", 0.1},
    {LosslessMethod::bwxor_lzo, "BWXOR-LZO", 3.1},
    {LosslessMethod::bwxor_zlib, "BWXOR-zlib", 0.41},
    {LosslessMethod::bwxor_bzip2, "BWXOR-bzip2", 0.1},
    {LosslessMethod::zstd, "zstd", 2.5},
    {LosslessMethod::lz4, "lz4", 8},
    {LosslessMethod::shuffle_zstd, "shuffle-zstd", 3.3},
    {LosslessMethod::shuffle_lz4, "shuffle-lz4", 8.7},
    {LosslessMethod::bitshuffle_zstd, "bitshuffle-zstd", 2.3},
    {LosslessMethod::bitshuffle_lz4, "bitshuffle-lz4", 5.9},
    {LosslessMethod::xor_zstd, "xor-zstd", 3.1},
    {LosslessMethod::lorenzo, "lorenzo", 3.4},
    {LosslessMethod::multiple, "multiple", 1.6},
    {LosslessMethod::rank, "rank", 1.5},
};
static_assert(std::extent_v<decltype(lossless_method_rows)> == lossless_methods,
              "include/neve/types.hpp says how many numbers there are");

// Of numbers that are no member of the enumeration: a method "unknown" without a speed.
constexpr LosslessMethodTraits traits_of(LosslessMethod method) {
  const auto number = static_cast<int>(method);
  return number < lossless_methods ? lossless_method_rows[number]
                                   : LosslessMethodTraits{method, "unknown", 0};
}

// Sets of methods that have names.
inline constexpr std::string_view all_methods_name = "all", acomps_name = "acomps";
inline constexpr LosslessMethods acomps_methods{0b11'1111'1110};  // B, BW and BWXOR, each with three coders

}  // namespace neve
