// SPDX-License-Identifier: BSD-3-Clause
#include "hdf5/skeleton.hpp"

#include <fmt/format.h>
#include <hdf5.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include "hdf5/attributes.hpp"
#include "hdf5/errors.hpp"
#include "hdf5/field_records.hpp"
#include "hdf5/filter.hpp"
#include "hdf5/handle.hpp"
#include "hdf5/layout_names.hpp"
#include "hdf5/level_dataset.hpp"
#include "hdf5/skip_driver.hpp"

namespace neve::hdf5 {
namespace {

constexpr uint64_t most_chunk_bytes = 0xffffffff;  // HDF5 keeps a chunk's size in 32 bits

Status hdf5_failed(const std::string& what) {
  return failure(fmt::format("{}: HDF5 cannot write it: {}", what, last_error()));
}

Handle create_group(hid_t where, const std::string& name) {
  return {H5Gcreate2(where, name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose};
}

Status write_dataset(hid_t where, const std::string& name, hid_t file_type, hid_t memory_type, size_t count,
                     const void* data, hid_t link_creation = H5P_DEFAULT) {
  const hsize_t extent = count;
  // Not an extent of 0: h5repack fails on those.
  const Handle space(count > 0 ? H5Screate_simple(1, &extent, nullptr) : H5Screate(H5S_NULL), H5Sclose);
  const Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  H5Pset_obj_track_times(creation.id(), false);  // the same data makes the same file
  const Handle dataset(
      H5Dcreate2(where, name.c_str(), file_type, space.id(), link_creation, creation.id(), H5P_DEFAULT),
      H5Dclose);
  if (!dataset.valid()) return hdf5_failed("dataset " + name);
  if (count > 0 && H5Dwrite(dataset.id(), memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) < 0) {
    return hdf5_failed("dataset " + name);
  }
  return {};
}

std::span<const double> first(const std::array<double, max_dims>& values, int dims) {
  return {values.data(), static_cast<size_t>(dims)};
}

Status check_placement(const Hierarchy& h, size_t l, const LevelPlacement& placement) {
  const Level& level = h.levels[l];
  if (placement.chunk_elements < 1 || placement.chunk_elements > most_chunk_bytes / dtype_bytes(h.dtype)) {
    return usage_error(fmt::format("level {}: a chunk of {} elements; 1 to {} are allowed", l,
                                   placement.chunk_elements, most_chunk_bytes / dtype_bytes(h.dtype)));
  }
  if (placement.frame_bytes.empty()) return usage_error(fmt::format("level {} has no frames", l));
  for (size_t k = 0; k < placement.frame_bytes.size(); ++k) {
    if (placement.frame_bytes[k] < 1 || placement.frame_bytes[k] > most_chunk_bytes) {
      return usage_error(fmt::format("level {}: frame {} has {} bytes; 1 to {} are allowed", l, k,
                                     placement.frame_bytes[k], most_chunk_bytes));
    }
  }
  if (placement.box_offsets.size() != level.boxes.size() + 1 ||
      placement.processors.size() != level.boxes.size()) {
    return usage_error(
        fmt::format("level {}: {} box offsets and {} owners for {} boxes; {} and {} are needed", l,
                    placement.box_offsets.size(), placement.processors.size(), level.boxes.size(),
                    level.boxes.size() + 1, level.boxes.size()));
  }
  return {};
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

Status write_root(hid_t file, const Hierarchy& h) {
  const auto levels = static_cast<int32_t>(h.levels.size());
  NEVE_TRY(write_attribute(file, "version_name", std::string("HyperCLaw-V1.1")));
  NEVE_TRY(write_attribute(file, "plotfile_type", std::string("VanillaHDF5")));
  NEVE_TRY(write_attribute(file, "filetype", std::string("VanillaAMRFileType")));
  NEVE_TRY(write_attribute(file, "num_components", static_cast<int32_t>(h.components.size())));
  for (size_t c = 0; c < h.components.size(); ++c) {
    NEVE_TRY(write_attribute(file, component_name(c), h.components[c]));
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

Status write_neve_group(hid_t file, const Hierarchy& h) {
  const Handle group = create_group(file, neve_name);
  if (!group.valid()) return hdf5_failed(neve_name);
  NEVE_TRY(write_attribute(group.id(), layout_version_name, int32_t{layout_version}));
  NEVE_TRY(write_attribute(group.id(), "prob_lo", first(h.prob_lo, max_dims)));
  NEVE_TRY(write_attribute(group.id(), "prob_hi", first(h.prob_hi, max_dims)));
  NEVE_TRY(write_attribute(group.id(), "source_ghosts", std::span<const int32_t>(h.source_ghosts)));
  const Handle side_files = create_group(group.id(), side_files_name);
  if (!side_files.valid()) return hdf5_failed(side_files_name);
  const Handle make_directories(H5Pcreate(H5P_LINK_CREATE), H5Pclose);
  H5Pset_create_intermediate_group(make_directories.id(), 1);
  for (const auto& [path, bytes] : h.side_files) {
    NEVE_TRY(check_side_file_path(path));
    NEVE_TRY(write_dataset(side_files.id(), path, H5T_STD_U8LE, H5T_NATIVE_UINT8, bytes.size(), bytes.data(),
                           make_directories.id())
                 .in("side file"));
  }
  return {};
}

Status write_level_attributes(hid_t group, const Hierarchy& h, const Level& level) {
  NEVE_TRY(write_box_attribute(group, "prob_domain", level.domain, h.dims));
  NEVE_TRY(write_attribute(group, "dx", level.dx[0]));
  NEVE_TRY(write_attribute(group, "Vec_dx", first(level.dx, h.dims)));
  NEVE_TRY(write_attribute(group, "ref_ratio", level.ref_ratio[0]));
  NEVE_TRY(write_attribute(group, "prob_lo", first(h.prob_lo, h.dims)));
  NEVE_TRY(write_attribute(group, "prob_hi", first(h.prob_hi, h.dims)));
  constexpr IntVect cell_centred{0, 0, 0};
  NEVE_TRY(write_attribute(group, "domain_type",
                           std::span<const int32_t>(cell_centred.data(), static_cast<size_t>(h.dims))));
  NEVE_TRY(write_attribute(group, "steps", level.step));
  NEVE_TRY(write_attribute(group, "time", level.time));
  NEVE_TRY(write_attribute(group, "ngrid", static_cast<int32_t>(level.boxes.size())));
  NEVE_TRY(write_attribute(group, "ngrow", int32_t{0}));
  NEVE_TRY(write_attribute(group, exact_dx_name, first(level.dx, max_dims)));
  NEVE_TRY(write_attribute(group, exact_ref_ratio_name, std::span<const int32_t>(level.ref_ratio)));
  const Handle data_attributes = create_group(group, data_attributes_name);
  if (!data_attributes.valid()) return hdf5_failed(data_attributes_name);
  constexpr IntVect no_ghosts{0, 0, 0};
  NEVE_TRY(write_attribute(data_attributes.id(), "comps", static_cast<int32_t>(h.components.size())));
  NEVE_TRY(write_attribute(data_attributes.id(), "objectType", std::string("FArrayBox")));
  NEVE_TRY(write_intvect_attribute(data_attributes.id(), "ghost", no_ghosts, h.dims));
  return write_intvect_attribute(data_attributes.id(), "outputGhost", no_ghosts, h.dims);
}

Status write_boxes(hid_t group, const Hierarchy& h, const Level& level, const LevelPlacement& placement) {
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
                         corners.data()));

  // AMReX's centring of each box: 0 means cells. The compound's members are i, j, k.
  const Handle center_on_disk(H5Tcreate(H5T_COMPOUND, dims * sizeof(int32_t)), H5Tclose);
  const Handle center_in_memory(H5Tcreate(H5T_COMPOUND, dims * sizeof(int32_t)), H5Tclose);
  constexpr std::array<const char*, max_dims> axis = {"i", "j", "k"};
  for (size_t d = 0; d < dims; ++d) {
    H5Tinsert(center_on_disk.id(), axis[d], d * sizeof(int32_t), H5T_STD_I32LE);
    H5Tinsert(center_in_memory.id(), axis[d], d * sizeof(int32_t), H5T_NATIVE_INT32);
  }
  const std::vector<int32_t> cell_centred(level.boxes.size() * dims, 0);
  NEVE_TRY(write_dataset(group, box_center_name, center_on_disk.id(), center_in_memory.id(),
                         level.boxes.size(), cell_centred.data()));
  NEVE_TRY(write_dataset(group, processors_name, H5T_STD_I32LE, H5T_NATIVE_INT32, placement.processors.size(),
                         placement.processors.data()));
  // yt takes a component called particle_... (Nyx has one) for a sign of particles, and then asks how many
  // each box has.
  const bool looks_like_particles =
      std::any_of(h.components.begin(), h.components.end(),
                  [](const auto& name) { return name.starts_with("particle_"); });
  if (looks_like_particles) {
    const std::vector<int64_t> none(level.boxes.size(), 0);
    NEVE_TRY(write_dataset(group, particle_counts_name, H5T_STD_I64LE, H5T_NATIVE_INT64, none.size(),
                           none.data()));
  }
  return write_dataset(group, offsets_name, H5T_STD_I64LE, H5T_NATIVE_INT64, placement.box_offsets.size(),
                       placement.box_offsets.data());
}

// The level's one dataset and its chunk index; the frames themselves are dropped by the driver.
Result<std::vector<uint64_t>> place_frames(hid_t group, DType dtype, const LevelPlacement& placement,
                                           SkipDriverState* driver) {
  NEVE_ASSIGN(Handle dataset,
              create_level_dataset(group, dtype, placement.chunk_elements, placement.frame_bytes.size()));
  std::vector<uint64_t> addresses;
  addresses.reserve(placement.frame_bytes.size());
  for (size_t k = 0; k < placement.frame_bytes.size(); ++k) {
    const hsize_t offset = k * placement.chunk_elements;
    const char never_read = 0;  // the driver drops the write before anybody looks at the bytes
    const uint64_t dropped_before = driver->dropped_writes;
    driver->drop_raw_data = true;
    const herr_t written =
        H5Dwrite_chunk(dataset.id(), H5P_DEFAULT, 0, &offset, placement.frame_bytes[k], &never_read);
    driver->drop_raw_data = false;
    if (written < 0) return hdf5_failed(fmt::format("chunk {} of {}", k, data_name));
    if (driver->dropped_writes != dropped_before + 1) {
      return failure(fmt::format("chunk {} of {}: HDF5 wrote {} pieces instead of 1", k, data_name,
                                 driver->dropped_writes - dropped_before));
    }
    addresses.push_back(driver->last_dropped_address);
  }
  if (!dataset.close()) return hdf5_failed(data_name);
  return addresses;
}

Result<FrameAddresses> write_file(hid_t file, const Hierarchy& h, const std::vector<LevelPlacement>& levels,
                                  SkipDriverState* driver, bool with_datasets) {
  NEVE_TRY(write_root(file, h));
  NEVE_TRY(write_neve_group(file, h));
  FrameAddresses addresses;
  for (size_t l = 0; l < levels.size(); ++l) {
    const std::string name = level_name(l);
    const Handle group = create_group(file, name);
    if (!group.valid()) return hdf5_failed(name);
    NEVE_TRY(write_level_attributes(group.id(), h, h.levels[l]).in(name));
    NEVE_TRY(write_boxes(group.id(), h, h.levels[l], levels[l]).in(name));
    NEVE_TRY(write_field_records(group.id(), levels[l].fields).in(name));
    if (!with_datasets) continue;
    Result<std::vector<uint64_t>> placed = place_frames(group.id(), h.dtype, levels[l], driver);
    if (!placed.ok()) return placed.status().in(name);
    addresses.push_back(std::move(*placed));
  }
  return addresses;
}

// The system's reason says more than HDF5's "unable to write": put it first when there is one.
Status explain(const Status& status, const std::string& path, const SkipDriverState& driver) {
  if (driver.system_error == 0) return status.in(path);
  return failure(
      fmt::format("{}: cannot {}: {}", path, driver.failed_operation, std::strerror(driver.system_error)));
}

Result<FrameAddresses> write_whole_file(const std::string& path, const Hierarchy& h,
                                        const std::vector<LevelPlacement>& levels, bool with_datasets) {
  if (levels.size() != h.levels.size()) {
    return usage_error(fmt::format("{}: {} placements for {} levels", path, levels.size(), h.levels.size()));
  }
  for (size_t l = 0; l < levels.size(); ++l) NEVE_TRY(check_placement(h, l, levels[l]).in(path));

  const QuietErrors quiet;
  NEVE_TRY(register_filter());
  SkipDriverState driver;
  const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  NEVE_TRY(use_skip_driver(access.id(), &driver));
  // Newer formats index 1e5 chunks twenty times slower than the oldest one.
  H5Pset_libver_bounds(access.id(), H5F_LIBVER_EARLIEST, H5F_LIBVER_LATEST);
  Handle file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.id()), H5Fclose);
  if (!file.valid()) {
    return explain(failure("HDF5 cannot create it: " + last_error()), path, driver);
  }
  Result<FrameAddresses> addresses = write_file(file.id(), h, levels, &driver, with_datasets);
  if (!addresses.ok()) return explain(addresses.status(), path, driver);
  if (!file.close()) {
    return explain(failure("HDF5 cannot finish it: " + last_error()), path, driver);
  }
  if (driver.system_error != 0) return explain(failure("it is not whole"), path, driver);
  return addresses;
}

}  // namespace

Result<FrameAddresses> write_skeleton(const std::string& path, const Hierarchy& h,
                                      const std::vector<LevelPlacement>& levels) {
  return write_whole_file(path, h, levels, true);
}

Status write_description(const std::string& path, const Hierarchy& h,
                         const std::vector<LevelPlacement>& levels) {
  return write_whole_file(path, h, levels, false).status();
}

}  // namespace neve::hdf5
