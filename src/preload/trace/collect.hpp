// SPDX-License-Identifier: BSD-3-Clause
// A trace and what processes left beside it: parts of those that never reached MPI_Finalize, or used files
// after it, and reductions of further programs of the same run.
#pragma once

#include <string>
#include <vector>

#include "neve/status.hpp"
#include "preload/trace/model.hpp"

namespace neve::trace {

struct Collected {
  Trace trace;
  bool is_earlier = false;              // the trace of the run before: this one has told nothing
  std::vector<std::string> leftovers;   // files merged into it besides the trace itself
  std::vector<std::string> unreadable;  // why a leftover could not be merged
};

// The trace at `path`, merged with what lies beside it; a usage error where there is neither. A trace that
// what lies beside it is going to replace is not merged, and counts only where there is nothing else.
Result<Collected> collect(const std::string& path);

}  // namespace neve::trace
