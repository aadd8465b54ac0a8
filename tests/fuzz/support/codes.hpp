// SPDX-License-Identifier: BSD-3-Clause
// What fuzz targets ask of every answer: a code that the function promises, and no other.
#pragma once

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>

#include "neve/status.hpp"

namespace neve::fuzz {

[[noreturn]] inline void broken_promise(const std::string& what) {
  std::fprintf(stderr, "broken promise: %s\n", what.c_str());
  std::abort();
}

// Ends the process when `status` is an error of a code that is not among `allowed`.
inline void require_code(const Status& status, std::initializer_list<Code> allowed) {
  if (status.ok() || std::find(allowed.begin(), allowed.end(), status.code()) != allowed.end()) return;
  broken_promise("code " + std::to_string(static_cast<int>(status.code())) + ": " + status.message());
}

}  // namespace neve::fuzz
