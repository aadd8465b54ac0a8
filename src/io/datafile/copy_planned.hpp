// SPDX-License-Identifier: BSD-3-Clause
// What all copies share: a plan of the source, its structure made again, its frames, and a target that
// appears when it is whole.
#pragma once

#include <hdf5.h>

#include <functional>
#include <string>

#include "io/datafile/contents.hpp"
#include "io/datafile/copy.hpp"
#include "io/datafile/plan.hpp"

namespace neve::datafile {

struct CopySteps {
  std::function<Result<CopyPlan>(hid_t source, const Contents& contents)> plan;
  // Adds to the target what follows from the frames. Null: nothing.
  std::function<Status(hid_t target, const CopyPlan& plan, const CopyReport& report)> finish;
  // A copy that fails leaves its frames for the next one to go on from.
  bool keeps_part = true;
};

// Errors: as copy_data_file.
Result<CopyReport> copy_planned(const std::string& source, const std::string& target,
                                const CopyOptions& options, const CopySteps& steps);

}  // namespace neve::datafile
