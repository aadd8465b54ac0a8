// SPDX-License-Identifier: BSD-3-Clause
#include "io/hdf5/amr_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

#include "io/hdf5/attributes.hpp"
#include "io/hdf5/errors.hpp"
#include "io/hdf5/header_parts.hpp"
#include "io/hdf5/layout_names.hpp"
#include "io/hdf5/link_names.hpp"
#include "io/hdf5/open_to_read.hpp"

namespace neve::hdf5 {
namespace {

// Told before anybody has allowed a link into another file to be followed.
bool is_own(hid_t file, const std::string& name) {
  H5L_info_t link;
  return H5Lget_info(file, name.c_str(), &link, H5P_DEFAULT) >= 0 && link.type == H5L_TYPE_HARD;
}

constexpr std::string_view type_mark = ":datatype=";
constexpr std::string_view offsets_mark = ":offsets=";

bool is_number(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
}

bool is_restart_attribute(std::string_view name) {
  if (name == "tag_buffer_size") return true;
  constexpr std::array<std::string_view, 3> numbered = {"regrid_interval_", "steps_since_regrid_",
                                                        "is_periodic_"};
  return std::any_of(numbered.begin(), numbered.end(), [&](std::string_view prefix) {
    return name.starts_with(prefix) && is_number(name.substr(prefix.size()));
  });
}

// The first such attribute in the order of names; empty for none.
Result<std::string> restart_attribute(hid_t group) {
  std::string found;
  const auto look = [](hid_t, const char* name, const H5A_info_t*, void* out) -> herr_t {
    if (!is_restart_attribute(name)) return 0;
    *static_cast<std::string*>(out) = name;
    return 1;
  };
  hsize_t at = 0;
  if (H5Aiterate2(group, H5_INDEX_NAME, H5_ITER_INC, &at, look, &found) < 0) {
    return corrupt(fmt::format("attributes cannot be listed: {}", last_error()));
  }
  return found;
}

// The first dataset that holds one variable of several; empty for none.
Result<std::string> variable_dataset(hid_t level_group) {
  NEVE_ASSIGN(const std::vector<std::string> names, link_names(level_group));
  for (const std::string& name : names) {
    const std::string base = boxed_base(name);
    if (base.empty() || base == plotfile_base) continue;
    const std::string number = name.substr(base.size() + type_mark.size());
    if (has_link(level_group, base + std::string(offsets_mark) + number)) return name;
  }
  return std::string();
}

Result<AmrFile> recognize_chombo(hid_t file) {
  NEVE_ASSIGN(const std::string of_root, restart_attribute(file));
  if (!of_root.empty()) {
    return AmrFile{AmrFileKind::chombo_checkpoint, fmt::format("attribute {} of the root", of_root)};
  }
  for (size_t l = 0; l < static_cast<size_t>(max_levels) && is_own(file, level_name(l)); ++l) {
    NEVE_ASSIGN(const Handle group, open_group(file, level_name(l)));
    NEVE_ASSIGN(const std::string attribute, restart_attribute(group.id()));
    if (!attribute.empty()) {
      return AmrFile{AmrFileKind::chombo_checkpoint,
                     fmt::format("attribute {} of {}", attribute, level_name(l))};
    }
    NEVE_ASSIGN(const std::string dataset, variable_dataset(group.id()));
    if (!dataset.empty()) {
      return AmrFile{AmrFileKind::chombo_checkpoint,
                     fmt::format("dataset {}/{}, one for each variable", level_name(l), dataset)};
    }
  }
  return AmrFile{AmrFileKind::chombo_plotfile, "no attribute to restart from, no dataset for each variable"};
}

}  // namespace

std::string_view amr_file_kind_name(AmrFileKind kind) {
  switch (kind) {
    case AmrFileKind::neve_checkpoint:
      return "Neve checkpoint";
    case AmrFileKind::neve_plotfile:
      return "Neve HDF5 plotfile";
    case AmrFileKind::amrex_plotfile:
      return "AMReX HDF5 plotfile";
    case AmrFileKind::chombo_checkpoint:
      return "Chombo checkpoint";
    case AmrFileKind::chombo_plotfile:
      break;
  }
  return "Chombo HDF5 plotfile";
}

std::string boxed_base(const std::string& dataset_name) {
  const size_t at = dataset_name.rfind(type_mark);
  if (at == std::string::npos || !is_number(std::string_view(dataset_name).substr(at + type_mark.size()))) {
    return {};
  }
  return dataset_name.substr(0, at);
}

Status no_amr_file(hid_t file) {
  if (has_link(file, "VTKHDF")) {
    return usage_error(
        "it is for VTK and holds no levels of a plotfile: use the plotfile of which it was made");
  }
  return usage_error(
      fmt::format("an HDF5 file without group {} is neither a Chombo nor an AMReX plotfile", global_name));
}

Result<AmrFile> recognize_amr_file(hid_t file) {
  if (!has_link(file, global_name)) return no_amr_file(file);
  if (is_own(file, neve_name)) {
    const std::string variables = std::string(neve_name) + "/" + variables_name;
    if (is_own(file, variables)) return AmrFile{AmrFileKind::neve_checkpoint, "group " + variables};
    return AmrFile{AmrFileKind::neve_plotfile, fmt::format("group {}", neve_name)};
  }
  if (has_attribute(file, "plotfile_type")) {
    return AmrFile{AmrFileKind::amrex_plotfile, "attribute plotfile_type of the root"};
  }
  return recognize_chombo(file);
}

Result<AmrFile> recognize_amr_file(const std::string& path) {
  const QuietErrors quiet;
  const Result<Handle> file = open_file_to_read(path);
  if (!file.ok()) return file.status().in(path);
  Result<AmrFile> found = recognize_amr_file(file->id());
  return found.ok() ? std::move(found) : Result<AmrFile>(found.status().in(path));
}

}  // namespace neve::hdf5
