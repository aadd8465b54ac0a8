// SPDX-License-Identifier: BSD-3-Clause
#include "io/datafile/netcdf_names.hpp"

#include <fmt/format.h>

#include <string_view>

#include "io/datafile/attributes.hpp"

namespace neve::datafile {
namespace {

// netCDF-C's own: NON_COORD_PREPEND and DIM_WITHOUT_VARIABLE of libhdf5/nc4hdf.h.
constexpr std::string_view not_of_dimension = "_nc4_non_coord_";
constexpr std::string_view bare_dimension = "This is a netCDF dimension but not a netCDF variable";

}  // namespace

std::string netcdf_path(const std::string& path) {
  const size_t name = path.rfind('/') + 1;
  if (path.compare(name, not_of_dimension.size(), not_of_dimension) != 0) return path;
  return path.substr(0, name) + path.substr(name + not_of_dimension.size());
}

std::string hdf5_name_beside_dimension(const std::string& variable) {
  return std::string(not_of_dimension) + variable;
}

std::string bare_dimension_text(uint64_t length) { return fmt::format("{}.{:10}", bare_dimension, length); }

bool is_bare_dimension(hid_t dataset) {
  return text_attribute(dataset, "NAME").value_or("").starts_with(bare_dimension);
}

}  // namespace neve::datafile
