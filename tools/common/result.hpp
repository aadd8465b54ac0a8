// SPDX-License-Identifier: BSD-3-Clause
// What a parallel command found, on stdout of the first rank.
#pragma once

#include <iostream>

#include "tools/common/ranks.hpp"

namespace neve::cli {

// Only the one that is wanted is made: `json` returns an nlohmann JSON value, `text` lines.
template <class Json, class Text>
void print_result(const Ranks& ranks, bool wants_json, Json json, Text text) {
  if (!ranks.first()) return;
  std::cout << (wants_json ? json().dump(2) + "\n" : text()) << std::flush;
}

}  // namespace neve::cli
