// SPDX-License-Identifier: BSD-3-Clause
// What readers of plotfiles and of checkpoints share: groups, lists of boxes and offsets, a level's geometry.
// Errors: corrupt, naming the dataset or attribute, unless said otherwise.
#pragma once

#include <hdf5.h>

#include <string>
#include <vector>

#include "io/hdf5/plotfile_header.hpp"

namespace neve::hdf5 {

inline constexpr int32_t max_levels = 1000;

bool has_link(hid_t where, const std::string& name);
Result<Handle> open_group(hid_t where, const std::string& name);

// The lists `boxes` and `<base>:offsets=0` of a level's group. No memory is taken that the file has not paid
// for. `before`: boxes of the levels read already, which may be links to this one.
Result<std::vector<Box>> read_boxes(hid_t group, int dims, uint64_t before);
Result<std::vector<int64_t>> read_offsets(hid_t group, const std::string& name);

// Elements of a box with its ghosts, all components; false when there are more than 63 bits hold.
bool count_elements(const Box& box, const IntVect& ghosts, size_t components, int64_t* elements);

// Everything about a level but its values. Of `header` count written_by_neve and the hierarchy's dims and
// time.
Result<Level> read_level_geometry(hid_t file, hid_t group, size_t level, size_t level_count,
                                  const PlotfileHeader& header);

struct FoundData {
  LevelData data;
  DType dtype = DType::f64;
};

// A level's values under those names, and where its boxes are in them. `packed`: boxes must fill the dataset
// without gaps. Errors also: usage (not floats, a dataset for each component).
Result<FoundData> read_level_data(hid_t group, const DatasetNames& names, const Level& level, int dims,
                                  size_t components, bool packed);

}  // namespace neve::hdf5
