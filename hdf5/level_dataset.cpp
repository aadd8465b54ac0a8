// SPDX-License-Identifier: BSD-3-Clause
#include "hdf5/level_dataset.hpp"

#include <fmt/format.h>

#include "hdf5/errors.hpp"
#include "hdf5/filter_parameters.hpp"
#include "hdf5/layout_names.hpp"

namespace neve::hdf5 {
namespace {

Status hdf5_failed() { return failure(fmt::format("{}: HDF5 cannot write it: {}", data_name, last_error())); }

Result<Handle> data_creation(DType dtype, uint64_t chunk_elements) {
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
    return hdf5_failed();
  }
  return creation;
}

}  // namespace

Result<Handle> create_level_dataset(hid_t group, DType dtype, uint64_t chunk_elements, uint64_t chunks) {
  NEVE_ASSIGN(const Handle creation, data_creation(dtype, chunk_elements));
  const hsize_t extent = chunk_elements * chunks;
  const Handle space(H5Screate_simple(1, &extent, nullptr), H5Sclose);
  const hid_t type = dtype == DType::f32 ? H5T_IEEE_F32LE : H5T_IEEE_F64LE;
  Handle dataset(H5Dcreate2(group, data_name, type, space.id(), H5P_DEFAULT, creation.id(), H5P_DEFAULT),
                 H5Dclose);
  if (!dataset.valid()) return hdf5_failed();
  return dataset;
}

}  // namespace neve::hdf5
