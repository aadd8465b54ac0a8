// SPDX-License-Identifier: BSD-3-Clause
#include "io/datafile/classic_attributes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "io/hdf5/errors.hpp"

namespace neve::datafile {
namespace {

using hdf5::Handle;

constexpr std::string_view taken_names[] = {"CLASS",          "NAME",          "DIMENSION_LIST",
                                            "REFERENCE_LIST", "_Netcdf4Dimid", "_Netcdf4Coordinates"};

constexpr size_t max_name_bytes = 65534;  // HDF5 counts them, and a zero, in 16 bits
constexpr size_t shown_bytes = 60;

Handle text_type(size_t letters) {
  Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(type.id(), std::max<size_t>(letters, 1));
  H5Tset_cset(type.id(), H5T_CSET_UTF8);
  return type;
}

Status write(hid_t object, const std::string& name, const Handle& type, const Handle& space,
             const void* values) {
  const Handle attribute(H5Acreate2(object, name.c_str(), type.id(), space.id(), H5P_DEFAULT, H5P_DEFAULT),
                         H5Aclose);
  if (attribute.valid() && (values == nullptr || H5Awrite(attribute.id(), type.id(), values) >= 0)) return {};
  return failure(fmt::format("attribute {}: HDF5 refuses it: {}", name, hdf5::last_error()));
}

Handle scalar() { return {H5Screate(H5S_SCALAR), H5Sclose}; }
Handle line(hsize_t count) { return {H5Screate_simple(1, &count, nullptr), H5Sclose}; }

Result<hobj_ref_t> reference_to(hid_t file, const std::string& name) {
  hobj_ref_t reference = 0;
  if (H5Rcreate(&reference, file, name.c_str(), H5R_OBJECT, -1) < 0)
    return failure(fmt::format("HDF5 cannot refer to {}: {}", name, hdf5::last_error()));
  return reference;
}

}  // namespace

Handle hdf5_type(ClassicType type) {
  const auto of = [](hid_t standard) { return Handle(H5Tcopy(standard), H5Tclose); };
  switch (type) {
    case ClassicType::i8:
      return of(H5T_STD_I8LE);
    case ClassicType::text:
      return of(H5T_C_S1);
    case ClassicType::i16:
      return of(H5T_STD_I16LE);
    case ClassicType::i32:
      return of(H5T_STD_I32LE);
    case ClassicType::f32:
      return of(H5T_IEEE_F32LE);
    case ClassicType::f64:
      return of(H5T_IEEE_F64LE);
    case ClassicType::u8:
      return of(H5T_STD_U8LE);
    case ClassicType::u16:
      return of(H5T_STD_U16LE);
    case ClassicType::u32:
      return of(H5T_STD_U32LE);
    case ClassicType::i64:
      return of(H5T_STD_I64LE);
    case ClassicType::u64:
      return of(H5T_STD_U64LE);
  }
  return {};
}

Status write_attribute(hid_t object, const ClassicAttribute& attribute) {
  if (std::find(std::begin(taken_names), std::end(taken_names), attribute.name) != std::end(taken_names)) {
    return usage_error(fmt::format("attribute {} cannot be kept: netCDF-4 has a use of its own for this name",
                                   attribute.name));
  }
  if (attribute.name.size() > max_name_bytes) {
    return usage_error(fmt::format("attribute {}... has a name of {} bytes; HDF5 allows {}",
                                   attribute.name.substr(0, shown_bytes), attribute.name.size(),
                                   max_name_bytes));
  }
  const bool is_text = attribute.type == ClassicType::text;
  const Handle type = is_text ? text_type(attribute.count) : hdf5_type(attribute.type);
  if (attribute.count == 0) {
    return write(object, attribute.name, type, Handle(H5Screate(H5S_NULL), H5Sclose), nullptr);
  }
  return write(object, attribute.name, type, is_text ? scalar() : line(attribute.count),
               attribute.values.data());
}

Status write_text(hid_t object, const std::string& name, const std::string& text) {
  return write(object, name, text_type(text.size() + 1), scalar(), text.c_str());
}

Status write_whole_numbers(hid_t object, const std::string& name, const std::vector<int32_t>& numbers,
                           bool is_scalar) {
  const Handle type(H5Tcopy(H5T_STD_I32LE), H5Tclose);
  return write(object, name, type, is_scalar ? scalar() : line(numbers.size()), numbers.data());
}

Status write_scales(hid_t file, hid_t dataset, const std::vector<std::string>& scales) {
  std::vector<hobj_ref_t> references;
  for (const std::string& scale : scales) {
    NEVE_ASSIGN(const hobj_ref_t reference, reference_to(file, scale));
    references.push_back(reference);
  }
  std::vector<hvl_t> lists;
  for (hobj_ref_t& reference : references) lists.push_back({1, &reference});
  const Handle type(H5Tvlen_create(H5T_STD_REF_OBJ), H5Tclose);
  return write(dataset, "DIMENSION_LIST", type, line(lists.size()), lists.data());
}

Status write_scale_users(hid_t file, hid_t scale, const std::vector<ScaleUser>& users) {
  struct Entry {
    hobj_ref_t dataset;
    int32_t dimension;
  };
  std::vector<Entry> entries;
  for (const ScaleUser& user : users) {
    NEVE_ASSIGN(const hobj_ref_t reference, reference_to(file, user.dataset));
    entries.push_back({reference, user.dimension});
  }
  const Handle type(H5Tcreate(H5T_COMPOUND, sizeof(Entry)), H5Tclose);
  H5Tinsert(type.id(), "dataset", offsetof(Entry, dataset), H5T_STD_REF_OBJ);
  H5Tinsert(type.id(), "dimension", offsetof(Entry, dimension), H5T_STD_I32LE);
  return write(scale, "REFERENCE_LIST", type, line(entries.size()), entries.data());
}

}  // namespace neve::datafile
