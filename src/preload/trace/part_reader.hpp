// SPDX-License-Identifier: BSD-3-Clause
// Reads a part, from the process's own memory or from the file a process left. A process may have been killed
// anywhere, and a file may hold anything: what points outside is an error, never a crash.
#pragma once

#include <span>

#include "neve/status.hpp"
#include "preload/trace/model.hpp"

namespace neve::trace {

Result<Trace> read_part(std::span<const std::byte> part);
Result<Trace> read_part_file(const std::string& path);

}  // namespace neve::trace
