// SPDX-License-Identifier: BSD-3-Clause
#include "io/hdf5/carry_over.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "io/hdf5/attributes.hpp"
#include "io/hdf5/errors.hpp"
#include "io/hdf5/header_parts.hpp"
#include "io/hdf5/layout_names.hpp"
#include "io/hdf5/link_names.hpp"
#include "io/hdf5/open_to_read.hpp"

namespace neve::hdf5 {
namespace {

// Attributes that say how a file is made, by where they stand. Whoever makes a file writes its own.
const std::set<std::string_view> of_root = {
    "version_name", "plotfile_type", "filetype",          "num_components", "dim",
    "num_levels",   "finest_level",  "coordinate_system", covered_note_name};
const std::set<std::string_view> of_level = {
    "prob_domain", "dx",          "Vec_dx",          "prob_lo",     "prob_hi",           "ngrid",
    "ngrow",       "domain_type", covered_note_name, exact_dx_name, exact_ref_ratio_name};
const std::set<std::string_view> of_data = {"comps", "outputGhost"};
const std::set<std::string_view> of_global = {"SpaceDim"};
const std::set<std::string_view> of_neve = {layout_version_name, "prob_lo", "prob_hi", "source_ghosts"};

// What AMReX's Header says too.
const std::set<std::string_view> in_amrex = {"time", "ref_ratio", "steps", "iteration"};

// The finest level that a run may make: the Header says only which it has.
bool is_finest_level(hid_t file, const std::string& name, size_t levels) {
  if (name != "max_level") return false;
  const Result<int32_t> value = read_int(file, "the file", name);
  return value.ok() && *value >= 0 && static_cast<size_t>(*value) + 1 == levels;
}

bool is_component_name(std::string_view name) {
  constexpr std::string_view prefix = "component_";
  return name.starts_with(prefix) &&
         name.find_first_not_of("0123456789", prefix.size()) == std::string_view::npos;
}

Result<std::vector<std::string>> attribute_names(hid_t object) {
  std::vector<std::string> names;
  const auto collect = [](hid_t, const char* name, const H5A_info_t*, void* out) -> herr_t {
    static_cast<std::vector<std::string>*>(out)->emplace_back(name);
    return 0;
  };
  hsize_t at = 0;
  if (H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_INC, &at, collect, &names) < 0) {
    return corrupt(fmt::format("attributes cannot be listed: {}", last_error()));
  }
  return names;
}

// Any type but references, which would lead into the other file.
Status copy_attribute(hid_t from, hid_t to, const std::string& name) {
  const Handle source(H5Aopen(from, name.c_str(), H5P_DEFAULT), H5Aclose);
  const Handle type(H5Aget_type(source.id()), H5Tclose);
  const Handle space(H5Aget_space(source.id()), H5Sclose);
  if (!source.valid() || !type.valid() || !space.valid()) {
    return corrupt(fmt::format("attribute {} cannot be opened: {}", name, last_error()));
  }
  if (H5Tdetect_class(type.id(), H5T_REFERENCE) > 0) {
    return usage_error(fmt::format(
        "attribute {} holds references into its own file, which no other file can have; remove it first",
        name));
  }
  const Handle own(H5Tcopy(type.id()), H5Tclose);  // of a named type, the type alone
  const hssize_t count = H5Sget_simple_extent_npoints(space.id());
  // HDF5 keeps an attribute in its object's header: 64 KiB.
  constexpr uint64_t max_bytes = uint64_t{1} << 20;
  const uint64_t bytes = static_cast<uint64_t>(std::max<hssize_t>(count, 0)) * H5Tget_size(type.id());
  if (count < 0 || bytes > max_bytes) {
    return corrupt(
        fmt::format("attribute {} claims {} bytes; at most {} are allowed", name, bytes, max_bytes));
  }
  std::vector<std::byte> values(bytes);
  if (count > 0 && H5Aread(source.id(), own.id(), values.data()) < 0) {
    return corrupt(fmt::format("attribute {} cannot be read: {}", name, last_error()));
  }
  herr_t written = H5Aexists(to, name.c_str()) > 0 ? H5Adelete(to, name.c_str()) : 0;
  if (written >= 0) {
    const Handle made(H5Acreate2(to, name.c_str(), own.id(), space.id(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
    written = !made.valid() ? -1 : count > 0 ? H5Awrite(made.id(), own.id(), values.data()) : 0;
  }
  if (count > 0) H5Dvlen_reclaim(own.id(), space.id(), H5P_DEFAULT, values.data());
  return written < 0 ? hdf5_failed("attribute " + name) : Status();
}

bool is_one_value(hid_t object, const std::string& name) {
  const Handle attribute(H5Aopen(object, name.c_str(), H5P_DEFAULT), H5Aclose);
  const Handle space(H5Aget_space(attribute.id()), H5Sclose);
  return H5Sget_simple_extent_npoints(space.id()) == 1;
}

// Those of `from` that are not among `own`; those that are not one value to `lists`, where there is one.
Status copy_others(hid_t from, hid_t to, const std::set<std::string_view>& own,
                   hid_t lists = H5I_INVALID_HID) {
  NEVE_ASSIGN(const std::vector<std::string> names, attribute_names(from));
  for (const std::string& name : names) {
    if (own.contains(name) || (&own == &of_root && is_component_name(name))) continue;
    const bool aside = lists != H5I_INVALID_HID && !is_one_value(from, name);
    NEVE_TRY(copy_attribute(from, aside ? lists : to, name));
  }
  return {};
}

Status carry_level(hid_t source, hid_t target, const std::string& name, Convention convention) {
  NEVE_ASSIGN(const Handle from, open_group(source, name));
  NEVE_ASSIGN(const Handle to, open_group(target, name));
  const std::string in_neve = std::string(neve_name) + "/" + name;
  Handle aside;
  if (convention == Convention::chombo) {
    NEVE_ASSIGN(aside, open_group(target, in_neve));
  }
  const hid_t lists = convention == Convention::chombo ? aside.id() : H5I_INVALID_HID;
  NEVE_TRY(copy_others(from.id(), to.id(), of_level, lists));
  if (has_link(source, in_neve)) {
    NEVE_ASSIGN(const Handle neve, open_group(source, in_neve));
    NEVE_TRY(copy_others(neve.id(), convention == Convention::chombo ? aside.id() : to.id(), of_level));
  }
  if (!has_link(from.id(), data_attributes_name)) return {};
  NEVE_ASSIGN(const Handle data, open_group(from.id(), data_attributes_name));
  NEVE_ASSIGN(const Handle of_copy, open_group(to.id(), data_attributes_name));
  return copy_others(data.id(), of_copy.id(), of_data);
}

// Groups and datasets of the root that no plotfile has by itself.
Status copy_objects(hid_t source, hid_t target) {
  NEVE_ASSIGN(const std::vector<std::string> names, link_names(source));
  for (const std::string& name : names) {
    const bool is_own = name == global_name || name == neve_name || name == vtkhdf_name;
    if (is_own || name.starts_with("level_")) continue;
    if (H5Ocopy(source, name.c_str(), target, name.c_str(), H5P_DEFAULT, H5P_DEFAULT) < 0) {
      return hdf5_failed(name);
    }
  }
  return {};
}

}  // namespace

Status carry_over(hid_t target, const std::string& source, size_t levels, Convention convention) {
  const Result<Handle> opened = open_file_to_read(source);
  if (!opened.ok()) return opened.status().in(source);
  const Handle& from = *opened;
  const auto carry = [&]() -> Status {
    NEVE_ASSIGN(const Handle neve, open_group(target, neve_name));
    const hid_t lists = convention == Convention::chombo ? neve.id() : H5I_INVALID_HID;
    NEVE_TRY(copy_others(from.id(), target, of_root, lists));
    if (has_link(from.id(), neve_name)) {
      NEVE_ASSIGN(const Handle of_source, open_group(from.id(), neve_name));
      NEVE_TRY(copy_others(of_source.id(), neve.id(), of_neve));
    }
    NEVE_ASSIGN(const Handle global, open_group(from.id(), global_name));
    NEVE_ASSIGN(const Handle of_target, open_group(target, global_name));
    NEVE_TRY(copy_others(global.id(), of_target.id(), of_global));
    for (size_t l = 0; l < levels; ++l) {
      NEVE_TRY(carry_level(from.id(), target, level_name(l), convention).in(level_name(l)));
    }
    return copy_objects(from.id(), target);
  };
  return carry().in(source);
}

Result<std::vector<std::string>> carried_attributes(hid_t file, size_t levels) {
  std::vector<std::string> found;
  NEVE_ASSIGN(const std::vector<std::string> names, attribute_names(file));
  for (const std::string& name : names) {
    if (!of_root.contains(name) && !is_component_name(name) && !in_amrex.contains(name) &&
        !is_finest_level(file, name, levels)) {
      found.push_back("attribute " + name);
    }
  }
  std::set<std::string> seen;
  for (size_t l = 0; l < levels; ++l) {
    NEVE_ASSIGN(const Handle group, open_group(file, level_name(l)));
    NEVE_ASSIGN(const std::vector<std::string> of_group, attribute_names(group.id()));
    for (const std::string& name : of_group) {
      if (of_level.contains(name) || in_amrex.contains(name) || !seen.insert(name).second) continue;
      found.push_back("attribute " + name + " of its levels");
    }
  }
  return found;
}

}  // namespace neve::hdf5
