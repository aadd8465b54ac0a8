// SPDX-License-Identifier: BSD-3-Clause
// What a user may tell the operator, as ADIOS2 hands it over. Needs no ADIOS2.
#pragma once

#include <map>
#include <string>

#include "neve/frame.hpp"
#include "neve/status.hpp"

namespace neve::adios2_operator {

// Parameters under the names that the `neve` command gives them: bound, codec, effort, method, speed_weight,
// ratio_weight, fill, arrangement, unit, block, merge_units, threads. PluginName and PluginLibrary are
// ADIOS2's own. Errors: usage, naming the parameter, the value found and what is allowed.
Result<ArrayOptions> parse_parameters(const std::map<std::string, std::string>& parameters);

}  // namespace neve::adios2_operator
