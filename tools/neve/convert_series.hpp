// SPDX-License-Identifier: BSD-3-Clause
// `neve convert STEP1.nc STEP2.nc ... --into FOLDER`: data files of time steps, whose lossless variables keep
// the method that was best from file to file.
#pragma once

#include <string>
#include <vector>

#include "io/datafile/copy.hpp"
#include "neve/choice.hpp"
#include "neve/status.hpp"
#include "tools/common/ranks.hpp"

namespace neve::cli {

struct SeriesConversion {
  std::vector<std::string> sources;  // in the order of their time
  std::string folder;                // made where it is missing
  datafile::CopyOptions options;     // but for the memory
  ChoiceRules rules;
  std::string key;  // all options that decide what the copies hold, as text
  bool bound_is_default = false;
  bool json = false;
};

// Usage errors: a source that is no data file, two of one name, one that lies in the folder.
Status check_series(const SeriesConversion& conversion);

// Collective; one rank does the work. A source that fails ends it: the copies before it stay, and the same
// command goes on from there.
Status convert_series(const Ranks& ranks, SeriesConversion conversion);

}  // namespace neve::cli
