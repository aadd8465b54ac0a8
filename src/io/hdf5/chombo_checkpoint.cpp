// SPDX-License-Identifier: BSD-3-Clause
#include "io/hdf5/chombo_checkpoint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/amr/grow.hpp"
#include "io/hdf5/attributes.hpp"
#include "io/hdf5/boxed_datasets.hpp"
#include "io/hdf5/errors.hpp"
#include "io/hdf5/field_records.hpp"
#include "io/hdf5/header_parts.hpp"
#include "io/hdf5/layout_names.hpp"
#include "io/hdf5/link_names.hpp"

namespace neve::hdf5 {
namespace {

const BoxedDataset* find_dataset(const BoxedLevel& level, const std::string& base) {
  const auto found = std::find_if(level.datasets.begin(), level.datasets.end(),
                                  [&](const BoxedDataset& data) { return data.base == base; });
  return found == level.datasets.end() ? nullptr : &*found;
}

// Why a dataset of level 0 is no variable of all levels; empty where it is one.
std::string not_a_variable(const BoxedDataset& of_level_0, const std::vector<BoxedLevel>& levels,
                           size_t level_count) {
  for (size_t l = 0; l < level_count; ++l) {
    const BoxedDataset* data = find_dataset(levels[l], of_level_0.base);
    if (data == nullptr) return fmt::format("{} has none", level_name(l));
    if (!data->not_cells.empty()) return fmt::format("{}: {}", level_name(l), data->not_cells);
    if (data->components != of_level_0.components || data->ghosts != of_level_0.ghosts) {
      return fmt::format("{} has other components or ghosts than level_0", level_name(l));
    }
  }
  return {};
}

class Reader {
 public:
  Reader(hid_t file, uint64_t file_bytes, CheckpointHeader* header)
      : file_(file), file_bytes_(file_bytes), header_(header) {}

  Status read() {
    NEVE_TRY(read_levels());
    for (const BoxedDataset& data : boxed_.front().datasets) {
      const std::string reason = not_a_variable(data, boxed_, whole_.hierarchy.levels.size());
      if (reason.empty()) {
        NEVE_TRY(add_variable(data));
      } else {
        header_->others.push_back(fmt::format("level_0/{} and the like ({})", data.base, reason));
      }
    }
    NEVE_TRY(list_others());
    return finish();
  }

 private:
  Status read_levels() {
    NEVE_ASSIGN(whole_.hierarchy.dims, read_space_dims(file_));
    Hierarchy& h = whole_.hierarchy;
    if (has_attribute(file_, "time")) {
      NEVE_ASSIGN(h.time, read_double(file_, "the file", "time"));
    }
    if (has_attribute(file_, "coordinate_system")) {
      NEVE_ASSIGN(h.coord_sys, read_int(file_, "the file", "coordinate_system"));
    }
    NEVE_ASSIGN(boxed_, read_boxed_datasets(file_));
    size_t count = 0;
    while (count < boxed_.size() && !boxed_[count].boxes.empty()) ++count;
    if (count == 0) return corrupt("level_0 is missing or has no boxes");
    for (size_t l = 0; l < boxed_.size(); ++l) {
      if (l >= count) {
        header_->others.push_back(
            fmt::format("{}, the first without boxes and what follows it", level_name(l)));
        break;
      }
      NEVE_ASSIGN(const Handle group, open_group(file_, level_name(l)));
      NEVE_ASSIGN(Level level, read_level_geometry(file_, group.id(), l, count, whole_));
      h.levels.push_back(std::move(level));
    }
    const Level& coarsest = h.levels.front();
    for (int d = 0; d < h.dims; ++d) {
      h.prob_lo[d] = coarsest.dx[d] * coarsest.domain.lo[d];
      h.prob_hi[d] = coarsest.dx[d] * (coarsest.domain.hi[d] + 1.0);
    }
    if (!has_attribute(file_, "time")) h.time = coarsest.time;
    return {};
  }

  // One that cannot be read with the others (other types than floats, or than the first's) is kept aside.
  Status add_variable(const BoxedDataset& of_level_0) {
    const Hierarchy& h = whole_.hierarchy;
    Variable variable;
    variable.name = of_level_0.base;
    variable.components = boxed_component_names(file_, of_level_0);
    variable.ghosts = of_level_0.ghosts;
    variable.compress = false;
    PlotfileHeader data;
    data.hierarchy.components = variable.components;
    data.hierarchy.dims = h.dims;
    data.file_bytes = file_bytes_;
    for (size_t l = 0; l < h.levels.size(); ++l) {
      NEVE_ASSIGN(const Handle group, open_group(file_, level_name(l)));
      auto found = read_level_data(group.id(), DatasetNames(variable.name), h.levels[l], h.dims,
                                   variable.components.size(), false);
      const bool is_other = found.ok() ? !header_->variables.empty() && found->dtype != whole_.hierarchy.dtype
                                       : found.status().code() == Code::usage;
      if (is_other || (found.ok() && l > 0 && found->dtype != data.hierarchy.dtype)) {
        header_->others.push_back(fmt::format(
            "level_{}/{} and the like ({})", l, variable.name,
            found.ok() ? "values of another type than the first variable's" : found.status().message()));
        return {};
      }
      if (!found.ok()) return found.status().in(level_name(l));
      data.hierarchy.dtype = found->dtype;
      NEVE_ASSIGN(found->data.fields,
                  read_field_records(group.id(), level_name(l), boxed_field_table(variable.name)));
      found->data.ghosts = {0, 0, 0};  // in the boxes
      variable.compress |= found->data.holds_frames();
      data.hierarchy.levels.push_back(h.levels[l]);
      amr::grow_boxes(data.hierarchy.levels.back(), variable.ghosts);
      data.levels.push_back(std::move(found->data));
    }
    for (const LevelData& level : data.levels) {
      for (const FieldRecord& record : level.fields) {
        if (record.asked.mode != BoundMode::lossless) variable.bound = record.asked;
      }
    }
    if (header_->variables.empty()) whole_.hierarchy.dtype = data.hierarchy.dtype;
    header_->variables.push_back(std::move(variable));
    header_->data.push_back(std::move(data));
    return {};
  }

  // What else there is, groups and datasets alike: kept by a copy, and no variable.
  Status list_others() {
    NEVE_ASSIGN(const std::vector<std::string> of_root, link_names(file_));
    for (const std::string& name : of_root) {
      if (name != global_name && !name.starts_with("level_")) header_->others.push_back(name);
    }
    for (size_t l = 0; l < whole_.hierarchy.levels.size(); ++l) {
      std::set<std::string> known = {boxes_name, processors_name};
      for (const BoxedDataset& data : boxed_[l].datasets) {
        const DatasetNames names(data.base);
        known.insert({names.data, names.offsets, names.attributes, boxed_field_table(data.base)});
      }
      NEVE_ASSIGN(const Handle group, open_group(file_, level_name(l)));
      NEVE_ASSIGN(const std::vector<std::string> names, link_names(group.id()));
      for (const std::string& name : names) {
        if (!known.contains(name)) header_->others.push_back(level_name(l) + "/" + name);
      }
    }
    return {};
  }

  Status finish() {
    if (header_->variables.empty()) {
      return usage_error("it is a checkpoint without a variable on cells that all levels have");
    }
    Hierarchy& h = whole_.hierarchy;
    for (const Variable& variable : header_->variables) {
      for (const std::string& component : variable.components) {
        h.components.push_back(variable.components.size() == 1 && component == variable.name
                                   ? component
                                   : variable.name + " " + component);
      }
    }
    const Status consistent = check_hierarchy(h);
    if (!consistent.ok()) return corrupt(consistent.message());
    header_->hierarchy = std::move(h);
    return {};
  }

  hid_t file_;
  uint64_t file_bytes_;
  CheckpointHeader* header_;
  PlotfileHeader whole_;
  std::vector<BoxedLevel> boxed_;
};

}  // namespace

Status read_chombo_checkpoint(Handle file, uint64_t file_bytes, CheckpointHeader* header) {
  NEVE_TRY(Reader(file.id(), file_bytes, header).read());
  header->file = std::move(file);
  return {};
}

}  // namespace neve::hdf5
