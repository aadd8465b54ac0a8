// SPDX-License-Identifier: BSD-3-Clause
// Keys of what all ranks must pass alike.
#pragma once

#include <string>

namespace neve::mpi {

// With its length, so that "ab", "c" and "a", "bc" make different keys.
inline void append_text(std::string& key, const std::string& text) {
  key += std::to_string(text.size()) + ':' + text;
}

}  // namespace neve::mpi
