// SPDX-License-Identifier: BSD-3-Clause
// The log of choices as a text file: a line for each, with commas between the columns, which are those of the
// log in HDF5 files. neve.read_choices reads both.
#pragma once

#include <memory>
#include <string>
#include <vector>

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
  // Adds choices to those of other operators, and writes the file as a whole. Errors: failure.
  Status add(const std::vector<Choice>& choices);

 private:
  struct Shared;
  explicit ChoiceFile(std::shared_ptr<Shared> shared) : shared_(std::move(shared)) {}
  std::shared_ptr<Shared> shared_;
};

}  // namespace neve::adios2_operator
