// SPDX-License-Identifier: BSD-3-Clause
// neve/hierarchy.h.
#include "bindings/c/hierarchy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "bindings/c/box_memory.hpp"
#include "bindings/c/last_error.hpp"
#include "bindings/c/options.hpp"
#include "core/bits/utf8.hpp"
#include "core/catalog/refusals.hpp"
#include "neve/distribution.hpp"
#include "neve/limits.hpp"

namespace {

using neve::out_of_range;
using neve::Status;
using neve::usage_error;
using neve::capi::check_live;
using neve::capi::LastBox;
using neve::capi::reported;

neve::Result<neve::Box> read_box(const neve::Hierarchy& hierarchy, const int* lo, const int* hi) {
  if (lo == nullptr || hi == nullptr) return usage_error("corners of a box are NULL");
  neve::Box box;
  for (size_t d = 0; d < static_cast<size_t>(hierarchy.dims); ++d) {
    box.lo[d] = lo[d];
    box.hi[d] = hi[d];
  }
  if (box.empty()) return usage_error("a box's upper corner lies below its lower corner");
  return box;
}

Status check_name(const std::string& what, const char* name) {
  if (name == nullptr) return usage_error(what + " is NULL");
  return neve::check_utf8(what, name);
}

Status create(int dims, int value_bytes, int components, const char* const* names, neve::Hierarchy& out) {
  if (dims < 1 || dims > neve::max_dims) {
    return usage_error("dims is " + std::to_string(dims) + "; allowed are 1, 2, 3");
  }
  if (value_bytes != 4 && value_bytes != 8) {
    return usage_error("value_bytes is " + std::to_string(value_bytes) + "; allowed are 4 and 8");
  }
  if (components < 1 || components > neve::max_components || names == nullptr) {
    return usage_error(std::to_string(components) + " components" +
                       (names == nullptr ? " without names" : "") + "; 1 to " +
                       std::to_string(neve::max_components) + " with names are allowed");
  }
  out.dims = dims;
  out.dtype = value_bytes == 4 ? neve::DType::f32 : neve::DType::f64;
  for (int c = 0; c < components; ++c) {
    if (names[c] == nullptr) return usage_error("name of component " + std::to_string(c) + " is NULL");
    NEVE_TRY(neve::check_utf8("component " + std::to_string(c), names[c]));
    out.components.emplace_back(names[c]);
  }
  return {};
}

// Cell sizes follow from the domain and its index space.
void settle_cell_sizes(neve::Hierarchy& hierarchy) {
  for (neve::Level& level : hierarchy.levels) {
    for (int d = 0; d < hierarchy.dims; ++d) {
      const auto i = static_cast<size_t>(d);
      level.dx[i] = (hierarchy.prob_hi[i] - hierarchy.prob_lo[i]) / static_cast<double>(level.domain.size(d));
    }
  }
}

// `ratios`: from the level before; null for the first.
Status add_level(neve_hierarchy& hierarchy, const int* lo, const int* hi, const neve::IntVect* ratios) {
  neve::Hierarchy& description = hierarchy.description;
  neve::Level level;
  level.time = description.time;
  NEVE_ASSIGN(level.domain, read_box(description, lo, hi));
  // What follows fails whole, or not at all.
  hierarchy.has_own_time.reserve(description.levels.size() + 1);
  description.levels.reserve(description.levels.size() + 1);
  if (ratios != nullptr) description.levels.back().ref_ratio = *ratios;
  description.levels.push_back(std::move(level));
  hierarchy.has_own_time.push_back(0);
  hierarchy.last.reset();
  settle_cell_sizes(description);
  return {};
}

Status add_level(neve_hierarchy& hierarchy, const int* lo, const int* hi, int ratio) {
  const neve::Hierarchy& description = hierarchy.description;
  if (description.levels.empty()) return add_level(hierarchy, lo, hi, nullptr);
  if (ratio < 2) return usage_error("ref_ratio is " + std::to_string(ratio) + "; at least 2 is needed");
  neve::IntVect ratios{1, 1, 1};
  std::fill_n(ratios.begin(), description.dims, ratio);
  return add_level(hierarchy, lo, hi, &ratios);
}

Status add_level_ratios(neve_hierarchy& hierarchy, const int* lo, const int* hi, const int* given) {
  const neve::Hierarchy& description = hierarchy.description;
  if (description.levels.empty()) return add_level(hierarchy, lo, hi, nullptr);
  if (given == nullptr) return usage_error("ref_ratios is NULL for a level that is not the first");
  neve::IntVect ratios{1, 1, 1};
  for (size_t d = 0; d < static_cast<size_t>(description.dims); ++d) {
    if (given[d] < 1) {
      return usage_error(fmt::format("ref_ratio in direction {} is {}; at least 1 is needed", d, given[d]));
    }
    ratios[d] = given[d];
  }
  return add_level(hierarchy, lo, hi, &ratios);
}

const neve::Box& box_of(const neve_hierarchy& hierarchy, const LastBox& last) {
  return hierarchy.description.levels[static_cast<size_t>(last.level)].boxes[static_cast<size_t>(last.box)];
}

// Where the values of a box lie that is held with its ghosts; strides of 0 are its own.
Status set_strides(const neve_hierarchy& hierarchy, const LastBox& last, neve::BoxData& data) {
  neve::Extents size{1, 1, 1, 1};
  for (int d = 0; d < hierarchy.description.dims; ++d) {
    size[static_cast<size_t>(d)] = box_of(hierarchy, last).size(d) + 2 * int64_t{last.ghosts};
  }
  const bool lie_apart = !last.fields.empty();
  size[3] = lie_apart ? 1 : static_cast<int64_t>(hierarchy.description.components.size());
  std::array<int64_t, 3> given = last.strides.value_or(std::array<int64_t, 3>{0, 0, 0});
  if (lie_apart) given[2] = 0;
  NEVE_ASSIGN(const neve::Strides strides, neve::capi::strides_in_memory(size, given));
  data.stride = {strides[0], strides[1], strides[2], 0};
  data.component_stride = strides[3];
  return {};
}

// Puts the last box, where it has values, among those that are owned, in the layout that is known of it.
Status place_last(neve_hierarchy& hierarchy) {
  LastBox& last = *hierarchy.last;
  neve::LocalBox local;
  local.level = last.level;
  local.box = last.box;
  NEVE_TRY(set_strides(hierarchy, last, local.data));  // wrong ones are refused on every rank
  const void* const first = last.fields.empty() ? last.values : last.fields.front();
  if (first == nullptr) return {};
  int64_t first_valid = 0;
  for (size_t d = 0; d < static_cast<size_t>(hierarchy.description.dims); ++d) {
    local.ghosts[d] = last.ghosts;
    first_valid += local.data.stride[d] * last.ghosts;
  }
  const neve::DType dtype = hierarchy.description.dtype;
  local.data.data =
      static_cast<const std::byte*>(first) + first_valid * static_cast<int64_t>(neve::dtype_bytes(dtype));
  if (!last.fields.empty()) {
    NEVE_ASSIGN(std::vector<int64_t> offsets, neve::component_offsets(dtype, last.fields));
    local.data.component_offsets = hierarchy.offsets.emplace_back(std::move(offsets)).data();
  }
  if (last.owned) {
    hierarchy.owned[*last.owned] = local;
  } else {
    hierarchy.owned.push_back(local);
    last.owned = hierarchy.owned.size() - 1;
  }
  return {};
}

Status add_box(neve_hierarchy& hierarchy, const int* lo, const int* hi, const void* values, int ghosts) {
  neve::Hierarchy& description = hierarchy.description;
  if (description.levels.empty()) return usage_error("a box needs a level; add one first");
  if (ghosts < 0 || ghosts > neve::max_ghosts) {
    return usage_error("ghosts is " + std::to_string(ghosts) + "; 0 to " + std::to_string(neve::max_ghosts) +
                       " are allowed");
  }
  NEVE_ASSIGN(const neve::Box box, read_box(description, lo, hi));
  std::vector<neve::Box>& boxes = description.levels.back().boxes;
  boxes.push_back(box);
  LastBox last;
  last.level = static_cast<int>(description.levels.size()) - 1;
  last.box = static_cast<int>(boxes.size()) - 1;
  last.ghosts = ghosts;
  last.values = values;
  const std::optional<LastBox> before = std::exchange(hierarchy.last, std::move(last));
  // Whole, or not at all, also where memory runs out.
  const Status placed = neve::guarded("a box", [&] { return place_last(hierarchy); });
  if (!placed.ok()) {
    boxes.pop_back();
    hierarchy.last = before;
  }
  return placed;
}

Status check_last(const neve_hierarchy& hierarchy) {
  return hierarchy.last ? Status() : usage_error("there is no box on the finest level yet; add one first");
}

Status set_box_fields(neve_hierarchy& hierarchy, const void* const* fields) {
  NEVE_TRY(check_last(hierarchy));
  if (fields == nullptr) return {};  // another rank's
  const std::span given(fields, hierarchy.description.components.size());
  NEVE_TRY(neve::component_offsets(hierarchy.description.dtype, {given.data(), given.size()}).status());
  const LastBox before = *hierarchy.last;
  hierarchy.last->fields.assign(given.begin(), given.end());
  const Status placed = place_last(hierarchy);
  if (!placed.ok()) hierarchy.last = before;
  return placed;
}

Status set_box_strides(neve_hierarchy& hierarchy, const std::array<int64_t, 3>& strides) {
  NEVE_TRY(check_last(hierarchy));
  const auto before = std::exchange(hierarchy.last->strides, strides);
  const Status placed = place_last(hierarchy);
  if (!placed.ok()) hierarchy.last->strides = before;
  return placed;
}

neve::Result<const neve::Level*> live_level(const neve_hierarchy* hierarchy, int level) {
  NEVE_TRY(check_live(hierarchy));
  return neve::capi::level_of(hierarchy->description, level);
}

Status describe(const neve_hierarchy* hierarchy, neve_hierarchy_description* out) {
  NEVE_TRY(check_live(hierarchy));
  if (out == nullptr) return usage_error("description is NULL");
  const neve::Hierarchy& h = hierarchy->description;
  neve_hierarchy_description d{};
  d.dims = h.dims;
  d.value_bytes = static_cast<int>(neve::dtype_bytes(h.dtype));
  d.components = static_cast<int>(h.components.size());
  d.levels = static_cast<int>(h.levels.size());
  d.side_files = static_cast<int>(h.side_files.size());
  d.coordinates = h.coord_sys;
  d.time = h.time;
  std::copy(h.prob_lo.begin(), h.prob_lo.end(), d.prob_lo);
  std::copy(h.prob_hi.begin(), h.prob_hi.end(), d.prob_hi);
  return neve::capi::fill_struct("neve_hierarchy_description", "hierarchy.h", d, out);
}

Status describe_level(const neve_hierarchy* hierarchy, int number, neve_level_description* out) {
  NEVE_ASSIGN(const neve::Level* const level, live_level(hierarchy, number));
  if (out == nullptr) return usage_error("description is NULL");
  neve_level_description d{};
  d.boxes = static_cast<int>(level->boxes.size());
  d.step = level->step;
  d.time = level->time;
  std::copy(level->domain.lo.begin(), level->domain.lo.end(), d.lo);
  std::copy(level->domain.hi.begin(), level->domain.hi.end(), d.hi);
  std::copy(level->ref_ratio.begin(), level->ref_ratio.end(), d.ref_ratios);
  std::copy(level->dx.begin(), level->dx.end(), d.dx);
  return neve::capi::fill_struct("neve_level_description", "hierarchy.h", d, out);
}

Status describe_box(const neve_hierarchy* hierarchy, int level, int number, int* lo, int* hi) {
  NEVE_TRY(check_live(hierarchy));
  NEVE_ASSIGN(const neve::Box* const box, neve::capi::box_of(hierarchy->description, level, number));
  if (lo == nullptr || hi == nullptr) return usage_error("corners of a box are NULL");
  std::copy_n(box->lo.begin(), hierarchy->description.dims, lo);
  std::copy_n(box->hi.begin(), hierarchy->description.dims, hi);
  return {};
}

Status find_side_file(const neve_hierarchy* hierarchy, const char* name, const char** bytes, size_t* size) {
  NEVE_TRY(check_live(hierarchy));
  if (name == nullptr || bytes == nullptr || size == nullptr) {
    return usage_error(name == nullptr ? "name is NULL" : "bytes or size is NULL");
  }
  const auto& files = hierarchy->description.side_files;
  const auto found = files.find(name);
  if (found == files.end()) {
    return usage_error(fmt::format("there is no side file \"{}\" among {}", name, files.size()));
  }
  *bytes = found->second.c_str();
  *size = found->second.size();
  return {};
}

Status distribute(const neve_hierarchy* hierarchy, int ranks, int level, int* owners) {
  NEVE_TRY(live_level(hierarchy, level).status());
  if (owners == nullptr) return usage_error("owners is NULL");
  NEVE_ASSIGN(const auto owner, neve::distribute_boxes(hierarchy->description, ranks, {}));
  const std::vector<int>& of_level = owner[static_cast<size_t>(level)];
  std::copy(of_level.begin(), of_level.end(), owners);
  return {};
}

}  // namespace

namespace neve::capi {

Result<const Level*> level_of(const Hierarchy& hierarchy, int level) {
  const std::vector<Level>& levels = hierarchy.levels;
  if (levels.empty()) return usage_error("the hierarchy has no levels");
  if (level < 0 || static_cast<size_t>(level) >= levels.size()) {
    return out_of_range("level", level, 0, levels.size() - 1);
  }
  return &levels[static_cast<size_t>(level)];
}

Result<const Box*> box_of(const Hierarchy& hierarchy, int level, int box) {
  NEVE_ASSIGN(const Level* const of, level_of(hierarchy, level));
  if (box < 0 || static_cast<size_t>(box) >= of->boxes.size()) {
    return usage_error(
        fmt::format("box {} of level {} asked for, which has {} boxes", box, level, of->boxes.size()));
  }
  return &of->boxes[static_cast<size_t>(box)];
}

Status check_component(const std::vector<std::string>& names, int component) {
  if (component >= 0 && static_cast<size_t>(component) < names.size()) return {};
  return usage_error(fmt::format("component {} asked for; there are {}", component, names.size()));
}

}  // namespace neve::capi

neve_hierarchy* neve_hierarchy_create(int dims, int value_bytes, int components, const char* const* names) {
  std::unique_ptr<neve_hierarchy> hierarchy;
  const int code = reported([&] {
    hierarchy = std::make_unique<neve_hierarchy>();
    return create(dims, value_bytes, components, names, hierarchy->description);
  });
  return code == 0 ? hierarchy.release() : nullptr;
}

void neve_hierarchy_free(neve_hierarchy* hierarchy) { delete hierarchy; }

int neve_hierarchy_set_time(neve_hierarchy* hierarchy, double time) {
  return reported([&]() -> Status {
    NEVE_TRY(check_live(hierarchy));
    neve::Hierarchy& h = hierarchy->description;
    h.time = time;
    for (size_t l = 0; l < h.levels.size(); ++l) {
      if (hierarchy->has_own_time[l] == 0) h.levels[l].time = time;
    }
    return {};
  });
}

int neve_hierarchy_set_domain(neve_hierarchy* hierarchy, const double* prob_lo, const double* prob_hi) {
  return reported([&]() -> Status {
    NEVE_TRY(check_live(hierarchy));
    if (prob_lo == nullptr || prob_hi == nullptr) return usage_error("corners of the domain are NULL");
    for (size_t d = 0; d < static_cast<size_t>(hierarchy->description.dims); ++d) {
      hierarchy->description.prob_lo[d] = prob_lo[d];
      hierarchy->description.prob_hi[d] = prob_hi[d];
    }
    settle_cell_sizes(hierarchy->description);
    return {};
  });
}

int neve_hierarchy_set_coordinates(neve_hierarchy* hierarchy, int coordinates) {
  return reported([&]() -> Status {
    NEVE_TRY(check_live(hierarchy));
    if (coordinates < 0 || coordinates > 2) return out_of_range("coordinates", coordinates, 0, 2);
    hierarchy->description.coord_sys = coordinates;
    return {};
  });
}

int neve_hierarchy_add_side_file(neve_hierarchy* hierarchy, const char* name, const void* bytes,
                                 size_t size) {
  return reported([&]() -> Status {
    NEVE_TRY(check_live(hierarchy));
    NEVE_TRY(check_name("the name of a side file", name));
    if (*name == '\0') return usage_error("the name of a side file is empty");
    if (bytes == nullptr && size > 0) {
      return usage_error(fmt::format("side file \"{}\" has {} bytes at NULL", name, size));
    }
    const auto* const text = static_cast<const char*>(bytes);
    hierarchy->description.side_files.insert_or_assign(name, std::string(text, text + size));
    return {};
  });
}

int neve_hierarchy_add_level(neve_hierarchy* hierarchy, const int* lo, const int* hi, int ref_ratio) {
  return reported([&]() -> Status {
    NEVE_TRY(check_live(hierarchy));
    return add_level(*hierarchy, lo, hi, ref_ratio);
  });
}

int neve_hierarchy_add_level_ratios(neve_hierarchy* hierarchy, const int* lo, const int* hi,
                                    const int* ref_ratios) {
  return reported([&]() -> Status {
    NEVE_TRY(check_live(hierarchy));
    return add_level_ratios(*hierarchy, lo, hi, ref_ratios);
  });
}

int neve_hierarchy_set_level_step(neve_hierarchy* hierarchy, int level, int step) {
  return reported([&]() -> Status {
    NEVE_TRY(live_level(hierarchy, level).status());
    hierarchy->description.levels[static_cast<size_t>(level)].step = step;
    return {};
  });
}

int neve_hierarchy_set_level_time(neve_hierarchy* hierarchy, int level, double time) {
  return reported([&]() -> Status {
    NEVE_TRY(live_level(hierarchy, level).status());
    hierarchy->description.levels[static_cast<size_t>(level)].time = time;
    hierarchy->has_own_time[static_cast<size_t>(level)] = 1;
    return {};
  });
}

int neve_hierarchy_add_box(neve_hierarchy* hierarchy, const int* lo, const int* hi, const void* values,
                           int ghosts) {
  return reported([&]() -> Status {
    NEVE_TRY(check_live(hierarchy));
    return add_box(*hierarchy, lo, hi, values, ghosts);
  });
}

int neve_hierarchy_set_box_fields(neve_hierarchy* hierarchy, const void* const* fields) {
  return reported([&]() -> Status {
    NEVE_TRY(check_live(hierarchy));
    return set_box_fields(*hierarchy, fields);
  });
}

int neve_hierarchy_set_box_strides(neve_hierarchy* hierarchy, long long stride_y, long long stride_z,
                                   long long component_stride) {
  return reported([&]() -> Status {
    NEVE_TRY(check_live(hierarchy));
    return set_box_strides(*hierarchy, {stride_y, stride_z, component_stride});
  });
}

int neve_hierarchy_info(const neve_hierarchy* hierarchy, neve_hierarchy_description* description) {
  return reported([&] { return describe(hierarchy, description); });
}

int neve_level_info(const neve_hierarchy* hierarchy, int level, neve_level_description* description) {
  return reported([&] { return describe_level(hierarchy, level, description); });
}

int neve_hierarchy_box(const neve_hierarchy* hierarchy, int level, int box, int* lo, int* hi) {
  return reported([&] { return describe_box(hierarchy, level, box, lo, hi); });
}

const char* neve_hierarchy_component(const neve_hierarchy* hierarchy, int component) {
  const char* name = nullptr;
  (void)reported([&]() -> Status {
    NEVE_TRY(check_live(hierarchy));
    const std::vector<std::string>& names = hierarchy->description.components;
    NEVE_TRY(neve::capi::check_component(names, component));
    name = names[static_cast<size_t>(component)].c_str();
    return {};
  });
  return name;
}

const char* neve_hierarchy_side_file_name(const neve_hierarchy* hierarchy, int number) {
  const char* name = nullptr;
  (void)reported([&]() -> Status {
    NEVE_TRY(check_live(hierarchy));
    const auto& files = hierarchy->description.side_files;
    if (number < 0 || static_cast<size_t>(number) >= files.size()) {
      return usage_error(fmt::format("side file {} asked for; the hierarchy has {}", number, files.size()));
    }
    name = std::next(files.begin(), number)->first.c_str();
    return {};
  });
  return name;
}

int neve_hierarchy_side_file(const neve_hierarchy* hierarchy, const char* name, const char** bytes,
                             size_t* size) {
  return reported([&] { return find_side_file(hierarchy, name, bytes, size); });
}

int neve_hierarchy_distribute(const neve_hierarchy* hierarchy, int ranks, int level, int* owners) {
  return reported([&] { return distribute(hierarchy, ranks, level, owners); });
}
