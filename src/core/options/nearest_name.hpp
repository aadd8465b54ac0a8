// SPDX-License-Identifier: BSD-3-Clause
// What somebody who mistyped a name may have meant.
#pragma once

#include <string>
#include <vector>

namespace neve::options {

// The known name that is most like `word`; empty where none is.
std::string nearest_name(const std::string& word, const std::vector<std::string>& known);

}  // namespace neve::options
