// SPDX-License-Identifier: BSD-3-Clause
// What a series of copies into one folder leaves for the command that goes on with it: which files are done,
// what was chosen for them, and what the memory of selections holds. A hidden file in that
// folder, until the last copy is done.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "io/datafile/copy.hpp"
#include "neve/selection_memory.hpp"
#include "neve/status.hpp"

namespace neve::datafile {

struct SeriesFile {
  std::string source, target;
};

class SeriesProgress {
 public:
  // `files` in the order of the series; `key`: all else that decides what the copies hold.
  SeriesProgress(std::string folder, std::string key, std::vector<SeriesFile> files);

  // Usage error if something that is not of a series stands in `folder` under the name of what is left there:
  // it would be replaced, and removed at the end.
  static Status check_place(const std::string& folder);

  // How many files, from the first on, an interrupted series has done: neither source nor copy has changed
  // since. `memory` is then what it was after the last of them. 0, and `memory` as it was, where there is
  // nothing to go on from, or the series was another (`was_another`).
  size_t find(SelectionMemory& memory, bool& was_another);
  // One more file is done, for which this was chosen. Errors: failure.
  Status note(const std::vector<StepChoice>& choices, SelectionMemory& memory);
  void remove() const;  // the series is done

 private:
  std::string head() const;
  std::string path_, key_;
  std::vector<SeriesFile> files_;
  size_t done_ = 0;
  std::vector<StepChoice> choices_;
};

}  // namespace neve::datafile
