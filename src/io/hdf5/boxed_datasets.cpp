// SPDX-License-Identifier: BSD-3-Clause
#include "io/hdf5/boxed_datasets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <set>

#include "core/amr/grow.hpp"
#include "io/hdf5/amr_file.hpp"
#include "io/hdf5/attributes.hpp"
#include "io/hdf5/errors.hpp"
#include "io/hdf5/header_parts.hpp"
#include "io/hdf5/layout_names.hpp"
#include "io/hdf5/link_names.hpp"
#include "neve/limits.hpp"

namespace neve::hdf5 {
namespace {

struct Described {
  std::optional<int32_t> components;
  std::optional<IntVect> written_ghosts;  // outputGhost: what stands in the file
  std::optional<IntVect> held_ghosts;     // ghost: what the run had
  std::string object = "FArrayBox";
};

Result<Described> read_description(hid_t level_group, const std::string& name, int dims) {
  Described described;
  if (!has_link(level_group, name)) return described;
  NEVE_ASSIGN(const Handle group, open_group(level_group, name));
  const hid_t id = group.id();
  if (has_attribute(id, "comps")) {
    NEVE_ASSIGN(described.components, read_int(id, name, "comps"));
  }
  if (has_attribute(id, "outputGhost")) {
    NEVE_ASSIGN(described.written_ghosts, read_intvect_attribute(id, name, "outputGhost", dims));
  }
  if (has_attribute(id, "ghost")) {
    NEVE_ASSIGN(described.held_ghosts, read_intvect_attribute(id, name, "ghost", dims));
  }
  if (has_attribute(id, "objectType")) {
    NEVE_ASSIGN(described.object, read_string(id, name, "objectType"));
  }
  return described;
}

// How the boxes' elements fit into the room that the offsets give them.
enum class Fit : uint8_t { none, with_gaps, exactly };

Fit fit_boxes(const std::vector<Box>& boxes, const BoxedDataset& data) {
  std::vector<size_t> order(boxes.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return data.box_offsets[a] < data.box_offsets[b]; });
  Fit fit = Fit::exactly;
  for (size_t i = 0; i < order.size(); ++i) {
    const int64_t begin = data.box_offsets[order[i]];
    const bool is_last = i + 1 == order.size();
    const int64_t end = is_last ? static_cast<int64_t>(data.elements) : data.box_offsets[order[i + 1]];
    int64_t needed = 0;
    if (!count_elements(boxes[order[i]], data.ghosts, static_cast<size_t>(data.components), &needed) ||
        begin < 0 || begin > end || end - begin < needed) {
      return Fit::none;
    }
    if (end - begin != needed) fit = Fit::with_gaps;
  }
  return fit;
}

bool are_ghosts(const IntVect& ghosts) {
  return std::all_of(ghosts.begin(), ghosts.end(), [](int32_t g) { return g >= 0 && g <= max_ghosts; });
}

// Components as the first box has them, where nothing in the file says how many there are.
int32_t guess_components(const std::vector<Box>& boxes, const BoxedDataset& data) {
  if (boxes.empty() || data.box_offsets[0] < 0 || data.box_offsets[1] < 0) return 1;
  const int64_t room = data.box_offsets[1] - data.box_offsets[0];
  const int64_t cells = boxes.front().cells();
  return cells > 0 && room % cells == 0 && room / cells >= 1 && room / cells <= max_components
             ? static_cast<int32_t>(room / cells)
             : 1;
}

// Says how the boxes lie in the dataset, or why nobody knows.
void settle_boxes(const std::vector<Box>& boxes, const Described& described, BoxedDataset& data) {
  if (data.box_offsets.size() != boxes.size() + 1) {
    data.not_cells = fmt::format("it has {} offsets for {} boxes", data.box_offsets.size(), boxes.size());
    return;
  }
  data.components = described.components.value_or(guess_components(boxes, data));
  if (data.components < 1 || data.components > max_components) {
    data.not_cells = fmt::format("it has {} components", data.components);
    return;
  }
  // Files that do not say what was written wrote either all ghosts that the run had or none.
  std::vector<IntVect> candidates;
  if (described.written_ghosts) {
    candidates = {*described.written_ghosts};
  } else {
    if (described.held_ghosts) candidates.push_back(*described.held_ghosts);
    candidates.push_back(amr::no_ghosts);
  }
  Fit best = Fit::none;
  for (const IntVect& ghosts : candidates) {
    if (!are_ghosts(ghosts)) continue;
    BoxedDataset tried = data;
    tried.ghosts = ghosts;
    const Fit fit = fit_boxes(boxes, tried);
    if (fit <= best) continue;
    best = fit;
    data.ghosts = ghosts;
  }
  // Values on faces take more room than those of cells: only what says that it is cells may have gaps.
  const bool may_have_gaps = described.object == "FArrayBox" && described.written_ghosts.has_value();
  if (best == Fit::none || (best == Fit::with_gaps && !may_have_gaps)) {
    data.not_cells = fmt::format("its elements are not {} components of the level's boxes (objectType {})",
                                 data.components, described.object);
  }
}

Result<BoxedDataset> read_boxed(hid_t level_group, const std::string& place, const std::string& name,
                                const std::vector<Box>& boxes, int dims) {
  BoxedDataset data;
  data.path = place + "/" + name;
  data.base = boxed_base(name);
  const std::string number = name.substr(data.base.size() + std::string(":datatype=").size());
  const Handle dataset(H5Dopen2(level_group, name.c_str(), H5P_DEFAULT), H5Dclose);
  if (!dataset.valid()) return corrupt(fmt::format("{} cannot be opened: {}", data.path, last_error()));
  const Handle space(H5Dget_space(dataset.id()), H5Sclose);
  const hssize_t elements = H5Sget_simple_extent_npoints(space.id());
  if (H5Sget_simple_extent_ndims(space.id()) != 1 || elements < 0) {
    data.not_cells = fmt::format("it has {} dimensions", H5Sget_simple_extent_ndims(space.id()));
    return data;
  }
  data.elements = static_cast<uint64_t>(elements);
  const std::string offsets = data.base + ":offsets=" + number;
  if (!has_link(level_group, offsets)) {
    data.not_cells = fmt::format("{} is missing", offsets);
    return data;
  }
  if (number != "0" || has_link(level_group, DatasetNames(data.base).second_data)) {
    data.not_cells = "its values have several types";
  }
  NEVE_ASSIGN(data.box_offsets, read_offsets(level_group, offsets));
  NEVE_ASSIGN(const Described described,
              read_description(level_group, DatasetNames(data.base).attributes, dims));
  if (data.not_cells.empty()) settle_boxes(boxes, described, data);
  return data;
}

// Names of the root, in whichever way it numbers them; empty where they do not stand there.
std::vector<std::string> root_components(hid_t file, int32_t count) {
  std::vector<std::string> names;
  for (int32_t c = 0; c < count; ++c) {
    std::string found;
    for (const std::string& attribute :
         {component_name(static_cast<size_t>(c)), fmt::format("component_{:04}", c)}) {
      if (!has_attribute(file, attribute)) continue;
      const Result<std::string> name = read_string(file, "the file", attribute);
      if (name.ok()) found = *name;
    }
    if (found.empty()) return {};
    names.push_back(std::move(found));
  }
  const std::set<std::string> different(names.begin(), names.end());
  return different.size() == names.size() ? names : std::vector<std::string>();
}

}  // namespace

std::vector<std::string> boxed_component_names(hid_t file, const BoxedDataset& data) {
  if (data.base == plotfile_base) {
    std::vector<std::string> names = root_components(file, data.components);
    if (!names.empty()) return names;
  }
  if (data.components == 1) return {data.base};
  std::vector<std::string> names;
  for (int c = 0; c < data.components; ++c) names.push_back(std::to_string(c));
  return names;
}

Result<int> read_space_dims(hid_t file) {
  NEVE_ASSIGN(const Handle global, open_group(file, global_name));
  NEVE_ASSIGN(const int32_t dims, read_int(global.id(), global_name, "SpaceDim"));
  if (dims < 1 || dims > max_dims) {
    return corrupt(
        fmt::format("{}: attribute SpaceDim is {}; 1 to {} are allowed", global_name, dims, max_dims));
  }
  return dims;
}

Result<std::vector<BoxedLevel>> read_boxed_datasets(hid_t file) {
  NEVE_ASSIGN(const int dims, read_space_dims(file));
  std::vector<BoxedLevel> levels;
  uint64_t boxes_before = 0;
  while (levels.size() < static_cast<size_t>(max_levels) && has_link(file, level_name(levels.size()))) {
    const std::string place = level_name(levels.size());
    NEVE_ASSIGN(const Handle group, open_group(file, place));
    BoxedLevel level;
    if (has_link(group.id(), boxes_name)) {
      auto boxes = read_boxes(group.id(), dims, boxes_before);
      if (!boxes.ok()) return boxes.status().in(place);
      level.boxes = std::move(*boxes);
      boxes_before += level.boxes.size();
    }
    NEVE_ASSIGN(const std::vector<std::string> names, link_names(group.id()));
    for (const std::string& name : names) {
      if (boxed_base(name).empty()) continue;
      auto data = read_boxed(group.id(), place, name, level.boxes, dims);
      if (!data.ok()) return data.status().in(place);
      level.datasets.push_back(std::move(*data));
    }
    levels.push_back(std::move(level));
  }
  return levels;
}

}  // namespace neve::hdf5
