// SPDX-License-Identifier: BSD-3-Clause
// The trace as JSON (docs/trace.md), there and back.
#pragma once

#include <nlohmann/json.hpp>

#include "neve/status.hpp"
#include "preload/trace/model.hpp"

namespace neve::trace {

// A level of some counters, under Darshan's names; `start` is what timestamps are counted from.
nlohmann::ordered_json level_to_json(const Counters& counters, Level level, double start);

nlohmann::ordered_json to_json(const Trace& trace);
Result<Trace> from_json(const nlohmann::json& json);

Result<Trace> read_trace_file(const std::string& path);
// As files/temporary_file does. Where `path` exists it is replaced, or, if `keep`, the name is refused.
enum class Existing { replace, keep };
Status write_trace_file(const Trace& trace, const std::string& path, Existing existing, bool& exists);

}  // namespace neve::trace
