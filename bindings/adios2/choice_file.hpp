// SPDX-License-Identifier: BSD-3-Clause
// The log of choices as a text file: a line for each, with commas between the columns, which are those of the
// log in HDF5 files. neve.read_choices reads both.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "neve/choice.hpp"
#include "neve/status.hpp"

namespace neve::adios2_operator {

// The part of one operator in the file of a path: ADIOS2 makes an operator for each variable, and those of
// one process write into one file.
class ChoiceFile {
 public:
  // `path`: "%p" in it becomes the process's number. `rules`: those of choice_text. Usage error where an
  // operator with other rules has the path.
  static Result<ChoiceFile> open(std::string path, const std::string& rules);

  // A name of a variable that has none: "variable 1", ...
  std::string next_name();
  // Writes lines behind those of all operators; the first ones replace a file that is there. Errors: failure;
  // the lines before stay whole.
  Status add(std::span<const Choice> choices);
  // Where no other operator has the file: makes it durable and closes it. Errors: failure.
  Status finish();

 private:
  struct Shared;
  explicit ChoiceFile(std::shared_ptr<Shared> shared) : shared_(std::move(shared)) {}
  std::shared_ptr<Shared> shared_;
};

}  // namespace neve::adios2_operator
