// SPDX-License-Identifier: BSD-3-Clause
// Everything of a copy but the frames: objects, links, attributes, and the values that Neve does not code.
#pragma once

#include <hdf5.h>

#include <map>
#include <string>

#include "datafile/contents.hpp"
#include "datafile/plan.hpp"
#include "neve/status.hpp"

namespace neve::datafile {

// The target's file, empty but for the root group, with what the source's file says of itself.
Result<hdf5::Handle> create_target(hid_t source, const std::string& path, const CopyPlan& plan);

// Groups, datasets, named types and links, then attributes, whose references need all of these, then the
// values of datasets that are not coded.
Status copy_structure(hid_t source, hid_t target, const Contents& contents, const CopyPlan& plan,
                      uint64_t& lost_references);

// What stands before the HDF5 part of the file, the user's own. HDF5 has left room for it.
Status copy_user_block(hid_t source, const std::string& source_path, const std::string& target_path);

}  // namespace neve::datafile
