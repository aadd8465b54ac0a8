// SPDX-License-Identifier: BSD-3-Clause
#include "io/hdf5/open_to_read.hpp"

#include "io/hdf5/errors.hpp"

namespace neve::hdf5 {

void use_no_chunk_cache(hid_t file_access) {
  constexpr double evict_fully_read = 1.0;
  H5Pset_cache(file_access, 0, 0, 0, evict_fully_read);
}

Result<Handle> open_file_to_read(const std::string& path) {
  const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  use_no_chunk_cache(access.id());
  Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access.id()), H5Fclose);
  if (!file.valid()) return corrupt("HDF5 cannot open it: " + last_error());
  return file;
}

Handle open_dataset_to_read(hid_t where, const std::string& path, uint64_t cache_bytes) {
  {
    Handle dataset(H5Dopen2(where, path.c_str(), H5P_DEFAULT), H5Dclose);
    if (!dataset.valid()) return dataset;
    const Handle creation(H5Dget_create_plist(dataset.id()), H5Pclose);
    // A virtual one hands its cache on to its sources.
    if (H5Pget_layout(creation.id()) != H5D_VIRTUAL && H5Pget_nfilters(creation.id()) <= 0) return dataset;
  }
  const Handle access(H5Pcreate(H5P_DATASET_ACCESS), H5Pclose);
  constexpr size_t slots = 1021;
  constexpr double evict_fully_read = 1.0;
  H5Pset_chunk_cache(access.id(), slots, cache_bytes, evict_fully_read);
  return {H5Dopen2(where, path.c_str(), access.id()), H5Dclose};
}

}  // namespace neve::hdf5
