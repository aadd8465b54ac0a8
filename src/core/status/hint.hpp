// SPDX-License-Identifier: BSD-3-Clause
// Words to a user whom the program has not asked for any.
#pragma once

#include <string_view>

namespace neve {

// Says `text` on stderr, after "neve: ", unless NEVE_HINTS is 0 or this is another than the first rank of an
// MPI program, by what launchers tell a process. Who calls it keeps to once a process.
void say_hint(std::string_view text);

}  // namespace neve
