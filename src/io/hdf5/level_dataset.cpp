// SPDX-License-Identifier: BSD-3-Clause
#include "io/hdf5/level_dataset.hpp"

#include <fmt/format.h>

#include "io/hdf5/file_parts.hpp"
#include "io/hdf5/filter_parameters.hpp"

namespace neve::hdf5 {
namespace {

hid_t type_on_disk(DType dtype) { return dtype == DType::f32 ? H5T_IEEE_F32LE : H5T_IEEE_F64LE; }

Result<Handle> data_creation(const std::string& name, DType dtype, uint64_t chunk_elements) {
  Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  const hsize_t chunk = chunk_elements;
  // Lossless, because h5repack would run these parameters over values that already hold their bound.
  FilterParameters parameters;
  parameters.bound = {BoundMode::lossless, 0};
  parameters.dtype = dtype;
  parameters.detect_fill = false;
  parameters.chunk_shape = {chunk_elements};
  const std::vector<uint32_t> words = to_words(parameters);
  if (H5Pset_chunk(creation.id(), 1, &chunk) < 0 ||
      H5Pset_fill_time(creation.id(), H5D_FILL_TIME_NEVER) < 0 ||
      H5Pset_obj_track_times(creation.id(), false) < 0 ||
      H5Pset_filter(creation.id(), neve_filter_id, H5Z_FLAG_MANDATORY, words.size(), words.data()) < 0) {
    return hdf5_failed(name);
  }
  return creation;
}

Status check_place(const std::string& what, uint64_t address, uint64_t wanted) {
  if (address == wanted) return {};
  return failure(fmt::format("{}: HDF5 placed it at byte {} instead of {}", what, address, wanted));
}

}  // namespace

Result<Handle> create_level_dataset(hid_t group, const std::string& name, DType dtype,
                                    uint64_t chunk_elements, uint64_t chunks) {
  NEVE_ASSIGN(const Handle creation, data_creation(name, dtype, chunk_elements));
  const hsize_t extent = chunk_elements * chunks;
  const Handle space(H5Screate_simple(1, &extent, nullptr), H5Sclose);
  Handle dataset(H5Dcreate2(group, name.c_str(), type_on_disk(dtype), space.id(), H5P_DEFAULT, creation.id(),
                            H5P_DEFAULT),
                 H5Dclose);
  if (!dataset.valid()) return hdf5_failed(name);
  return dataset;
}

Result<std::vector<uint64_t>> place_chunks(hid_t group, const std::string& name, DType dtype,
                                           uint64_t chunk_elements, std::span<const uint64_t> frame_bytes,
                                           std::span<const uint64_t> wanted, SkipDriverState* driver) {
  NEVE_ASSIGN(Handle dataset, create_level_dataset(group, name, dtype, chunk_elements, frame_bytes.size()));
  std::vector<uint64_t> addresses;
  addresses.reserve(frame_bytes.size());
  for (size_t k = 0; k < frame_bytes.size(); ++k) {
    const hsize_t offset = k * chunk_elements;
    const char never_read = 0;  // the driver drops the write before anybody looks at the bytes
    const uint64_t dropped_before = driver->dropped_writes;
    driver->drop_raw_data = true;
    if (!wanted.empty()) driver->raw_address = wanted[k];
    const herr_t written = H5Dwrite_chunk(dataset.id(), H5P_DEFAULT, 0, &offset, frame_bytes[k], &never_read);
    driver->drop_raw_data = false;
    driver->raw_address.reset();
    if (written < 0) return hdf5_failed(fmt::format("chunk {} of {}", k, name));
    if (driver->dropped_writes != dropped_before + 1) {
      return failure(fmt::format("chunk {} of {}: HDF5 wrote {} pieces instead of 1", k, name,
                                 driver->dropped_writes - dropped_before));
    }
    addresses.push_back(driver->last_dropped_address);
    if (!wanted.empty())
      NEVE_TRY(check_place(fmt::format("chunk {} of {}", k, name), addresses[k], wanted[k]));
  }
  if (!dataset.close()) return hdf5_failed(name);
  return addresses;
}

Result<uint64_t> place_contiguous(hid_t group, const std::string& name, DType dtype, uint64_t elements,
                                  std::optional<uint64_t> wanted, SkipDriverState* driver) {
  const Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  if (H5Pset_layout(creation.id(), H5D_CONTIGUOUS) < 0 ||
      H5Pset_alloc_time(creation.id(), H5D_ALLOC_TIME_EARLY) < 0 ||
      H5Pset_fill_time(creation.id(), H5D_FILL_TIME_NEVER) < 0 ||
      H5Pset_obj_track_times(creation.id(), false) < 0) {
    return hdf5_failed(name);
  }
  const hsize_t extent = elements;
  const Handle space(H5Screate_simple(1, &extent, nullptr), H5Sclose);
  if (driver != nullptr) driver->raw_address = wanted;
  Handle dataset(H5Dcreate2(group, name.c_str(), type_on_disk(dtype), space.id(), H5P_DEFAULT, creation.id(),
                            H5P_DEFAULT),
                 H5Dclose);
  if (driver != nullptr) driver->raw_address.reset();
  if (!dataset.valid()) return hdf5_failed(name);
  const haddr_t address = H5Dget_offset(dataset.id());
  if (address == HADDR_UNDEF) return hdf5_failed(name + ": address");
  if (wanted) NEVE_TRY(check_place(name, address, *wanted));
  if (!dataset.close()) return hdf5_failed(name);
  return uint64_t{address};
}

}  // namespace neve::hdf5
