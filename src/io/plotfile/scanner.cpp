// SPDX-License-Identifier: BSD-3-Clause
#include "io/plotfile/scanner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <limits>
#include <vector>

namespace neve::plotfile {
namespace {

constexpr int64_t max_index = std::numeric_limits<int32_t>::max();
constexpr int64_t min_index = std::numeric_limits<int32_t>::min();
constexpr size_t max_word_in_message = 40;

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\v' || c == '\f'; }

}  // namespace

void Scanner::skip_space() {
  while (at_ < text_.size() && is_space(text_[at_])) ++at_;
}

char Scanner::peek() {
  skip_space();
  return at_ < text_.size() ? text_[at_] : '\0';
}

std::string Scanner::next_word_for_message() {
  skip_space();
  if (at_ >= text_.size()) return "the end of the file";
  std::string word = "'";
  for (size_t i = at_; i < text_.size() && !is_space(text_[i]) && i < at_ + max_word_in_message; ++i) {
    const char c = text_[i];
    word += c >= 32 && c < 127 ? c : '?';
  }
  return word + "'";
}

Status Scanner::missing(std::string_view what) const {
  return error(fmt::format("{} is missing: the file ends here", what));
}

Status Scanner::refusal(std::string_view what, const std::string& allowed) {
  skip_space();
  if (at_ >= text_.size()) return missing(what);
  return error(fmt::format("{} is {}; {} is allowed", what, next_word_for_message(), allowed));
}

Status Scanner::error(const std::string& message) const {
  const auto line = 1 + std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(at_), '\n');
  return corrupt(fmt::format("{}, line {}: {}", name_, line, message));
}

Result<int64_t> Scanner::integer(std::string_view what, int64_t min, int64_t max) {
  skip_space();
  int64_t value = 0;
  const auto [end, fault] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
  if (fault != std::errc() || value < min || value > max) {
    return refusal(what, fmt::format("an integer from {} to {}", min, max));
  }
  at_ = static_cast<size_t>(end - text_.data());
  return value;
}

Result<double> Scanner::real(std::string_view what) {
  skip_space();
  double value = 0;
  const char* begin = text_.data() + at_;
  const char* stop = text_.data() + text_.size();
  const auto [end, fault] = std::from_chars(begin, stop, value);
  if (fault == std::errc::result_out_of_range) {
    // Below the smallest or above the largest double, which from_chars reports without saying which; the
    // exponent does.
    const std::string_view number(begin, static_cast<size_t>(end - begin));
    const bool is_tiny = number.find("e-") != number.npos || number.find("E-") != number.npos;
    value = is_tiny ? 0.0 : std::numeric_limits<double>::infinity();
    if (number.front() == '-') value = -value;
  } else if (fault != std::errc()) {
    return refusal(what, "a number");
  }
  at_ = static_cast<size_t>(end - text_.data());
  return value;
}

Result<std::string> Scanner::word(std::string_view what) {
  skip_space();
  const size_t begin = at_;
  while (at_ < text_.size() && !is_space(text_[at_])) ++at_;
  if (at_ == begin) return missing(what);
  return std::string(text_.substr(begin, at_ - begin));
}

Result<std::string> Scanner::line(std::string_view what) {
  if (at_ >= text_.size()) return missing(what);
  size_t end = text_.find('\n', at_);
  if (end == text_.npos) end = text_.size();
  std::string_view found = text_.substr(at_, end - at_);
  at_ = std::min(end + 1, text_.size());
  while (!found.empty() && is_space(found.front())) found.remove_prefix(1);
  while (!found.empty() && is_space(found.back())) found.remove_suffix(1);
  return std::string(found);
}

Status Scanner::expect(char c, std::string_view what) {
  if (peek() != c || at_ >= text_.size()) {
    return error(fmt::format("'{}' of {} is missing; found {}", c, what, next_word_for_message()));
  }
  ++at_;
  return {};
}

Result<IntVect> Scanner::int_vect(std::string_view what, int dims, int32_t fill, int64_t min, int64_t max) {
  IntVect v;
  v.fill(fill);
  NEVE_TRY(expect('(', what));
  for (int d = 0; d < dims; ++d) {
    if (d > 0) NEVE_TRY(expect(',', what));
    NEVE_ASSIGN(const int64_t value, integer(what, min, max));
    v[static_cast<size_t>(d)] = static_cast<int32_t>(value);
  }
  if (peek() == ',') return error(fmt::format("{} has more than {} directions", what, dims));
  NEVE_TRY(expect(')', what));
  return v;
}

Result<Box> Scanner::box(std::string_view what, int dims) {
  Box b;
  NEVE_TRY(expect('(', what));
  NEVE_ASSIGN(b.lo, int_vect(what, dims, 0, min_index, max_index));
  NEVE_ASSIGN(b.hi, int_vect(what, dims, 0, min_index, max_index));
  NEVE_ASSIGN(const IntVect type, int_vect(what, dims, 0, 0, 1));
  NEVE_TRY(expect(')', what));
  if (type != IntVect{0, 0, 0}) {
    const Status where =
        error(fmt::format("{} has index type ({}), values on nodes or faces; only cell-centred boxes, index "
                          "type 0 in every direction, are read",
                          what, fmt::join(type.begin(), type.begin() + dims, ",")));
    return usage_error(where.message());
  }
  return b;
}

Result<int64_t> Scanner::count(std::string_view what, int64_t min, int64_t bytes_each) {
  const int64_t left = static_cast<int64_t>(text_.size() - at_);
  return integer(what, min, std::max(min, left / bytes_each));
}

namespace {

constexpr std::string_view native_f64 = "((8, (64 11 52 0 1 12 0 1023)),(8, (8 7 6 5 4 3 2 1)))";
constexpr std::string_view native_f32 = "((8, (32 8 23 0 1 9 0 127)),(4, (4 3 2 1)))";
static_assert(std::endian::native == std::endian::little, "native FABs are written as little-endian");

// "(4, (1 2 3 4))"
Result<std::vector<int64_t>> scan_counted_list(Scanner& scanner, std::string_view what) {
  constexpr int64_t longest = 16;
  NEVE_TRY(scanner.expect('(', what));
  NEVE_ASSIGN(const int64_t n, scanner.integer(what, 1, longest));
  NEVE_TRY(scanner.expect(',', what));
  NEVE_TRY(scanner.expect('(', what));
  std::vector<int64_t> list;
  for (int64_t i = 0; i < n; ++i) {
    NEVE_ASSIGN(const int64_t value, scanner.integer(what, min_index, max_index));
    list.push_back(value);
  }
  NEVE_TRY(scanner.expect(')', what));
  NEVE_TRY(scanner.expect(')', what));
  return list;
}

}  // namespace

Result<RealFormat> scan_real_format(Scanner& scanner) {
  constexpr std::string_view what = "real number format";
  NEVE_TRY(scanner.expect('(', what));
  NEVE_ASSIGN(const std::vector<int64_t> bits, scan_counted_list(scanner, what));
  NEVE_TRY(scanner.expect(',', what));
  NEVE_ASSIGN(const std::vector<int64_t> order, scan_counted_list(scanner, what));
  NEVE_TRY(scanner.expect(')', what));

  RealFormat format;
  if (bits == std::vector<int64_t>{64, 11, 52, 0, 1, 12, 0, 1023}) {
    format.dtype = DType::f64;
  } else if (bits == std::vector<int64_t>{32, 8, 23, 0, 1, 9, 0, 127}) {
    format.dtype = DType::f32;
  } else {
    return scanner.error(
        fmt::format("real number format is ({}); IEEE f32 (32 8 23 0 1 9 0 127) and f64 "
                    "(64 11 52 0 1 12 0 1023) are read",
                    fmt::join(bits, " ")));
  }
  std::vector<int64_t> ascending(dtype_bytes(format.dtype));
  for (size_t i = 0; i < ascending.size(); ++i) ascending[i] = static_cast<int64_t>(i) + 1;
  const std::vector<int64_t> descending(ascending.rbegin(), ascending.rend());
  if (order == ascending) {
    format.is_big_endian = true;
  } else if (order != descending) {
    return scanner.error(fmt::format("byte order is ({}); ({}) and ({}) are read", fmt::join(order, " "),
                                     fmt::join(descending, " "), fmt::join(ascending, " ")));
  }
  return format;
}

std::string_view native_real_format_text(DType dtype) {
  return dtype == DType::f32 ? native_f32 : native_f64;
}

}  // namespace neve::plotfile
