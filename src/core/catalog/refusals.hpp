// SPDX-License-Identifier: BSD-3-Clause
// What is said of a value that is refused, in one form for names and one for ranges.
#pragma once

#include <fmt/format.h>

#include <string_view>

#include "neve/status.hpp"

namespace neve {

// "threads is 0; 1 to 1024 are allowed"
template <class Value, class Least, class Most>
Status out_of_range(std::string_view what, const Value& found, const Least& least, const Most& most) {
  return usage_error(fmt::format("{} is {}; {} to {} are allowed", what, found, least, most));
}

// "unit is 7; 0, 8, 16, 32 and 64 are allowed"; `allowed` also in words: "numbers above 0".
template <class Value>
Status not_among(std::string_view what, const Value& found, std::string_view allowed) {
  return usage_error(fmt::format("{} is {}; {} are allowed", what, found, allowed));
}

// "effort "maxx" unknown; allowed: fast, balanced, max"
inline Status not_a_name(std::string_view what, std::string_view found, std::string_view allowed) {
  return usage_error(fmt::format("{} \"{}\" unknown; allowed: {}", what, found, allowed));
}

}  // namespace neve
