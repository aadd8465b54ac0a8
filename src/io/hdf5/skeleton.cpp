// SPDX-License-Identifier: BSD-3-Clause
#include "io/hdf5/skeleton.hpp"

#include <fmt/format.h>
#include <hdf5.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>

#include "io/hdf5/attributes.hpp"
#include "io/hdf5/carry_over.hpp"
#include "io/hdf5/errors.hpp"
#include "io/hdf5/field_records.hpp"
#include "io/hdf5/file_parts.hpp"
#include "io/hdf5/filter.hpp"
#include "io/hdf5/handle.hpp"
#include "io/hdf5/layout_names.hpp"
#include "io/hdf5/level_dataset.hpp"
#include "io/hdf5/skip_driver.hpp"

namespace neve::hdf5 {
namespace {

constexpr uint64_t max_chunk_bytes = 0xffffffff;  // HDF5 keeps a chunk's size in 32 bits

Status check_placement(const Hierarchy& h, size_t l, const LevelPlacement& placement) {
  const Level& level = h.levels[l];
  if (placement.box_offsets.size() != level.boxes.size() + 1 ||
      placement.processors.size() != level.boxes.size()) {
    return usage_error(
        fmt::format("level {}: {} box offsets and {} owners for {} boxes; {} and {} are needed", l,
                    placement.box_offsets.size(), placement.processors.size(), level.boxes.size(),
                    level.boxes.size() + 1, level.boxes.size()));
  }
  const size_t places = placement.compressed ? placement.frame_bytes.size() : 1;
  if (!placement.addresses.empty() && placement.addresses.size() != places) {
    return usage_error(fmt::format("level {}: {} addresses for {} pieces of data; as many are needed", l,
                                   placement.addresses.size(), places));
  }
  if (!placement.compressed) return {};
  if (placement.chunk_elements < 1 || placement.chunk_elements > max_chunk_bytes / dtype_bytes(h.dtype)) {
    return usage_error(fmt::format("level {}: a chunk of {} elements; 1 to {} are allowed", l,
                                   placement.chunk_elements, max_chunk_bytes / dtype_bytes(h.dtype)));
  }
  if (placement.frame_bytes.empty()) return usage_error(fmt::format("level {} has no frames", l));
  for (size_t k = 0; k < placement.frame_bytes.size(); ++k) {
    if (placement.frame_bytes[k] < 1 || placement.frame_bytes[k] > max_chunk_bytes) {
      return usage_error(fmt::format("level {}: frame {} has {} bytes; 1 to {} are allowed", l, k,
                                     placement.frame_bytes[k], max_chunk_bytes));
    }
  }
  return {};
}

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

Result<FrameAddresses> write_file(hid_t file, const Hierarchy& h, const std::vector<LevelPlacement>& levels,
                                  const std::string& like, SkipDriverState* driver, bool with_datasets) {
  const bool any_compressed =
      std::any_of(levels.begin(), levels.end(), [](const LevelPlacement& level) { return level.compressed; });
  const Convention convention = any_compressed ? Convention::amrex : Convention::chombo;
  NEVE_TRY(write_root(file, h, h.components));
  NEVE_TRY(write_neve_group(file, h, convention));
  FrameAddresses addresses;
  for (size_t l = 0; l < levels.size(); ++l) {
    const LevelPlacement& level = levels[l];
    const std::string name = level_name(l);
    const Handle group = create_group(file, name);
    if (!group.valid()) return hdf5_failed(name);
    NEVE_TRY(write_level_attributes(group.id(), h, l, level.ghosts, convention).in(name));
    NEVE_TRY(
        write_data_attributes(group.id(), data_attributes_name, h.components.size(), level.ghosts, h.dims)
            .in(name));
    NEVE_TRY(write_boxes(group.id(), h, l, level.processors, convention).in(name));
    NEVE_TRY(write_offsets(group.id(), offsets_name, level.box_offsets).in(name));
    NEVE_TRY(write_field_records(group.id(), field_table_name, level.fields).in(name));
    if (!with_datasets) continue;
    Result<std::vector<uint64_t>> placed = place_data(group.id(), data_name, h.dtype, level, driver);
    if (!placed.ok()) return placed.status().in(name);
    addresses.push_back(std::move(*placed));
  }
  NEVE_TRY(write_covered_notes(file, levels));
  if (!like.empty()) NEVE_TRY(carry_over(file, like, levels.size(), convention));
  return addresses;
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

Result<CheckpointAddresses> write_checkpoint_file(hid_t file, const Hierarchy& h,
                                                  const std::vector<VariablePlacement>& variables,
                                                  SkipDriverState* driver) {
  NEVE_TRY(write_root(file, h, h.components));
  NEVE_TRY(write_neve_group(file, h, Convention::chombo));
  NEVE_TRY(write_variables(file, variables));
  CheckpointAddresses addresses(variables.size());
  for (size_t l = 0; l < h.levels.size(); ++l) {
    const std::string name = level_name(l);
    const Handle group = create_group(file, name);
    if (!group.valid()) return hdf5_failed(name);
    NEVE_TRY(write_level_attributes(group.id(), h, l, {0, 0, 0}, Convention::chombo).in(name));
    NEVE_TRY(
        write_boxes(group.id(), h, l, variables.front().levels[l].processors, Convention::chombo).in(name));
    for (size_t v = 0; v < variables.size(); ++v) {
      const Variable& variable = variables[v].variable;
      const LevelPlacement& placement = variables[v].levels[l];
      const DatasetNames names(checkpoint_base(variable.name));
      NEVE_TRY(write_data_attributes(group.id(), names.attributes, variable.components.size(),
                                     placement.ghosts, h.dims)
                   .in(name));
      NEVE_TRY(write_offsets(group.id(), names.offsets, placement.box_offsets).in(name));
      if (placement.compressed) {
        NEVE_TRY(write_field_records(group.id(), checkpoint_field_table(variable.name), placement.fields)
                     .in(name));
      }
      Result<std::vector<uint64_t>> placed = place_data(group.id(), names.data, h.dtype, placement, driver);
      if (!placed.ok()) return placed.status().in(name);
      addresses[v].push_back(std::move(*placed));
    }
  }
  return addresses;
}

// The system's reason says more than HDF5's "unable to write": put it first when there is one.
Status explain(const Status& status, const std::string& path, const SkipDriverState& driver) {
  if (driver.system_error == 0) return status.in(path);
  return failure(
      fmt::format("{}: cannot {}: {}", path, driver.failed_operation, std::strerror(driver.system_error)));
}

// Calls write(file, driver) on the file, which is emptied or has values up to `data_end`.
template <class Write>
auto write_whole_file(const std::string& path, uint64_t data_end, HeldFile* held, Write&& write)
    -> decltype(write(hid_t{}, static_cast<SkipDriverState*>(nullptr))) {
  const QuietErrors quiet;
  NEVE_TRY(register_filter());
  SkipDriverState driver;
  driver.data_end = data_end;
  driver.held = held;
  const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  NEVE_TRY(use_skip_driver(access.id(), &driver));
  // Newer formats index 1e5 chunks twenty times slower than the oldest one.
  H5Pset_libver_bounds(access.id(), H5F_LIBVER_EARLIEST, H5F_LIBVER_LATEST);
  Handle file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.id()), H5Fclose);
  if (!file.valid()) {
    return explain(failure("HDF5 cannot create it: " + last_error()), path, driver);
  }
  auto addresses = write(file.id(), &driver);
  if (!addresses.ok()) return explain(addresses.status(), path, driver);
  if (!file.close()) {
    return explain(failure("HDF5 cannot finish it: " + last_error()), path, driver);
  }
  if (driver.system_error != 0) return explain(failure("it is incomplete"), path, driver);
  return addresses;
}

Status check_placements(const std::string& path, const Hierarchy& h,
                        const std::vector<LevelPlacement>& levels) {
  if (levels.size() != h.levels.size()) {
    return usage_error(fmt::format("{}: {} placements for {} levels", path, levels.size(), h.levels.size()));
  }
  for (size_t l = 0; l < levels.size(); ++l) NEVE_TRY(check_placement(h, l, levels[l]).in(path));
  return {};
}

Result<FrameAddresses> write_plotfile_skeleton(const std::string& path, const Hierarchy& h,
                                               const std::vector<LevelPlacement>& levels,
                                               const std::string& like, uint64_t data_end, HeldFile* held,
                                               bool with_datasets) {
  NEVE_TRY(check_placements(path, h, levels));
  return write_whole_file(path, data_end, held, [&](hid_t file, SkipDriverState* driver) {
    return write_file(file, h, levels, like, driver, with_datasets);
  });
}

}  // namespace

Result<FrameAddresses> write_skeleton(const std::string& path, const Hierarchy& h,
                                      const std::vector<LevelPlacement>& levels, const std::string& like,
                                      uint64_t data_end, HeldFile* held) {
  return write_plotfile_skeleton(path, h, levels, like, data_end, held, true);
}

Status write_description(const std::string& path, const Hierarchy& h,
                         const std::vector<LevelPlacement>& levels, const std::string& like) {
  return write_plotfile_skeleton(path, h, levels, like, 0, nullptr, false).status();
}

Result<CheckpointAddresses> write_checkpoint_skeleton(const std::string& path, const Hierarchy& h,
                                                      const std::vector<VariablePlacement>& variables,
                                                      uint64_t data_end, HeldFile* held) {
  if (variables.empty()) return usage_error(path + ": a checkpoint needs at least one variable");
  for (const VariablePlacement& variable : variables) NEVE_TRY(check_placements(path, h, variable.levels));
  return write_whole_file(path, data_end, held, [&](hid_t file, SkipDriverState* driver) {
    return write_checkpoint_file(file, h, variables, driver);
  });
}

}  // namespace neve::hdf5
