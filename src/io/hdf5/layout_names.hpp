// SPDX-License-Identifier: BSD-3-Clause
// Where things are in a plotfile: what Chombo and AMReX call them, and what Neve adds.
#pragma once

#include <string>

namespace neve::hdf5 {

// Chombo's, understood by yt, VisIt and ParaView.
inline constexpr const char* data_name = "data:datatype=0";
inline constexpr const char* second_data_name = "data:datatype=1";
inline constexpr const char* offsets_name = "data:offsets=0";
inline constexpr const char* boxes_name = "boxes";
inline constexpr const char* processors_name = "Processors";
inline constexpr const char* particle_counts_name = "particles:offsets";
inline constexpr const char* data_attributes_name = "data_attributes";
inline constexpr const char* global_name = "Chombo_global";
// AMReX's.
inline constexpr const char* box_center_name = "boxcenter";

// The group `/neve`: what brings the hierarchy back exactly where the tools' own attributes do not.
//   attributes layout_version i4, prob_lo f8[3], prob_hi f8[3], source_ghosts i4[3]
//   group side_files: one uint8 dataset per file, groups for its directories
// and in each level, beside the tools' attributes:
//   attributes neve_dx f8[3], neve_ref_ratio i4[3], in uncompressed files in /neve/level_<l> instead;
//   table neve_fields (field_records.hpp)
// and, of compressed plotfiles, in words for whoever opens the file with other tools, as attributes of the
// root and of each level: neve_covered, what became of covered cells. No reader needs it.
inline constexpr const char* neve_name = "neve";
inline constexpr const char* side_files_name = "side_files";
inline constexpr const char* layout_version_name = "layout_version";
inline constexpr int layout_version = 1;
inline constexpr const char* exact_dx_name = "neve_dx";
inline constexpr const char* exact_ref_ratio_name = "neve_ref_ratio";
inline constexpr const char* covered_note_name = "neve_covered";

// What neve.vtkhdf adds for VTK: virtual datasets of this file's values, which would show others in a copy.
inline constexpr const char* vtkhdf_name = "VTKHDF";

// Chombo's names of what belongs to the values called `base`: "data" of a plotfile, "<variable>Data" of a
// checkpoint.
struct DatasetNames {
  explicit DatasetNames(const std::string& base)
      : data(base + ":datatype=0"),
        second_data(base + ":datatype=1"),
        offsets(base + ":offsets=0"),
        attributes(base + "_attributes") {}
  std::string data, second_data, offsets, attributes;
};
inline constexpr const char* plotfile_base = "data";
inline std::string checkpoint_base(const std::string& variable) { return variable + "Data"; }

// In /neve of a checkpoint: a group `variables` with attribute `count` and a group per variable, by its
// number, with attributes name, num_components, component_<c>, compressed (0 or 1), ghosts i4[3], bound,
// codec (as people write them).
inline constexpr const char* variables_name = "variables";

inline std::string level_name(size_t level) { return "level_" + std::to_string(level); }
inline std::string component_name(size_t component) { return "component_" + std::to_string(component); }

}  // namespace neve::hdf5
