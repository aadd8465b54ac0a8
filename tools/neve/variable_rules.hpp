// SPDX-License-Identifier: BSD-3-Clause
// Rules for the variables of a data file, as people write them: --field, or a TOML file.
#pragma once

#include <string>
#include <vector>

#include "io/datafile/copy.hpp"
#include "neve/status.hpp"

namespace neve::cli {

// "PATTERN:SETTING,...": options of the table for variable_rule, and unchanged. Errors begin with `prefix`
// and the pattern.
Result<datafile::VariableRule> parse_variable_rule(const std::string& text,
                                                   const std::string& prefix = "--field ");

// A TOML file of tables [[rule]] with a key `match` (a pattern, or a list of them) and the settings of
// --field under the same names. An unknown key is a usage error.
Result<std::vector<datafile::VariableRule>> read_rules_file(const std::string& path);

}  // namespace neve::cli
