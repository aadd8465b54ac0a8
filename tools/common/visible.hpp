// SPDX-License-Identifier: BSD-3-Clause
// Names of files, and of what is in them, as people see them: what controls a terminal stands as \xNN.
#pragma once

#include <string>
#include <string_view>

namespace neve::cli {

// Of texts of several lines: ends of lines stay. say() shows its text so.
std::string visible(std::string_view text);
// Ends of lines are escaped, too. The cells of a Table are shown so.
std::string visible_line(std::string_view text);

}  // namespace neve::cli
