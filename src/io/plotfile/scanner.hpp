// SPDX-License-Identifier: BSD-3-Clause
// Reading AMReX's text headers piece by piece, with messages that name file, line, what was found and what is
// allowed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "neve/box.hpp"
#include "neve/status.hpp"
#include "neve/types.hpp"

namespace neve::plotfile {

class Scanner {
 public:
  // Keeps a view of `text`. `name` is the file, for messages.
  Scanner(std::string_view text, std::string name) : text_(text), name_(std::move(name)) {}

  // An integer in [min, max]; `what` names it.
  Result<int64_t> integer(std::string_view what, int64_t min, int64_t max);
  // A real number; NaN and infinities as C spells them.
  Result<double> real(std::string_view what);
  // Up to the next white space.
  Result<std::string> word(std::string_view what);
  // The rest of the line, without spaces at its ends.
  Result<std::string> line(std::string_view what);
  // The next character that is not white space must be this one.
  Status expect(char c, std::string_view what);
  // The next character that is not white space, 0 at the end; stays unread.
  char peek();

  // "((0,0,0) (31,31,31) (0,0,0))" of `dims` dimensions. An index type other than cell-centred is refused.
  Result<Box> box(std::string_view what, int dims);
  // "(1,1,1)"; directions past `dims` are `fill`.
  Result<IntVect> int_vect(std::string_view what, int dims, int32_t fill, int64_t min, int64_t max);

  // A count of things each of which takes at least `bytes_each` of the text still to come: what a damaged
  // count cannot pass, so nothing is allocated that the file has not paid for.
  Result<int64_t> count(std::string_view what, int64_t min, int64_t bytes_each);

  size_t position() const { return at_; }
  // An error at the current place: "FILE, line N: message".
  Status error(const std::string& message) const;

 private:
  void skip_space();
  std::string next_word_for_message();
  Status missing(std::string_view what) const;
  // Of what stands here instead of what is allowed.
  Status refusal(std::string_view what, const std::string& allowed);

  std::string_view text_;
  std::string name_;
  size_t at_ = 0;
};

// How the reals of a FAB are stored.
struct RealFormat {
  DType dtype = DType::f64;
  bool is_big_endian = false;

  bool operator==(const RealFormat&) const = default;
};

// "((8, (64 11 52 0 1 12 0 1023)),(8, (8 7 6 5 4 3 2 1)))": AMReX's RealDescriptor. IEEE f32 and f64 in
// either byte order are read; others (Cray, PDP) are refused by name.
Result<RealFormat> scan_real_format(Scanner& scanner);
// The descriptor of this machine's own reals.
std::string_view native_real_format_text(DType dtype);

}  // namespace neve::plotfile
