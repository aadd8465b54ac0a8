// SPDX-License-Identifier: BSD-3-Clause
// The parts that every HDF5 file of ours is made of: root, `/neve`, and a level's attributes and boxes.
#pragma once

#include <hdf5.h>

#include <cstdint>
#include <string>
#include <vector>

#include "io/hdf5/handle.hpp"
#include "neve/hierarchy.hpp"
#include "neve/status.hpp"

namespace neve::hdf5 {

// What the groups of the levels look like. yt reads both.
enum class Convention : uint8_t {
  amrex,  // AMReX's attributes among Chombo's
  // Chombo's alone: its reader takes every attribute of the root and of a level for one number and would
  // write an array past that. What Neve adds lies in /neve, where Chombo does not look.
  chombo,
};

Status hdf5_failed(const std::string& what);
Handle create_group(hid_t where, const std::string& name);

// Components are hierarchy.components unless others are given.
Status write_root(hid_t file, const Hierarchy& h, const std::vector<std::string>& components);
// `fills_tables`, here and below: false where another rank writes what is in the tables (ObjectsIn).
// `/neve`, and in it for Convention::chombo a group a level.
Status write_neve_group(hid_t file, const Hierarchy& h, Convention convention, bool fills_tables = true);
// `ghosts`: layers written around every box.
Status write_level_attributes(hid_t group, const Hierarchy& h, size_t level, const IntVect& ghosts,
                              Convention convention);
// Chombo's description of how a dataset holds its boxes, named as the dataset.
Status write_data_attributes(hid_t group, const std::string& name, size_t components, const IntVect& ghosts,
                             int dims);
// Corners and owners of the level's boxes, and what yt wants beside them.
Status write_boxes(hid_t group, const Hierarchy& h, size_t level, const std::vector<int32_t>& processors,
                   Convention convention, bool fills_tables = true);
// First elements of the boxes in a dataset, and its end.
Status write_offsets(hid_t group, const std::string& name, const std::vector<int64_t>& box_offsets,
                     bool fills_tables = true);

}  // namespace neve::hdf5
