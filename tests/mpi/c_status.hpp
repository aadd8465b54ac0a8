// SPDX-License-Identifier: BSD-3-Clause
// What a function of C returned, as a Status.
#pragma once

#include "neve/neve.h"
#include "neve/status.hpp"

namespace neve::test {

inline Status status_of(int code) {
  return code == NEVE_OK ? Status() : Status(static_cast<Code>(code), neve_last_error());
}

}  // namespace neve::test
