// SPDX-License-Identifier: BSD-3-Clause
// The table `neve_fields` of a level: one row per component, written beside the frames and read by `neve
// info`, h5py and people. Not needed to decode anything.
#pragma once

#include <hdf5.h>

#include <string>
#include <vector>

#include "hdf5/skeleton.hpp"
#include "neve/status.hpp"

namespace neve::hdf5 {

inline constexpr const char* field_table_name = "neve_fields";

Status write_field_records(hid_t level_group, const std::vector<FieldRecord>& fields);
// Empty when the group has no such table. `place` names the group in messages.
Result<std::vector<FieldRecord>> read_field_records(hid_t level_group, const std::string& place);

}  // namespace neve::hdf5
