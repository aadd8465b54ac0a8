// SPDX-License-Identifier: BSD-3-Clause
#include "neve/series.hpp"

namespace neve {

std::string_view selection_name(const Selection& selection) {
  if (selection.codec == Codec::automatic) return "";
  if (selection.codec != Codec::lossless || selection.method == LosslessMethod::automatic)
    return codec_name(selection.codec);
  return lossless_method_name(selection.method);
}

}  // namespace neve
