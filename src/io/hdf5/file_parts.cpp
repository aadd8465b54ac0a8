// SPDX-License-Identifier: BSD-3-Clause
#include "io/hdf5/file_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "io/hdf5/attributes.hpp"
#include "io/hdf5/errors.hpp"
#include "io/hdf5/layout_names.hpp"

namespace neve::hdf5 {
namespace {

Status write_dataset(hid_t where, const std::string& name, hid_t file_type, hid_t memory_type, size_t count,
                     const void* data, bool fills_tables, hid_t link_creation = H5P_DEFAULT) {
  const hsize_t extent = count;
  // Not an extent of 0: h5repack fails on those.
  const Handle space(count > 0 ? H5Screate_simple(1, &extent, nullptr) : H5Screate(H5S_NULL), H5Sclose);
  const Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  H5Pset_obj_track_times(creation.id(), false);  // the same data makes the same file
  const Handle dataset(
      H5Dcreate2(where, name.c_str(), file_type, space.id(), link_creation, creation.id(), H5P_DEFAULT),
      H5Dclose);
  if (!dataset.valid()) return hdf5_failed("dataset " + name);
  if (count > 0 && fills_tables &&
      H5Dwrite(dataset.id(), memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) < 0) {
    return hdf5_failed("dataset " + name);
  }
  return {};
}

std::span<const double> first(const std::array<double, max_dims>& values, int dims) {
  return {values.data(), static_cast<size_t>(dims)};
}

// Paths become HDF5 paths, so they must be plain: what a directory listing could have produced.
Status check_side_file_path(const std::string& path) {
  size_t begin = 0;
  while (begin <= path.size()) {
    const size_t end = std::min(path.find('/', begin), path.size());
    const std::string part = path.substr(begin, end - begin);
    if (part.empty() || part == "." || part == ".." || part.find('\0') != std::string::npos) {
      return usage_error(
          fmt::format("side file '{}' has the part '{}'; plain names are allowed", path, part));
    }
    begin = end + 1;
  }
  return {};
}

Status write_exact_geometry(hid_t group, const Level& level) {
  NEVE_TRY(write_attribute(group, exact_dx_name, first(level.dx, max_dims)));
  return write_attribute(group, exact_ref_ratio_name, std::span<const int32_t>(level.ref_ratio));
}

// AMReX's centring of each box: 0 means cells. The compound's members are i, j, k.
Status write_box_centres(hid_t group, int dimensions, size_t boxes, bool fills_tables) {
  const auto dims = static_cast<size_t>(dimensions);
  const Handle center_on_disk(H5Tcreate(H5T_COMPOUND, dims * sizeof(int32_t)), H5Tclose);
  const Handle center_in_memory(H5Tcreate(H5T_COMPOUND, dims * sizeof(int32_t)), H5Tclose);
  constexpr std::array<const char*, max_dims> axis = {"i", "j", "k"};
  for (size_t d = 0; d < dims; ++d) {
    H5Tinsert(center_on_disk.id(), axis[d], d * sizeof(int32_t), H5T_STD_I32LE);
    H5Tinsert(center_in_memory.id(), axis[d], d * sizeof(int32_t), H5T_NATIVE_INT32);
  }
  const std::vector<int32_t> cell_centred(boxes * dims, 0);
  return write_dataset(group, box_center_name, center_on_disk.id(), center_in_memory.id(), boxes,
                       cell_centred.data(), fills_tables);
}

}  // namespace

Status hdf5_failed(const std::string& what) {
  return failure(fmt::format("{}: HDF5 cannot write it: {}", what, last_error()));
}

Handle create_group(hid_t where, const std::string& name) {
  return {H5Gcreate2(where, name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose};
}

Status write_root(hid_t file, const Hierarchy& h, const std::vector<std::string>& components) {
  const auto levels = static_cast<int32_t>(h.levels.size());
  NEVE_TRY(write_attribute(file, "version_name", std::string("HyperCLaw-V1.1")));
  NEVE_TRY(write_attribute(file, "plotfile_type", std::string("VanillaHDF5")));
  NEVE_TRY(write_attribute(file, "filetype", std::string("VanillaAMRFileType")));
  NEVE_TRY(write_attribute(file, "num_components", static_cast<int32_t>(components.size())));
  for (size_t c = 0; c < components.size(); ++c) {
    NEVE_TRY(write_attribute(file, component_name(c), components[c]));
  }
  NEVE_TRY(write_attribute(file, "dim", int32_t{h.dims}));
  NEVE_TRY(write_attribute(file, "time", h.time));
  NEVE_TRY(write_attribute(file, "iteration", h.levels.front().step));
  NEVE_TRY(write_attribute(file, "finest_level", levels - 1));
  NEVE_TRY(write_attribute(file, "max_level", levels - 1));
  NEVE_TRY(write_attribute(file, "num_levels", levels));
  NEVE_TRY(write_attribute(file, "coordinate_system", int32_t{h.coord_sys}));
  const Handle global = create_group(file, global_name);
  if (!global.valid()) return hdf5_failed(global_name);
  NEVE_TRY(write_attribute(global.id(), "SpaceDim", int32_t{h.dims}));
  return write_attribute(global.id(), "testReal", 0.0);
}

Status write_neve_group(hid_t file, const Hierarchy& h, Convention convention, bool fills_tables) {
  const Handle group = create_group(file, neve_name);
  if (!group.valid()) return hdf5_failed(neve_name);
  NEVE_TRY(write_attribute(group.id(), layout_version_name, int32_t{layout_version}));
  NEVE_TRY(write_attribute(group.id(), "prob_lo", first(h.prob_lo, max_dims)));
  NEVE_TRY(write_attribute(group.id(), "prob_hi", first(h.prob_hi, max_dims)));
  NEVE_TRY(write_attribute(group.id(), "source_ghosts", std::span<const int32_t>(h.source_ghosts)));
  for (size_t l = 0; convention == Convention::chombo && l < h.levels.size(); ++l) {
    const Handle level = create_group(group.id(), level_name(l));
    if (!level.valid()) return hdf5_failed(level_name(l));
    NEVE_TRY(write_exact_geometry(level.id(), h.levels[l]));
  }
  const Handle side_files = create_group(group.id(), side_files_name);
  if (!side_files.valid()) return hdf5_failed(side_files_name);
  const Handle make_directories(H5Pcreate(H5P_LINK_CREATE), H5Pclose);
  H5Pset_create_intermediate_group(make_directories.id(), 1);
  for (const auto& [path, bytes] : h.side_files) {
    NEVE_TRY(check_side_file_path(path));
    NEVE_TRY(write_dataset(side_files.id(), path, H5T_STD_U8LE, H5T_NATIVE_UINT8, bytes.size(), bytes.data(),
                           fills_tables, make_directories.id())
                 .in("side file"));
  }
  return {};
}

Status write_level_attributes(hid_t group, const Hierarchy& h, size_t l, const IntVect& ghosts,
                              Convention convention) {
  const Level& level = h.levels[l];
  NEVE_TRY(write_box_attribute(group, "prob_domain", level.domain, h.dims));
  NEVE_TRY(write_attribute(group, "dx", level.dx[0]));
  NEVE_TRY(write_attribute(group, "ref_ratio", level.ref_ratio[0]));
  NEVE_TRY(write_attribute(group, "steps", level.step));
  NEVE_TRY(write_attribute(group, "time", level.time));
  NEVE_TRY(write_attribute(group, "ngrid", static_cast<int32_t>(level.boxes.size())));
  NEVE_TRY(write_attribute(group, "ngrow", ghosts[0]));
  if (convention == Convention::chombo) return write_attribute(group, "dt", 0.0);  // Chombo insists on one
  NEVE_TRY(write_attribute(group, "Vec_dx", first(level.dx, h.dims)));
  NEVE_TRY(write_attribute(group, "prob_lo", first(h.prob_lo, h.dims)));
  NEVE_TRY(write_attribute(group, "prob_hi", first(h.prob_hi, h.dims)));
  constexpr IntVect cell_centred{0, 0, 0};
  NEVE_TRY(write_attribute(group, "domain_type",
                           std::span<const int32_t>(cell_centred.data(), static_cast<size_t>(h.dims))));
  return write_exact_geometry(group, level);
}

Status write_data_attributes(hid_t group, const std::string& name, size_t components, const IntVect& ghosts,
                             int dims) {
  const Handle attributes = create_group(group, name);
  if (!attributes.valid()) return hdf5_failed(name);
  NEVE_TRY(write_attribute(attributes.id(), "comps", static_cast<int32_t>(components)));
  NEVE_TRY(write_attribute(attributes.id(), "objectType", std::string("FArrayBox")));
  NEVE_TRY(write_intvect_attribute(attributes.id(), "ghost", ghosts, dims));
  return write_intvect_attribute(attributes.id(), "outputGhost", ghosts, dims);
}

Status write_boxes(hid_t group, const Hierarchy& h, size_t l, const std::vector<int32_t>& processors,
                   Convention convention, bool fills_tables) {
  const Level& level = h.levels[l];
  const auto dims = static_cast<size_t>(h.dims);
  std::vector<int32_t> corners;
  corners.reserve(level.boxes.size() * 2 * dims);
  for (const Box& box : level.boxes) {
    corners.insert(corners.end(), box.lo.begin(), box.lo.begin() + h.dims);
    corners.insert(corners.end(), box.hi.begin(), box.hi.begin() + h.dims);
  }
  const Handle box_on_disk = box_type(h.dims, H5T_STD_I32LE);
  const Handle box_in_memory = box_type(h.dims, H5T_NATIVE_INT32);
  NEVE_TRY(write_dataset(group, boxes_name, box_on_disk.id(), box_in_memory.id(), level.boxes.size(),
                         corners.data(), fills_tables));

  if (convention == Convention::amrex)
    NEVE_TRY(write_box_centres(group, h.dims, level.boxes.size(), fills_tables));
  NEVE_TRY(write_dataset(group, processors_name, H5T_STD_I32LE, H5T_NATIVE_INT32, processors.size(),
                         processors.data(), fills_tables));
  // yt takes a component called particle_... (Nyx has one) for a sign of particles, and then asks how many
  // each box has.
  const bool looks_like_particles =
      std::any_of(h.components.begin(), h.components.end(),
                  [](const auto& name) { return name.starts_with("particle_"); });
  if (!looks_like_particles) return {};
  const std::vector<int64_t> none(level.boxes.size(), 0);
  return write_dataset(group, particle_counts_name, H5T_STD_I64LE, H5T_NATIVE_INT64, none.size(), none.data(),
                       fills_tables);
}

Status write_offsets(hid_t group, const std::string& name, const std::vector<int64_t>& box_offsets,
                     bool fills_tables) {
  return write_dataset(group, name, H5T_STD_I64LE, H5T_NATIVE_INT64, box_offsets.size(), box_offsets.data(),
                       fills_tables);
}

}  // namespace neve::hdf5
