// SPDX-License-Identifier: BSD-3-Clause
// The log of a series' choices in a data file: a group in which each column is a dataset, so that readers of
// netCDF show it as they show everything else. bindings/python/neve/_choice_log.py reads it.
#pragma once

#include <hdf5.h>

#include <map>
#include <string>
#include <vector>

#include "neve/choice.hpp"
#include "neve/status.hpp"
#include "neve/types.hpp"

namespace neve::datafile {

inline constexpr const char* choices_group = "neve_choices";

// Times differ from run to run, and files with them.
enum class ChoiceLog { none, without_times, with_times };

// Of a group or dataset: whether it is the log or a part of it.
bool is_of_choice_log(const std::string& path);

// Whether both have the same candidates and weights.
bool is_chosen_alike(const CodecTuning& a, const CodecTuning& b);

using OwnTunings = std::map<std::string, CodecTuning>;  // by variable

// Adds the log to a file that has none. `tuning`: of the whole file; `own`: of variables that have another
// one. `log` is not none. Errors: failure.
Status write_choice_log(hid_t file, const std::vector<Choice>& choices, const ChoiceRules& rules,
                        const CodecTuning& tuning, const OwnTunings& own, ChoiceLog log);

}  // namespace neve::datafile
