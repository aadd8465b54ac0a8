// SPDX-License-Identifier: BSD-3-Clause
// Which process made a thing, in a name: whether it is gone can be told later, on the same machine and boot.
#pragma once

#include <string>
#include <string_view>

namespace neve::files {

// "SPACE-NUMBER-START" of this process: where process numbers mean one process (machine, boot, container),
// the number, and its start in ticks since boot, because numbers are given again.
std::string process_name();

// `name` is of a process of this space that has ended. False of other spaces, and of what is no such name.
bool is_of_ended_process(std::string_view name);

}  // namespace neve::files
