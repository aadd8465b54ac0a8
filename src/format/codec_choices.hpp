// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace neve {

// "auto, dual_quant, ...": the codecs that parse_codec takes, for messages and help.
std::string codec_choices();

}  // namespace neve
