// SPDX-License-Identifier: BSD-3-Clause
// Names in files are UTF-8: readers in Python open no file with other ones.
#pragma once

#include <cstddef>
#include <string_view>

#include "neve/status.hpp"

namespace neve {

struct Utf8Character {
  size_t bytes = 0;  // that it takes; 0: there is none
  char32_t point = 0;
};

// The character that the text begins with; none where the text is empty or its first bytes are no UTF-8.
Utf8Character first_character(std::string_view text);

// Whether the bytes are UTF-8: no cut, overlong or surrogate sequence, nothing above U+10FFFF.
bool is_utf8(std::string_view text);

// Usage error that shows the name with its other bytes as \xNN. `what` it is the name of: "component 3".
Status check_utf8(std::string_view what, std::string_view name);

}  // namespace neve
