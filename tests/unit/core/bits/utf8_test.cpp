// SPDX-License-Identifier: BSD-3-Clause
#include "core/bits/utf8.hpp"

#include <gtest/gtest.h>

#include <string>

namespace neve {
namespace {

TEST(Utf8, AcceptsWhatEncodersMake) {
  for (const char* text :
       {"", "density", "Temp\xc3\xa9rature", "\xe2\x82\xac", "\xf0\x9f\x8c\x8a", "\xf4\x8f\xbf\xbf"}) {
    EXPECT_TRUE(is_utf8(text)) << text;
  }
  EXPECT_TRUE(is_utf8(std::string_view("a\0b", 3)));
}

TEST(Utf8, GivesTheFirstCharacter) {
  const auto expect = [](std::string_view text, size_t bytes, char32_t point) {
    const Utf8Character found = first_character(text);
    EXPECT_EQ(found.bytes, bytes) << text;
    EXPECT_EQ(found.point, point) << text;
  };
  expect("", 0, 0);
  expect("ab", 1, U'a');
  expect("\xc2\x9b...", 2, 0x9b);
  expect("\xe2\x80\xae", 3, 0x202e);
  expect("\xf3\xa0\x80\x81", 4, 0xe0001);
  expect("\x9b", 0, 0);
  expect("\xe2\x80", 0, 0);
}

TEST(Utf8, RefusesEverythingElseAndShowsIt) {
  for (const char* text :
       {"\xe9", "a\x80", "\xc3", "\xc0\xaf", "\xe0\x80\x80", "\xed\xa0\x80", "\xf0\x80\x80\x80",
        "\xf4\x90\x80\x80", "\xf8\x88\x80\x80\x80", "\xe2\x82", "\xff"}) {
    EXPECT_FALSE(is_utf8(text));
  }
  EXPECT_EQ(check_utf8("component 2", "temp\xe9rature \xc3\xa9").message(),
            "name \"temp\\xe9rature \xc3\xa9\" of component 2 is not UTF-8; names in files must be");
}

}  // namespace
}  // namespace neve
