// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <fmt/format.h>

#include "neve/status.hpp"

namespace neve::apps {

// Of an option of a case: "steps is 0; 1 to 1000000 is allowed".
inline Status check_range(const char* what, double value, double least, double most) {
  if (value >= least && value <= most) return {};
  return usage_error(fmt::format("{} is {}; {} to {} is allowed", what, value, least, most));
}

}  // namespace neve::apps
