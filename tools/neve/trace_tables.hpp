// SPDX-License-Identifier: BSD-3-Clause
// A report as text.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tools/neve/trace_summary.hpp"

namespace neve::cli {

// `top`: rows of files and of ranks a trace; 0: all.
std::string trace_tables(const std::vector<TraceSummary>& all, size_t top);

}  // namespace neve::cli
