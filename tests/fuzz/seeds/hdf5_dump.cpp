// SPDX-License-Identifier: BSD-3-Clause
#include "tests/fuzz/seeds/hdf5_dump.hpp"

#include <hdf5.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "io/hdf5/errors.hpp"
#include "io/hdf5/filter.hpp"
#include "io/hdf5/handle.hpp"

namespace neve::fuzz {
namespace {

using hdf5::Handle;

std::optional<ScalarType> scalar_of(hid_t type) {
  ScalarType scalar;
  const size_t bytes = H5Tget_size(type);
  scalar.is_big_endian = H5Tget_order(type) == H5T_ORDER_BE;
  switch (H5Tget_class(type)) {
    case H5T_INTEGER: {
      const bool is_signed = H5Tget_sign(type) == H5T_SGN_2;
      size_t width = 0;  // log2 of the bytes
      while ((size_t{1} << width) < bytes) ++width;
      if (width > 3) return {};
      scalar.kind = static_cast<TypeKind>(2 * width + (is_signed ? 0 : 1));
      return scalar;
    }
    case H5T_FLOAT:
      scalar.kind = bytes == sizeof(float) ? TypeKind::f32 : TypeKind::f64;
      return scalar;
    case H5T_STRING:
      scalar.is_big_endian = false;
      if (H5Tis_variable_str(type) > 0) {
        scalar.kind = TypeKind::vlen_text;
        return scalar;
      }
      if (bytes > UINT16_MAX) return {};
      scalar.kind = TypeKind::text;
      scalar.text_bytes = static_cast<uint16_t>(bytes);
      return scalar;
    case H5T_REFERENCE:
      scalar.kind = TypeKind::reference;
      return bytes == sizeof(hobj_ref_t) ? std::optional(scalar) : std::nullopt;
    case H5T_VLEN: {
      const Handle of(H5Tget_super(type), H5Tclose);
      scalar.kind = TypeKind::reference_list;
      return H5Tget_class(of.id()) == H5T_REFERENCE ? std::optional(scalar) : std::nullopt;
    }
    default:
      return {};
  }
}

std::optional<RecipeType> type_of(hid_t type) {
  RecipeType found;
  if (H5Tget_class(type) != H5T_COMPOUND) {
    const auto scalar = scalar_of(type);
    if (!scalar) return {};
    found.scalar = *scalar;
    return found;
  }
  found.scalar.kind = TypeKind::compound;
  found.compound_bytes = static_cast<uint16_t>(H5Tget_size(type));
  const int members = H5Tget_nmembers(type);
  for (int m = 0; m < members; ++m) {
    const auto index = static_cast<unsigned>(m);
    const Handle of(H5Tget_member_type(type, index), H5Tclose);
    const auto scalar = scalar_of(of.id());
    if (!scalar || scalar->kind > TypeKind::text) return {};
    char* const name = H5Tget_member_name(type, index);
    found.members.push_back({name, static_cast<uint16_t>(H5Tget_member_offset(type, index)), *scalar});
    H5free_memory(name);
  }
  return found;
}

std::string object_path(hid_t file, const hobj_ref_t& reference) {
  std::array<char, 256> name{};
  return H5Rget_name(file, H5R_OBJECT, &reference, name.data(), name.size()) > 0 ? std::string(name.data())
                                                                                 : std::string();
}

// Values read in the file's own type as a recipe has them.
Bytes values_of(hid_t file, TypeKind kind, const Bytes& raw, size_t value_bytes) {
  if (kind != TypeKind::vlen_text && kind != TypeKind::reference && kind != TypeKind::reference_list)
    return raw;
  Bytes values;
  for (size_t at = 0; at + value_bytes <= raw.size(); at += value_bytes) {
    std::string text;
    if (kind == TypeKind::vlen_text) {
      const char* pointer = nullptr;
      std::memcpy(&pointer, raw.data() + at, sizeof pointer);
      if (pointer != nullptr) text = pointer;
    } else if (kind == TypeKind::reference) {
      hobj_ref_t reference;
      std::memcpy(&reference, raw.data() + at, sizeof reference);
      text = object_path(file, reference);
    } else {
      hvl_t list;
      std::memcpy(&list, raw.data() + at, sizeof list);
      if (list.len > 0) text = object_path(file, *static_cast<const hobj_ref_t*>(list.p));
    }
    const auto* const bytes = reinterpret_cast<const std::byte*>(text.c_str());
    values.insert(values.end(), bytes, bytes + text.size() + 1);
  }
  return values;
}

class Dump {
 public:
  Dump(hid_t file, const DumpOptions& options) : file_(file), options_(options) {}

  Recipe take() {
    add_attributes("/");
    add_group("/");
    // References lead to objects that must be there.
    recipe_.insert(recipe_.end(), attributes_.begin(), attributes_.end());
    return std::move(recipe_);
  }

 private:
  void add_attributes(const std::string& path);
  void add_group(const std::string& path);
  void add_dataset(const std::string& path);
  void add_values(hid_t dataset, hid_t type, const std::vector<hsize_t>& dims, Record& record) const;
  void add_chunks(hid_t dataset, const std::vector<hsize_t>& dims, Record& record) const;

  hid_t file_;
  const DumpOptions& options_;
  Recipe recipe_;
  Recipe attributes_;
};

void Dump::add_attributes(const std::string& path) {
  const Handle object(H5Oopen(file_, path.c_str(), H5P_DEFAULT), H5Oclose);
  H5O_info_t info;
  if (H5Oget_info2(object.id(), &info, H5O_INFO_NUM_ATTRS) < 0) return;
  for (hsize_t i = 0; i < info.num_attrs; ++i) {
    const Handle attribute(
        H5Aopen_by_idx(object.id(), ".", H5_INDEX_NAME, H5_ITER_INC, i, H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
    const Handle type(H5Aget_type(attribute.id()), H5Tclose);
    const Handle space(H5Aget_space(attribute.id()), H5Sclose);
    const auto found = type_of(type.id());
    if (!found) continue;
    std::array<char, 256> name{};
    H5Aget_name(attribute.id(), name.size(), name.data());
    Record record;
    record.kind = RecordKind::attribute;
    record.path = path;
    record.name = name.data();
    record.type = *found;
    record.has_extent = H5Sget_simple_extent_type(space.id()) != H5S_NULL;
    std::vector<hsize_t> dims(static_cast<size_t>(std::max(H5Sget_simple_extent_ndims(space.id()), 0)));
    H5Sget_simple_extent_dims(space.id(), dims.data(), nullptr);
    record.dims.assign(dims.begin(), dims.end());
    const size_t value_bytes = H5Tget_size(type.id());
    const auto count = static_cast<size_t>(std::max<hssize_t>(H5Sget_simple_extent_npoints(space.id()), 0));
    if (record.has_extent && count * value_bytes <= options_.max_value_bytes) {
      Bytes raw(count * value_bytes);
      if (H5Aread(attribute.id(), type.id(), raw.data()) < 0) continue;
      record.values = values_of(file_, found->scalar.kind, raw, value_bytes);
    }
    attributes_.push_back(std::move(record));
  }
}

void Dump::add_values(hid_t dataset, hid_t type, const std::vector<hsize_t>& dims, Record& record) const {
  const size_t value_bytes = H5Tget_size(type);
  hsize_t count = 1;
  for (const hsize_t side : dims) count *= side;
  if (count == 0 || count > options_.max_value_bytes / value_bytes) return;
  const Handle memory(dims.empty() ? H5Screate(H5S_SCALAR)
                                   : H5Screate_simple(static_cast<int>(dims.size()), dims.data(), nullptr),
                      H5Sclose);
  const Handle selection(H5Dget_space(dataset), H5Sclose);
  const std::vector<hsize_t> first(dims.size(), 0);
  if (!dims.empty()) {
    H5Sselect_hyperslab(selection.id(), H5S_SELECT_SET, first.data(), nullptr, dims.data(), nullptr);
  }
  Bytes raw(count * value_bytes);
  if (H5Dread(dataset, type, memory.id(), selection.id(), H5P_DEFAULT, raw.data()) < 0) return;
  record.values = values_of(file_, record.type.scalar.kind, raw, value_bytes);
}

void Dump::add_chunks(hid_t dataset, const std::vector<hsize_t>& dims, Record& record) const {
  hsize_t chunks = 1;
  for (size_t d = 0; d < dims.size(); ++d) chunks *= (dims[d] + record.chunk[d] - 1) / record.chunk[d];
  for (hsize_t number = 0; number < chunks; ++number) {
    std::vector<hsize_t> first(dims.size());
    hsize_t left = number;
    for (size_t d = dims.size(); d-- > 0;) {
      const hsize_t steps = (dims[d] + record.chunk[d] - 1) / record.chunk[d];
      first[d] = left % steps * record.chunk[d];
      left /= steps;
    }
    hsize_t bytes = 0;
    uint32_t mask = 0;
    if (H5Dget_chunk_storage_size(dataset, first.data(), &bytes) < 0 || bytes == 0 ||
        bytes > options_.max_chunk_bytes) {
      return;
    }
    RecipeChunk chunk;
    chunk.bytes.resize(bytes);
    if (H5Dread_chunk(dataset, H5P_DEFAULT, first.data(), &mask, chunk.bytes.data()) < 0) return;
    chunk.filter_mask = static_cast<uint8_t>(mask);
    record.chunks.push_back(std::move(chunk));
  }
}

void Dump::add_dataset(const std::string& path) {
  const Handle dataset(H5Dopen2(file_, path.c_str(), H5P_DEFAULT), H5Dclose);
  const Handle type(H5Dget_type(dataset.id()), H5Tclose);
  const Handle space(H5Dget_space(dataset.id()), H5Sclose);
  const Handle creation(H5Dget_create_plist(dataset.id()), H5Pclose);
  const auto found = type_of(type.id());
  if (!found) return;
  Record record;
  record.kind = RecordKind::dataset;
  record.path = path;
  record.type = *found;
  record.has_extent = H5Sget_simple_extent_type(space.id()) != H5S_NULL;
  std::vector<hsize_t> dims(static_cast<size_t>(std::max(H5Sget_simple_extent_ndims(space.id()), 0)));
  H5Sget_simple_extent_dims(space.id(), dims.data(), nullptr);
  std::vector<hsize_t> chunk(dims.size());
  const bool is_chunked = H5Pget_layout(creation.id()) == H5D_CHUNKED;
  if (is_chunked) H5Pget_chunk(creation.id(), static_cast<int>(chunk.size()), chunk.data());
  bool is_neve = false;
  const int filters = is_chunked ? H5Pget_nfilters(creation.id()) : 0;
  for (int f = 0; f < filters; ++f) {
    std::array<unsigned, 64> words{};
    size_t count = words.size();
    unsigned flags = 0;
    const auto id = H5Pget_filter2(creation.id(), static_cast<unsigned>(f), &flags, &count, words.data(), 0,
                                   nullptr, nullptr);
    record.filters.push_back(
        {static_cast<uint16_t>(id), {words.begin(), words.begin() + static_cast<long>(count)}});
    is_neve |= hdf5::is_neve_filter(id);
  }
  for (hsize_t& side : dims) side = is_neve ? side : std::min<hsize_t>(side, options_.longest_side);
  for (size_t d = 0; d < chunk.size(); ++d) chunk[d] = std::min(chunk[d], std::max<hsize_t>(dims[d], 1));
  record.dims.assign(dims.begin(), dims.end());
  if (is_chunked) record.chunk.assign(chunk.begin(), chunk.end());
  H5D_fill_value_t fill = H5D_FILL_VALUE_UNDEFINED;
  if (H5Pfill_value_defined(creation.id(), &fill) >= 0 && fill == H5D_FILL_VALUE_USER_DEFINED &&
      record.type.scalar.kind < TypeKind::text) {
    record.fill.resize(H5Tget_size(type.id()));
    H5Pget_fill_value(creation.id(), type.id(), record.fill.data());
  }
  if (is_neve) {
    add_chunks(dataset.id(), dims, record);
  } else if (record.has_extent) {
    add_values(dataset.id(), type.id(), dims, record);
  }
  recipe_.push_back(std::move(record));
}

void Dump::add_group(const std::string& path) {
  const Handle group(H5Gopen2(file_, path.c_str(), H5P_DEFAULT), H5Gclose);
  H5G_info_t info{};
  H5Gget_info(group.id(), &info);
  const std::string prefix = path == "/" ? path : path + "/";
  for (hsize_t i = 0; i < info.nlinks; ++i) {
    std::array<char, 256> name{};
    H5Lget_name_by_idx(group.id(), ".", H5_INDEX_NAME, H5_ITER_INC, i, name.data(), name.size(), H5P_DEFAULT);
    const std::string child = prefix + name.data();
    const Handle object(H5Oopen(file_, child.c_str(), H5P_DEFAULT), H5Oclose);
    const H5I_type_t kind = H5Iget_type(object.id());
    if (kind == H5I_GROUP) {
      Record record;
      record.path = child;
      recipe_.push_back(std::move(record));
      add_attributes(child);
      add_group(child);
    } else if (kind == H5I_DATASET) {
      add_dataset(child);
      add_attributes(child);
    }
  }
}

}  // namespace

Result<Recipe> dump_hdf5_file(const std::string& path, const DumpOptions& options) {
  const hdf5::QuietErrors quiet;
  NEVE_TRY(hdf5::register_filter());
  const Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
  if (!file.valid()) return failure(path + ": HDF5 cannot open it");
  return Dump(file.id(), options).take();
}

}  // namespace neve::fuzz
