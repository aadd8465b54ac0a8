// SPDX-License-Identifier: BSD-3-Clause
// A report as JSON: for programs, and for the pictures and the page.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/neve/trace_summary.hpp"

namespace neve::cli {

// Hands over the text piece by piece: all files of a large trace at once would take gigabytes. `top`: files a
// trace, 0 for all; what is left out is in more_files.
void write_report_json(const std::vector<TraceSummary>& all, size_t top,
                       const std::function<void(std::string_view)>& write);

}  // namespace neve::cli
