// SPDX-License-Identifier: BSD-3-Clause
// How fast codecs and lossless methods mostly are, in 100 MB/s: encoding at effort balanced on one core of a
// shared server, over the float variables of the climate files and plotfiles in ../shared/data. Methods:
// `neve bench lossless --methods` measures them; codecs: relative bound 1e-4. Good for weighing them against
// each other; measured speeds would make a file depend on what else the machine does.
#pragma once

#include "core/catalog/codecs.hpp"
#include "neve/types.hpp"

namespace neve {

constexpr double typical_speed(LosslessMethod method) {
  switch (method) {
    case LosslessMethod::b_lzo:
      return 2.3;
    case LosslessMethod::bw_lzo:
    case LosslessMethod::bwxor_lzo:
      return 3.1;
    case LosslessMethod::b_zlib:
      return 0.32;
    case LosslessMethod::bw_zlib:
    case LosslessMethod::bwxor_zlib:
      return 0.41;
    case LosslessMethod::b_bzip2:
      return 0.06;
    case LosslessMethod::bw_bzip2:
    case LosslessMethod::bwxor_bzip2:
      return 0.1;
    case LosslessMethod::lz4:
      return 8;
    case LosslessMethod::shuffle_lz4:
      return 8.7;
    case LosslessMethod::bitshuffle_lz4:
      return 5.9;
    case LosslessMethod::zstd:
      return 2.5;
    case LosslessMethod::shuffle_zstd:
      return 3.3;
    case LosslessMethod::xor_zstd:
      return 3.1;
    case LosslessMethod::bitshuffle_zstd:
      return 2.3;
    case LosslessMethod::multiple:
      return 1.6;
    case LosslessMethod::rank:
      return 1.5;
    case LosslessMethod::lorenzo:
      return 3.4;
    case LosslessMethod::automatic:
      break;
  }
  return 0;
}

constexpr double typical_speed(Codec codec) { return traits_of(codec).typical_speed; }

}  // namespace neve
