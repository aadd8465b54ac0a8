// SPDX-License-Identifier: BSD-3-Clause
#include "tools/common/visible.hpp"

#include <fmt/format.h>

#include "core/bits/utf8.hpp"

namespace neve::cli {
namespace {

// C0, DEL, and C1, whose bytes are 0x80 to 0x9f, behind 0xc2 in UTF-8.
bool is_control(unsigned char c) { return c < 0x20 || (c >= 0x7f && c < 0xa0); }

// Of a character of valid UTF-8 with this first byte.
size_t character_bytes(unsigned char first) {
  return first < 0xc0 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}

std::string escaped(std::string_view text, bool with_line_ends) {
  const bool is_valid = is_utf8(text);
  std::string out;
  for (size_t i = 0; i < text.size();) {
    const auto first = static_cast<unsigned char>(text[i]);
    const size_t bytes = is_valid ? character_bytes(first) : 1;
    const auto last = static_cast<unsigned char>(text[i + bytes - 1]);
    const bool is_plain =
        first < 0x80 ? !is_control(first) : is_valid && (first != 0xc2 || !is_control(last));
    if (is_plain || (first == '\n' && !with_line_ends)) {
      out += text.substr(i, bytes);
    } else {
      out += fmt::format("\\x{:02x}", last);
    }
    i += bytes;
  }
  return out;
}

}  // namespace

std::string visible(std::string_view text) { return escaped(text, false); }
std::string visible_line(std::string_view text) { return escaped(text, true); }

}  // namespace neve::cli
