// SPDX-License-Identifier: BSD-3-Clause
// Hints: keys and values, kept as they were given. Nothing here takes one.
#pragma once

#include <map>
#include <string>

#include "alone/mpi.h"

namespace neve::alone {

struct Info {
  std::map<std::string, std::string> values;
};

}  // namespace neve::alone
