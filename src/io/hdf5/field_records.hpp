// SPDX-License-Identifier: BSD-3-Clause
// The table `neve_fields` of a level, in a checkpoint one of each compressed variable: one row per component,
// written beside the frames and read by `neve info`, h5py and people. Not needed to decode anything.
#pragma once

#include <hdf5.h>

#include <string>
#include <vector>

#include "io/hdf5/layout_names.hpp"
#include "io/hdf5/skeleton.hpp"
#include "neve/status.hpp"

namespace neve::hdf5 {

inline constexpr const char* field_table_name = "neve_fields";

inline std::string checkpoint_field_table(const std::string& variable) {
  return checkpoint_base(variable) + "_" + field_table_name;
}

// In a copy of a checkpoint of Chombo, of a variable that has bounds.
inline std::string boxed_field_table(const std::string& base) { return base + "_" + field_table_name; }

// `fills_tables`: false where another rank writes the rows (ObjectsIn).
Status write_field_records(hid_t level_group, const std::string& table_name,
                           const std::vector<FieldRecord>& fields, bool fills_tables = true);
// Empty when the group has no such table. `place` names the group in messages.
Result<std::vector<FieldRecord>> read_field_records(hid_t level_group, const std::string& place,
                                                    const std::string& table_name);

}  // namespace neve::hdf5
