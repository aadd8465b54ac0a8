// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "neve/types.hpp"

namespace neve::capi {

// As bounds are written. Lives as long as the program.
inline const char* mode_name(BoundMode mode) {
  switch (mode) {
    case BoundMode::abs:
      return "abs";
    case BoundMode::rel:
      return "rel";
    case BoundMode::ratio:
      return "ratio";
    case BoundMode::psnr:
      return "psnr";
    case BoundMode::lossless:
      break;
  }
  return "lossless";
}

}  // namespace neve::capi
