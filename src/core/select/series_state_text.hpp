// SPDX-License-Identifier: BSD-3-Clause
// What is known of a variable of a series as text, for a series that another process goes on with.
#pragma once

#include <string>

#include "core/select/series_state.hpp"
#include "neve/choice.hpp"
#include "neve/status.hpp"

namespace neve {

// In one line, but for measured speeds: they are of this process.
std::string series_state_text(SeriesState& state);
// Errors: corrupt, and `state` is as it was.
Status read_series_state(const std::string& text, const ChoiceRules& rules, SeriesState& state);

}  // namespace neve
