// SPDX-License-Identifier: BSD-3-Clause
// Values of options as text. Each parse_value is the inverse of value_text; its errors are usage errors that
// say what was found and what is allowed, without the option's name. None depends on the locale.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "neve/choice.hpp"
#include "neve/types.hpp"
#include "neve/write_options.hpp"

namespace neve::options {

Result<double> parse_number(std::string_view text);   // NaN and infinities too
Result<uint64_t> parse_bytes(std::string_view text);  // "8MiB", "64KiB", "65536"

// Digits alone, of a number in the range. Unlike the others it names what it reads:
// "--min-bytes is -1; 0 to 18446744073709551615 are allowed".
Status read_whole(std::string_view what, std::string_view text, uint64_t least, uint64_t most,
                  uint64_t& number);
bool is_whole_number(std::string_view text);  // of any size, also below 0

Status parse_value(std::string_view text, double& value);
Status parse_value(std::string_view text, bool& value);  // true, false, on, off, yes, no, 1, 0; capitals too
Status parse_value(std::string_view text, std::string& value);
Status parse_value(std::string_view text, Codec& value);
Status parse_value(std::string_view text, Effort& value);
Status parse_value(std::string_view text, Arrangement& value);
Status parse_value(std::string_view text, LosslessMethod& value);
Status parse_value(std::string_view text, LosslessMethods& value);
Status parse_value(std::string_view text, Speeds& value);
Status parse_value(std::string_view text, Covered& value);
Status parse_value(std::string_view text, Behind& value);

std::string value_text(int value);
std::string value_text(double value);  // the shortest that is the same number
std::string value_text(bool value);
std::string value_text(const std::string& value);
std::string value_text(Codec value);
std::string value_text(Effort value);
std::string value_text(Arrangement value);
std::string value_text(LosslessMethod value);
std::string value_text(LosslessMethods value);
std::string value_text(Speeds value);
std::string value_text(Covered value);
std::string value_text(Behind value);
std::string bytes_text(uint64_t bytes);  // "8MiB"

// "auto" (none given, detect), "none" (do not detect), or a number.
struct FillChoice {
  bool detect = true;
  std::optional<double> value;
  std::optional<uint64_t> whole;  // two's complement, where the number is a whole one of 64 bits
};
Result<FillChoice> parse_fill(std::string_view text);

}  // namespace neve::options
