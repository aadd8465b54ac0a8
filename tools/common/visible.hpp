// SPDX-License-Identifier: BSD-3-Clause
// Names of files, and of what is in them, as people see them: characters that control a terminal, or the
// order or place of the text beside them, stand as \xNN, \uNNNN or \UNNNNNNNN, bytes that are no UTF-8 as
// \xNN. bindings/python/neve/_page.py shows them as the same.
#pragma once

#include <string>
#include <string_view>

namespace neve::cli {

// Of texts of several lines: ends of lines stay. say() shows its text so.
std::string visible(std::string_view text);
// Ends of lines are escaped, too. The cells of a Table are shown so.
std::string visible_line(std::string_view text);

}  // namespace neve::cli
