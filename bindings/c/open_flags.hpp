// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "neve/open_options.hpp"
#include "neve/plotfile_reader.h"
#include "neve/status.hpp"

namespace neve::capi {

// What a C caller opens a file with.
inline Result<OpenOptions> read_open_flags(const char* path, int flags) {
  if (path == nullptr) return usage_error("path is NULL");
  if (flags != 0 && flags != NEVE_FOLLOW_EXTERNAL) {
    return usage_error("flags is " + std::to_string(flags) + "; 0 and NEVE_FOLLOW_EXTERNAL (" +
                       std::to_string(NEVE_FOLLOW_EXTERNAL) + ") are allowed");
  }
  OpenOptions options;
  options.follow_external = flags == NEVE_FOLLOW_EXTERNAL;
  return options;
}

}  // namespace neve::capi
