// SPDX-License-Identifier: BSD-3-Clause
// The values of the coded variables: read chunk by chunk, encoded in threads, written in order.
#pragma once

#include <hdf5.h>

#include "datafile/copy.hpp"
#include "datafile/copy_structure.hpp"
#include "datafile/journal.hpp"
#include "datafile/plan.hpp"
#include "neve/status.hpp"

namespace neve::datafile {

// `reports` are those of plan.variables.
Status copy_frames(hid_t source, TargetFile& target, const CopyPlan& plan, const CopyOptions& options,
                   Journal& journal, std::vector<VariableReport>& reports);

}  // namespace neve::datafile
