// SPDX-License-Identifier: BSD-3-Clause
// How fast codecs and lossless methods mostly are, in 100 MB/s: encoding at effort balanced on one core of a
// shared server, over the float variables of ../shared/data. Good for weighing them against each other;
// measured speeds would make a file depend on what else the machine does.
#pragma once

#include "neve/types.hpp"

namespace neve {

constexpr double typical_speed(LosslessMethod method) {
  switch (method) {
    case LosslessMethod::b_lzo:
      return 1.5;
    case LosslessMethod::bw_lzo:
    case LosslessMethod::bwxor_lzo:
      return 1.9;
    case LosslessMethod::b_zlib:
    case LosslessMethod::bw_zlib:
    case LosslessMethod::bwxor_zlib:
      return 0.37;
    case LosslessMethod::b_bzip2:
    case LosslessMethod::bw_bzip2:
    case LosslessMethod::bwxor_bzip2:
      return 0.14;
    case LosslessMethod::lz4:
    case LosslessMethod::shuffle_lz4:
      return 3.4;
    case LosslessMethod::bitshuffle_lz4:
      return 2.5;
    case LosslessMethod::zstd:
    case LosslessMethod::shuffle_zstd:
    case LosslessMethod::xor_zstd:
      return 2.1;
    case LosslessMethod::bitshuffle_zstd:
    case LosslessMethod::multiple:
    case LosslessMethod::rank:
      return 1.5;
    case LosslessMethod::lorenzo:
      return 2.6;
    case LosslessMethod::automatic:
      break;
  }
  return 0;
}

constexpr double typical_speed(Codec codec) {
  switch (codec) {
    case Codec::constant:
    case Codec::exact:
      return 10;
    case Codec::dual_quant:
      return 3;
    case Codec::interpolation:
      return 1;
    case Codec::lorenzo_regression:
      return 0.8;
    case Codec::context:
      return 0.4;
    case Codec::lossless:
    case Codec::automatic:
      break;
  }
  return 0;
}

}  // namespace neve
