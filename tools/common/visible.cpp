// SPDX-License-Identifier: BSD-3-Clause
#include "tools/common/visible.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "core/bits/utf8.hpp"

namespace neve::cli {
namespace {

struct Characters {
  char32_t first, last;
};

// Of Unicode's general categories Cc, Cf, Zl and Zp, ascending: controls, and what reorders, joins or hides
// the text beside it, or ends a line.
constexpr Characters unseen[] = {
    {0, 0x1f},          {0x7f, 0x9f},       {0xad, 0xad},       {0x600, 0x605},     {0x61c, 0x61c},
    {0x6dd, 0x6dd},     {0x70f, 0x70f},     {0x890, 0x891},     {0x8e2, 0x8e2},     {0x180e, 0x180e},
    {0x200b, 0x200f},   {0x2028, 0x202e},   {0x2060, 0x2064},   {0x2066, 0x206f},   {0xfeff, 0xfeff},
    {0xfff9, 0xfffb},   {0x110bd, 0x110bd}, {0x110cd, 0x110cd}, {0x13430, 0x1343f}, {0x1bca0, 0x1bca3},
    {0x1d173, 0x1d17a}, {0xe0001, 0xe0001}, {0xe0020, 0xe007f}};

bool is_unseen(char32_t point) {
  for (const Characters& range : unseen) {
    if (point <= range.last) return point >= range.first;
  }
  return false;
}

std::string escape_of(char32_t point) {
  const auto number = static_cast<uint32_t>(point);
  if (number < 0x100) return fmt::format("\\x{:02x}", number);
  return number < 0x10000 ? fmt::format("\\u{:04x}", number) : fmt::format("\\U{:08x}", number);
}

std::string escaped(std::string_view text, bool with_line_ends) {
  std::string out;
  while (!text.empty()) {
    const auto [bytes, point] = first_character(text);
    if (bytes == 0) {
      out += escape_of(static_cast<unsigned char>(text[0]));
    } else if (is_unseen(point) && (point != '\n' || with_line_ends)) {
      out += escape_of(point);
    } else {
      out += text.substr(0, bytes);
    }
    text.remove_prefix(std::max<size_t>(bytes, 1));
  }
  return out;
}

}  // namespace

std::string visible(std::string_view text) { return escaped(text, false); }
std::string visible_line(std::string_view text) { return escaped(text, true); }

}  // namespace neve::cli
