// SPDX-License-Identifier: BSD-3-Clause
// A Darshan log as a trace. Darshan's own Python package reads it.
#pragma once

#include <string>
#include <vector>

#include "neve/status.hpp"
#include "preload/trace/model.hpp"
#include "tools/neve/trace_summary.hpp"

namespace neve::cli {

bool is_darshan_log(const std::string& path);  // by its name or its first bytes

struct DarshanLog {
  trace::Trace trace;
  std::set<std::string> absent;           // as TraceSummary::absent
  std::map<std::string, LogSizes> sizes;  // by file
  std::vector<std::string> notes;
};

Result<DarshanLog> read_darshan_log(const std::string& path);

}  // namespace neve::cli
