// SPDX-License-Identifier: BSD-3-Clause
#include "io/datafile/classic_structure.hpp"

#include <fmt/format.h>
#include <hdf5.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "io/datafile/classic_attributes.hpp"
#include "io/datafile/copy.hpp"
#include "io/datafile/netcdf_names.hpp"
#include "io/hdf5/errors.hpp"
#include "io/hdf5/handle.hpp"
#include "io/hdf5/skip_driver.hpp"

namespace neve::datafile {
namespace {

using hdf5::Handle;

// Smaller variables stand in the structure, as they are: an index of chunks would take as much.
constexpr uint64_t small_bytes = uint64_t{64} << 10;
// Of a dataset of 4-byte values, none of which is stored, and of all 64-bit sizes.
constexpr uint64_t max_bare_length = UINT64_MAX / 4;

Status refuses(const std::string& what) {
  return failure(fmt::format("{}: HDF5 refuses the structure made for it: {}", what, hdf5::last_error()));
}

Handle file_space(const Extent& dims, bool is_record) {
  if (dims.empty()) return {H5Screate(H5S_SCALAR), H5Sclose};
  const std::vector<hsize_t> now(dims.begin(), dims.end());
  std::vector<hsize_t> most = now;
  if (is_record) most[0] = H5S_UNLIMITED;
  return {H5Screate_simple(static_cast<int>(now.size()), now.data(), most.data()), H5Sclose};
}

// As netCDF-C makes its datasets: attributes are found in the order in which they were made.
Handle creation_properties(const Extent& chunk) {
  Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  H5Pset_attr_creation_order(creation.id(), H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);
  const std::vector<hsize_t> sizes(chunk.begin(), chunk.end());
  if (!chunk.empty()) H5Pset_chunk(creation.id(), static_cast<int>(sizes.size()), sizes.data());
  return creation;
}

// The dataset of each dimension: its variable's, or one without values.
class Builder {
 public:
  Builder(hid_t file, hdf5::SkipDriverState& driver, const plotfile::File& source,
          const ClassicHeader& header)
      : file_(file), driver_(driver), source_(source), header_(header) {
    scales_.resize(header.dimensions.size());
    users_.resize(header.dimensions.size());
    for (size_t d = 0; d < header.dimensions.size(); ++d) dimensions_.emplace(header.dimensions[d].name, d);
  }

  Status run() {
    const Handle root(H5Gopen2(file_, "/", H5P_DEFAULT), H5Gclose);
    for (const ClassicAttribute& attribute : header_.attributes)
      NEVE_TRY(write_attribute(root.id(), attribute).in("the file's attributes"));
    for (size_t v = 0; v < header_.variables.size(); ++v) NEVE_TRY(add_variable(v));
    for (size_t d = 0; d < header_.dimensions.size(); ++d) {
      if (scales_[d].empty()) NEVE_TRY(add_bare_dimension(d));
    }
    for (size_t v = 0; v < header_.variables.size(); ++v) NEVE_TRY(attach(v));
    for (size_t d = 0; d < header_.dimensions.size(); ++d) NEVE_TRY(list_users(d));
    return {};
  }

  std::vector<ClassicChunk> chunks;

 private:
  // Of the dimension that has the variable's name; a coordinate variable's first one is that.
  std::optional<size_t> dimension_named(const std::string& name) const {
    const auto found = dimensions_.find(name);
    if (found == dimensions_.end()) return {};
    return found->second;
  }

  Status take_name(const char* what, const std::string& name, const std::string& hdf5_name) {
    const auto [taken, is_free] = taken_.emplace(hdf5_name, fmt::format("{} {}", what, name));
    if (is_free) return {};
    return usage_error(
        fmt::format("{} and {} {} cannot be kept beside each other: netCDF-4 stores both as {}",
                    taken->second, what, name, hdf5_name));
  }

  Status add_variable(size_t number) {
    const ClassicVariable& variable = header_.variables[number];
    const std::optional<size_t> same = dimension_named(variable.name);
    const bool is_scale = same && !variable.dimensions.empty() && variable.dimensions[0] == *same;
    names_.push_back(same && !is_scale ? hdf5_name_beside_dimension(variable.name) : variable.name);
    const std::string& name = names_.back();
    NEVE_TRY(take_name("variable", variable.name, name));
    const bool is_small = !variable.is_record && value_bytes(variable) <= small_bytes;
    Extent chunk;
    if (!is_small) {
      chunk = choose_chunk(variable.dims, Extent(variable.dims.size(), 1), classic_type_bytes(variable.type),
                           default_chunk_bytes);
    }
    const Handle type = hdf5_type(variable.type);
    const Handle space = file_space(variable.dims, variable.is_record);
    const Handle creation = creation_properties(chunk);
    NEVE_TRY(set_fill(creation.id(), type.id(), variable).in(variable.name));
    const Handle dataset(
        H5Dcreate2(file_, name.c_str(), type.id(), space.id(), H5P_DEFAULT, creation.id(), H5P_DEFAULT),
        H5Dclose);
    if (!dataset.valid()) return refuses(variable.name);
    NEVE_TRY(is_small ? write_values(dataset.id(), type.id(), variable)
                      : place_chunks(dataset.id(), number, chunk));
    if (is_scale) NEVE_TRY(make_scale(dataset.id(), *same, name, variable.name));
    if (is_scale && variable.dimensions.size() > 1) NEVE_TRY(name_coordinates(dataset.id(), variable));
    for (const ClassicAttribute& attribute : variable.attributes)
      NEVE_TRY(write_attribute(dataset.id(), attribute).in(variable.name));
    return {};
  }

  static uint64_t value_bytes(const ClassicVariable& variable) {
    return product(variable.dims) * classic_type_bytes(variable.type);
  }

  static Status set_fill(hid_t creation, hid_t type, const ClassicVariable& variable) {
    for (const ClassicAttribute& attribute : variable.attributes) {
      if (attribute.name != "_FillValue" || attribute.type != variable.type || attribute.count != 1) continue;
      if (H5Pset_fill_value(creation, type, attribute.values.data()) < 0) return refuses("its fill value");
    }
    return {};
  }

  Status write_values(hid_t dataset, hid_t type, const ClassicVariable& variable) const {
    std::vector<std::byte> values(value_bytes(variable));
    if (values.empty()) return {};
    const size_t one = classic_type_bytes(variable.type);
    NEVE_TRY(source_.read(static_cast<int64_t>(variable.begin), values));
    from_big_endian(values.data(), one, values.size() / one);
    if (H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) < 0)
      return refuses(variable.name);
    return {};
  }

  // Makes HDF5 give each chunk its place; what it would write there is dropped.
  Status place_chunks(hid_t dataset, size_t number, const Extent& chunk) {
    const ClassicVariable& variable = header_.variables[number];
    const size_t one = classic_type_bytes(variable.type);
    const ChunkGrid grid{variable.dims, chunk};
    const std::vector<std::byte> nothing(grid.chunk_elements() * one);
    for (uint64_t c = 0; c < grid.count(); ++c) {
      const Extent first = grid.first_element(c), held = grid.held(first);
      const std::vector<hsize_t> offset(first.begin(), first.end());
      driver_.drop_raw_data = true;
      const herr_t written =
          H5Dwrite_chunk(dataset, H5P_DEFAULT, 0, offset.data(), nothing.size(), nothing.data());
      driver_.drop_raw_data = false;
      if (written < 0) return refuses(variable.name);
      uint64_t first_value = 0;
      for (size_t d = 0; d < first.size(); ++d) first_value = first_value * variable.dims[d] + first[d];
      chunks.push_back({driver_.last_dropped_address, nothing.size(), number, first_value, product(held)});
    }
    return {};
  }

  Status make_scale(hid_t dataset, size_t dimension, const std::string& name, const std::string& scale_name) {
    scales_[dimension] = name;
    NEVE_TRY(write_text(dataset, "CLASS", "DIMENSION_SCALE"));
    NEVE_TRY(write_text(dataset, "NAME", scale_name));
    return write_whole_numbers(dataset, "_Netcdf4Dimid", {static_cast<int32_t>(dimension)}, true);
  }

  // A scale has no scales of its own: netCDF-C finds its dimensions here.
  static Status name_coordinates(hid_t dataset, const ClassicVariable& variable) {
    const std::vector<int32_t> numbers(variable.dimensions.begin(), variable.dimensions.end());
    return write_whole_numbers(dataset, "_Netcdf4Coordinates", numbers, false);
  }

  Status add_bare_dimension(size_t number) {
    const ClassicDimension& dimension = header_.dimensions[number];
    if (dimension.length > max_bare_length) {
      return usage_error(fmt::format(
          "{}dimension {} has length {}; netCDF-4 allows {} where no variable has its name",
          dimension.is_record ? "record " : "", dimension.name, dimension.length, max_bare_length));
    }
    NEVE_TRY(take_name("dimension", dimension.name, dimension.name));
    const Extent dims = {dimension.length};
    const Handle space = file_space(dims, dimension.is_record);
    const Handle creation = creation_properties(dimension.is_record ? Extent{1} : Extent{});
    const Handle dataset(H5Dcreate2(file_, dimension.name.c_str(), H5T_IEEE_F32BE, space.id(), H5P_DEFAULT,
                                    creation.id(), H5P_DEFAULT),
                         H5Dclose);
    if (!dataset.valid()) return refuses(dimension.name);
    return make_scale(dataset.id(), number, dimension.name, bare_dimension_text(dimension.length));
  }

  bool is_scale(size_t variable) const {
    const auto& dimensions = header_.variables[variable].dimensions;
    return !dimensions.empty() && scales_[dimensions[0]] == names_[variable];
  }

  Status attach(size_t variable) {
    const auto& dimensions = header_.variables[variable].dimensions;
    if (dimensions.empty() || is_scale(variable)) return {};
    const Handle dataset(H5Dopen2(file_, names_[variable].c_str(), H5P_DEFAULT), H5Dclose);
    std::vector<std::string> scales;
    for (size_t d = 0; d < dimensions.size(); ++d) {
      scales.push_back(scales_[dimensions[d]]);
      users_[dimensions[d]].push_back({names_[variable], static_cast<int32_t>(d)});
    }
    return write_scales(file_, dataset.id(), scales).in(names_[variable]);
  }

  Status list_users(size_t dimension) const {
    if (users_[dimension].empty()) return {};
    const Handle dataset(H5Dopen2(file_, scales_[dimension].c_str(), H5P_DEFAULT), H5Dclose);
    return write_scale_users(file_, dataset.id(), users_[dimension]).in(scales_[dimension]);
  }

  hid_t file_;
  hdf5::SkipDriverState& driver_;
  const plotfile::File& source_;
  const ClassicHeader& header_;
  std::map<std::string, size_t> dimensions_;   // by name
  std::map<std::string, std::string> taken_;   // names of datasets, and whose they are
  std::vector<std::string> names_;             // of the variables' datasets
  std::vector<std::string> scales_;            // of the dimensions' datasets
  std::vector<std::vector<ScaleUser>> users_;  // by dimension
};

}  // namespace

Result<ClassicStructure> make_classic_structure(const plotfile::File& source, const ClassicHeader& header) {
  const hdf5::QuietErrors quiet;
  ClassicStructure made;
  hdf5::SkipDriverState driver;
  driver.held = &made.held;
  const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  const Handle creation(H5Pcreate(H5P_FILE_CREATE), H5Pclose);
  NEVE_TRY(hdf5::use_skip_driver(access.id(), &driver));
  // netCDF-C finds variables, and the file's attributes, in the order in which they were made.
  H5Pset_link_creation_order(creation.id(), H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);
  H5Pset_attr_creation_order(creation.id(), H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);
  H5Pset_libver_bounds(access.id(), H5F_LIBVER_V18, H5F_LIBVER_LATEST);
  Handle file(H5Fcreate(source.path().c_str(), H5F_ACC_TRUNC, creation.id(), access.id()), H5Fclose);
  if (!file.valid()) return refuses("the file");
  Builder builder(file.id(), driver, source, header);
  const Status built = builder.run();
  const bool is_closed = file.close();
  NEVE_TRY(built);
  if (!is_closed || driver.system_error != 0) return refuses("the file");
  made.chunks = std::move(builder.chunks);
  std::sort(made.chunks.begin(), made.chunks.end(),
            [](const ClassicChunk& a, const ClassicChunk& b) { return a.address < b.address; });
  return made;
}

}  // namespace neve::datafile
