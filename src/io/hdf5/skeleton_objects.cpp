// SPDX-License-Identifier: BSD-3-Clause
#include "io/hdf5/skeleton_objects.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>

#include "io/hdf5/attributes.hpp"
#include "io/hdf5/carry_over.hpp"
#include "io/hdf5/field_records.hpp"
#include "io/hdf5/file_parts.hpp"
#include "io/hdf5/handle.hpp"
#include "io/hdf5/layout_names.hpp"
#include "io/hdf5/level_dataset.hpp"

namespace neve::hdf5 {
namespace {

Result<std::vector<uint64_t>> place_data(hid_t group, const std::string& name, DType dtype,
                                         const LevelPlacement& placement, SkipDriverState* driver) {
  if (placement.compressed) {
    return place_chunks(group, name, dtype, placement.chunk_elements, placement.frame_bytes,
                        placement.addresses, driver);
  }
  std::optional<uint64_t> wanted;
  if (!placement.addresses.empty()) wanted = placement.addresses.front();
  NEVE_ASSIGN(const uint64_t address,
              place_contiguous(group, name, dtype, static_cast<uint64_t>(placement.box_offsets.back()),
                               wanted, driver));
  return std::vector<uint64_t>{address};
}

uint64_t left_out_values(const LevelPlacement& level) {
  uint64_t values = 0;
  for (const FieldRecord& field : level.fields) values += field.left_out_cells;
  return values;
}

// "auto: 512 values of covered cells are left out, ...", for people who open the file with other tools.
std::string covered_note(const std::string& asked, uint64_t left_out) {
  return asked + ": " +
         (left_out == 0 ? "every cell is stored"
                        : fmt::format("{} values of covered cells are left out; Neve reads them as the "
                                      "average of the finer cells, other tools see stand-in values",
                                      left_out));
}

// Chombo's reader takes every attribute of an uncompressed file for a number: those have no such note.
Status write_covered_notes(hid_t file, const std::vector<LevelPlacement>& levels) {
  uint64_t left_out = 0;
  std::string asked;
  for (size_t l = 0; l < levels.size(); ++l) {
    if (!levels[l].compressed || levels[l].covered.empty()) continue;
    asked = levels[l].covered;
    left_out += left_out_values(levels[l]);
    const std::string name = level_name(l);
    const Handle group(H5Gopen2(file, name.c_str(), H5P_DEFAULT), H5Gclose);
    NEVE_TRY(write_attribute(group.id(), covered_note_name, covered_note(asked, left_out_values(levels[l])))
                 .in(name));
  }
  return asked.empty() ? Status() : write_attribute(file, covered_note_name, covered_note(asked, left_out));
}

Status write_variables(hid_t file, const std::vector<VariablePlacement>& variables) {
  const Handle neve(H5Gopen2(file, neve_name, H5P_DEFAULT), H5Gclose);
  const Handle all = create_group(neve.id(), variables_name);
  if (!all.valid()) return hdf5_failed(variables_name);
  NEVE_TRY(write_attribute(all.id(), "count", static_cast<int32_t>(variables.size())));
  for (size_t v = 0; v < variables.size(); ++v) {
    const Variable& variable = variables[v].variable;
    const Handle group = create_group(all.id(), std::to_string(v));
    if (!group.valid()) return hdf5_failed(variable.name);
    NEVE_TRY(write_attribute(group.id(), "name", variable.name));
    NEVE_TRY(write_attribute(group.id(), "num_components", static_cast<int32_t>(variable.components.size())));
    for (size_t c = 0; c < variable.components.size(); ++c) {
      NEVE_TRY(write_attribute(group.id(), component_name(c), variable.components[c]));
    }
    NEVE_TRY(write_attribute(group.id(), "compressed", int32_t{variable.compress}));
    NEVE_TRY(write_attribute(group.id(), "ghosts", std::span<const int32_t>(variable.ghosts)));
    NEVE_TRY(write_attribute(group.id(), "bound", to_string(variable.bound)));
    NEVE_TRY(write_attribute(group.id(), "codec", std::string(codec_name(variable.codec))));
  }
  return {};
}

}  // namespace

Result<FrameAddresses> make_plotfile_objects(const ObjectsIn& in, const Hierarchy& h,
                                             const std::vector<LevelPlacement>& levels,
                                             const std::string& like, bool with_datasets) {
  const bool any_compressed =
      std::any_of(levels.begin(), levels.end(), [](const LevelPlacement& level) { return level.compressed; });
  const Convention convention = any_compressed ? Convention::amrex : Convention::chombo;
  NEVE_TRY(write_root(in.file, h, h.components));
  NEVE_TRY(write_neve_group(in.file, h, convention, in.fills_tables));
  FrameAddresses addresses;
  for (size_t l = 0; l < levels.size(); ++l) {
    const LevelPlacement& level = levels[l];
    const std::string name = level_name(l);
    const Handle group = create_group(in.file, name);
    if (!group.valid()) return hdf5_failed(name);
    NEVE_TRY(write_level_attributes(group.id(), h, l, level.ghosts, convention).in(name));
    NEVE_TRY(
        write_data_attributes(group.id(), data_attributes_name, h.components.size(), level.ghosts, h.dims)
            .in(name));
    NEVE_TRY(write_boxes(group.id(), h, l, level.processors, convention, in.fills_tables).in(name));
    NEVE_TRY(write_offsets(group.id(), offsets_name, level.box_offsets, in.fills_tables).in(name));
    NEVE_TRY(write_field_records(group.id(), field_table_name, level.fields, in.fills_tables).in(name));
    if (!with_datasets) continue;
    Result<std::vector<uint64_t>> placed = place_data(group.id(), data_name, h.dtype, level, in.driver);
    if (!placed.ok()) return placed.status().in(name);
    addresses.push_back(std::move(*placed));
  }
  NEVE_TRY(write_covered_notes(in.file, levels));
  if (!like.empty()) NEVE_TRY(carry_over(in.file, like, levels.size(), convention));
  return addresses;
}

Result<CheckpointAddresses> make_checkpoint_objects(const ObjectsIn& in, const Hierarchy& h,
                                                    const std::vector<VariablePlacement>& variables) {
  NEVE_TRY(write_root(in.file, h, h.components));
  NEVE_TRY(write_neve_group(in.file, h, Convention::chombo, in.fills_tables));
  NEVE_TRY(write_variables(in.file, variables));
  CheckpointAddresses addresses(variables.size());
  for (size_t l = 0; l < h.levels.size(); ++l) {
    const std::string name = level_name(l);
    const Handle group = create_group(in.file, name);
    if (!group.valid()) return hdf5_failed(name);
    NEVE_TRY(write_level_attributes(group.id(), h, l, {0, 0, 0}, Convention::chombo).in(name));
    NEVE_TRY(write_boxes(group.id(), h, l, variables.front().levels[l].processors, Convention::chombo,
                         in.fills_tables)
                 .in(name));
    for (size_t v = 0; v < variables.size(); ++v) {
      const Variable& variable = variables[v].variable;
      const LevelPlacement& placement = variables[v].levels[l];
      const DatasetNames names(checkpoint_base(variable.name));
      NEVE_TRY(write_data_attributes(group.id(), names.attributes, variable.components.size(),
                                     placement.ghosts, h.dims)
                   .in(name));
      NEVE_TRY(write_offsets(group.id(), names.offsets, placement.box_offsets, in.fills_tables).in(name));
      if (placement.compressed) {
        NEVE_TRY(write_field_records(group.id(), checkpoint_field_table(variable.name), placement.fields,
                                     in.fills_tables)
                     .in(name));
      }
      Result<std::vector<uint64_t>> placed =
          place_data(group.id(), names.data, h.dtype, placement, in.driver);
      if (!placed.ok()) return placed.status().in(name);
      addresses[v].push_back(std::move(*placed));
    }
  }
  return addresses;
}

}  // namespace neve::hdf5
