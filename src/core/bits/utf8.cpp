// SPDX-License-Identifier: BSD-3-Clause
#include "core/bits/utf8.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace neve {
Utf8Character first_character(std::string_view text) {
  if (text.empty()) return {};
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  if (byte(0) < 0x80) return {1, byte(0)};
  const size_t bytes = byte(0) >= 0xf0 ? 4 : byte(0) >= 0xe0 ? 3 : 2;
  if (byte(0) < 0xc0 || byte(0) > 0xf7 || text.size() < bytes) return {};
  char32_t point = byte(0) & (0x7fU >> bytes);
  for (size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    point = point << 6 | (byte(i) & 0x3fU);
  }
  constexpr char32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool is_surrogate = point >= 0xd800 && point <= 0xdfff;
  if (point < least[bytes] || point > 0x10ffff || is_surrogate) return {};
  return {bytes, point};
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const size_t bytes = first_character(text).bytes;
    if (bytes == 0) return false;
    text.remove_prefix(bytes);
  }
  return true;
}

Status check_utf8(std::string_view what, std::string_view name) {
  if (is_utf8(name)) return {};
  std::string shown;
  while (!name.empty()) {
    const size_t bytes = first_character(name).bytes;
    if (bytes > 0) {
      shown += name.substr(0, bytes);
    } else {
      shown += fmt::format("\\x{:02x}", static_cast<uint8_t>(name[0]));
    }
    name.remove_prefix(bytes > 0 ? bytes : 1);
  }
  return usage_error(fmt::format("name \"{}\" of {} is not UTF-8; names in files must be", shown, what));
}

}  // namespace neve
