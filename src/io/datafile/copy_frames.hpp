// SPDX-License-Identifier: BSD-3-Clause
// The values of the coded variables: read chunk by chunk, encoded in threads, written in order.
#pragma once

#include <hdf5.h>

#include "io/datafile/copy.hpp"
#include "io/datafile/copy_structure.hpp"
#include "io/datafile/journal.hpp"
#include "io/datafile/plan.hpp"
#include "neve/status.hpp"

namespace neve::datafile {

// What a report says before anything is copied.
VariableReport start_report(const VariablePlan& plan);

// Makes and links the coded variables. One of which the frames are no gain (VariablePlan::no_gain_bytes) is
// coded no longer, in `plan` and in its report: StructureCopy::finish copies it as it is stored. `reports`
// are those of plan.variables.
Status copy_frames(hid_t source, TargetFile& target, StructureCopy& structure, CopyPlan& plan,
                   const CopyOptions& options, Journal& journal, std::vector<VariableReport>& reports);

}  // namespace neve::datafile
