// SPDX-License-Identifier: BSD-3-Clause
// A dataset as it is stored: extent, type, chunks, filters, bytes.
#pragma once

#include <hdf5.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "io/datafile/chunk_grid.hpp"
#include "io/hdf5/filter_parameters.hpp"
#include "io/hdf5/handle.hpp"
#include "neve/status.hpp"
#include "neve/types.hpp"

namespace neve::datafile {

struct Variable {
  std::string path;
  H5S_class_t extent = H5S_SIMPLE;
  Extent dims;
  Extent max_dims;   // H5S_UNLIMITED: no end
  std::string type;  // type_text
  size_t element_bytes = 0;
  std::optional<DType> dtype;  // where Neve codes its values
  bool has_pointers = false, has_references = false;
  H5D_layout_t layout = H5D_CONTIGUOUS;
  Extent chunk;  // empty unless chunked
  bool is_external = false;
  std::vector<std::string> filters;  // "deflate (1)", in the order of writing
  std::optional<hdf5::FilterParameters> neve;
  uint64_t stored_bytes = 0;

  uint64_t raw_bytes() const;  // of all elements, without what variable-length ones point to
  bool can_grow(size_t dimension) const { return max_dims[dimension] != dims[dimension]; }
};

Result<Variable> describe_variable(hid_t dataset, const std::string& path);

// The element type, where it is one that Neve codes: exactly a little-endian IEEE float of 4 or 8 bytes or a
// little-endian integer of 1, 2, 4 or 8.
std::optional<DType> coded_type(hid_t type);

// Whether HDF5 has all filters of a dataset. Errors: plugin_missing, naming the first that it lacks.
Status check_filters(hid_t creation);

// What `held` elements along each dimension, one after the other, are to HDF5; a single value where there is
// no dimension. Invalid where HDF5 refuses.
hdf5::Handle dense_space(const Extent& held);

// Reads the elements from `first` on, `held` of them along each dimension, as the file's own type has them.
Status read_elements(hid_t dataset, const Extent& first, const Extent& held, hid_t memory_type, void* out);
Status write_elements(hid_t dataset, const Extent& first, const Extent& held, hid_t memory_type,
                      const void* in);

}  // namespace neve::datafile
