// SPDX-License-Identifier: BSD-3-Clause
// Arrays under a ratio or a PSNR: bounds are tried until one gets there.
#pragma once

#include "neve/frame.hpp"

namespace neve {

// One array as one frame. `spec` has everything but the bound.
struct ArraySource {
  DType dtype;
  const FrameLayout& layout;  // with one box
  const BoxData& data;
  const ComponentSpec& spec;
  const EncodeOptions& options;
};

// spec.asked is a ratio or a PSNR. Errors: those of encode_frame.
Result<std::vector<std::byte>> encode_for_target(const ArraySource& source, FrameReport* report);

}  // namespace neve
