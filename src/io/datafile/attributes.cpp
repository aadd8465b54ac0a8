// SPDX-License-Identifier: BSD-3-Clause
#include "io/datafile/attributes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "io/hdf5/errors.hpp"

namespace neve::datafile {
namespace {

using hdf5::Handle;
using hdf5::last_error;

// Groups, datasets and named types alike.
Result<Handle> creation_properties(hid_t object) {
  const H5I_type_t kind = H5Iget_type(object);
  Handle creation(kind == H5I_GROUP     ? H5Gget_create_plist(object)
                  : kind == H5I_DATASET ? H5Dget_create_plist(object)
                                        : H5Tget_create_plist(object),
                  H5Pclose);
  if (!creation.valid()) return corrupt(fmt::format("its properties cannot be read: {}", last_error()));
  return creation;
}

Result<std::vector<std::string>> attribute_names(hid_t object) {
  NEVE_ASSIGN(const Handle creation, creation_properties(object));
  unsigned order_flags = 0;
  H5Pget_attr_creation_order(creation.id(), &order_flags);
  const H5_index_t order = (order_flags & H5P_CRT_ORDER_TRACKED) != 0 ? H5_INDEX_CRT_ORDER : H5_INDEX_NAME;
  std::vector<std::string> names;
  // No exception passes through HDF5.
  const auto collect = [](hid_t, const char* name, const H5A_info_t*, void* out) noexcept -> herr_t {
    try {
      static_cast<std::vector<std::string>*>(out)->emplace_back(name);
      return 0;
    } catch (...) {
      return -1;
    }
  };
  hsize_t at = 0;
  if (H5Aiterate2(object, order, H5_ITER_INC, &at, collect, &names) < 0) {
    return corrupt(fmt::format("its attributes cannot be listed: {}", last_error()));
  }
  return names;
}

struct OpenAttribute {
  Handle attribute, type, space;
};

Result<OpenAttribute> open_attribute(hid_t object, const std::string& name) {
  OpenAttribute open;
  open.attribute = Handle(H5Aopen(object, name.c_str(), H5P_DEFAULT), H5Aclose);
  if (open.attribute.valid()) {
    open.type = Handle(H5Aget_type(open.attribute.id()), H5Tclose);
    open.space = Handle(H5Aget_space(open.attribute.id()), H5Sclose);
  }
  if (!open.type.valid() || !open.space.valid()) {
    return corrupt(fmt::format("attribute {} cannot be opened: {}", name, last_error()));
  }
  return open;
}

Result<Values> read_values(const OpenAttribute& open, const std::string& name) {
  auto values = Values::of(open.type.id(), open.space.id());
  if (!values.ok()) return values.status().in("attribute " + name);
  if (values->count() > 0 && H5Aread(open.attribute.id(), values->type(), values->data()) < 0) {
    return corrupt(fmt::format("attribute {} cannot be read: {}", name, last_error()));
  }
  return values;
}

Status copy_attribute(hid_t source, hid_t target, const std::string& name, const ReferenceSpace& from,
                      const ReferenceSpace& to, const TypeInTarget& type_in_target,
                      uint64_t& lost_references) {
  NEVE_ASSIGN(const OpenAttribute open, open_attribute(source, name));
  NEVE_ASSIGN(const Handle type, type_in_target(open.type.id()));
  const Handle creation(H5Aget_create_plist(open.attribute.id()), H5Pclose);
  const Handle made(H5Acreate2(target, name.c_str(), type.id(), open.space.id(), creation.id(), H5P_DEFAULT),
                    H5Aclose);
  if (!made.valid()) return failure(fmt::format("attribute {} cannot be made: {}", name, last_error()));
  if (H5Sget_simple_extent_npoints(open.space.id()) == 0) return {};
  NEVE_ASSIGN(Values values, read_values(open, name));
  NEVE_TRY(translate_references(values, from, to, lost_references).in("attribute " + name));
  if (H5Awrite(made.id(), values.type(), values.data()) < 0) {
    return failure(fmt::format("attribute {} cannot be written: {}", name, last_error()));
  }
  return {};
}

bool holds(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool same_space(hid_t a, hid_t b) {
  return H5Sget_simple_extent_type(a) == H5Sget_simple_extent_type(b) && H5Sextent_equal(a, b) > 0;
}

Result<bool> is_same_attribute(hid_t a, hid_t b, const std::string& name, const ReferenceSpace& of_a,
                               const ReferenceSpace& of_b) {
  NEVE_ASSIGN(const OpenAttribute open_a, open_attribute(a, name));
  NEVE_ASSIGN(const OpenAttribute open_b, open_attribute(b, name));
  if (!same_space(open_a.space.id(), open_b.space.id())) return false;
  if (H5Tequal(open_a.type.id(), open_b.type.id()) <= 0) return false;
  NEVE_ASSIGN(const Values values_a, read_values(open_a, name));
  NEVE_ASSIGN(const Values values_b, read_values(open_b, name));
  return equal_values(values_a, of_a, values_b, of_b);
}

}  // namespace

Status copy_attributes(hid_t source, hid_t target, const std::string& place, const ReferenceSpace& from,
                       const ReferenceSpace& to, const TypeInTarget& type_in_target,
                       uint64_t& lost_references) {
  auto names = attribute_names(source);
  if (!names.ok()) return names.status().in(place);
  for (const std::string& name : *names) {
    NEVE_TRY(copy_attribute(source, target, name, from, to, type_in_target, lost_references).in(place));
  }
  return {};
}

Result<std::vector<std::string>> kept_attributes(hid_t a, hid_t b, const std::string& place,
                                                 const ReferenceSpace& of_a, const ReferenceSpace& of_b) {
  auto names_a = attribute_names(a), names_b = attribute_names(b);
  if (!names_a.ok()) return names_a.status().in(place);
  if (!names_b.ok()) return names_b.status().in(place);
  std::vector<std::string> differences;
  for (const std::string& name : *names_a) {
    if (!holds(*names_b, name)) {
      differences.push_back(fmt::format("{}: attribute {} is missing in the copy", place, name));
      continue;
    }
    auto same = is_same_attribute(a, b, name, of_a, of_b);
    if (!same.ok()) return same.status().in(place);
    if (!*same) differences.push_back(fmt::format("{}: attribute {} differs", place, name));
  }
  return differences;
}

Result<std::vector<std::string>> compare_attributes(hid_t a, hid_t b, const std::string& place,
                                                    const ReferenceSpace& of_a, const ReferenceSpace& of_b) {
  NEVE_ASSIGN(std::vector<std::string> differences, kept_attributes(a, b, place, of_a, of_b));
  auto names_a = attribute_names(a), names_b = attribute_names(b);
  if (!names_a.ok()) return names_a.status().in(place);
  if (!names_b.ok()) return names_b.status().in(place);
  for (const std::string& name : *names_b) {
    if (!holds(*names_a, name)) {
      differences.push_back(fmt::format("{}: attribute {} is only in the copy", place, name));
    }
  }
  if (differences.empty() && *names_a != *names_b) {
    differences.push_back(fmt::format("{}: its attributes stand in another order", place));
  }
  return differences;
}

std::vector<double> numeric_values(hid_t object, const std::string& name) {
  if (H5Aexists(object, name.c_str()) <= 0) return {};
  const Result<OpenAttribute> open = open_attribute(object, name);
  if (!open.ok()) return {};
  const H5T_class_t type_class = H5Tget_class(open->type.id());
  if (type_class != H5T_FLOAT && type_class != H5T_INTEGER) return {};
  // HDF5 has read and checked the attribute's message: it holds as many values as its extent says.
  const hssize_t count = H5Sget_simple_extent_npoints(open->space.id());
  if (count < 1 || static_cast<uint64_t>(count) * H5Tget_size(open->type.id()) >
                       H5Aget_storage_size(open->attribute.id())) {
    return {};
  }
  std::vector<double> values(static_cast<size_t>(count));
  if (H5Aread(open->attribute.id(), H5T_NATIVE_DOUBLE, values.data()) < 0) return {};
  return values;
}

std::optional<double> numeric_attribute(hid_t object, const std::string& name) {
  const std::vector<double> values = numeric_values(object, name);
  return values.size() == 1 ? std::optional(values.front()) : std::nullopt;
}

std::optional<std::string> text_attribute(hid_t object, const std::string& name) {
  if (H5Aexists(object, name.c_str()) <= 0) return {};
  const Result<OpenAttribute> open = open_attribute(object, name);
  if (!open.ok() || H5Tget_class(open->type.id()) != H5T_STRING) return {};
  const Result<Values> values = read_values(*open, name);
  if (!values.ok()) return {};
  const bool is_variable = H5Tis_variable_str(open->type.id()) > 0;
  const size_t bytes = H5Tget_size(open->type.id());
  std::string text;
  for (size_t i = 0; i < values->count(); ++i) {
    const std::byte* const at = values->data() + i * bytes;
    const char* string = reinterpret_cast<const char*>(at);
    if (is_variable) std::memcpy(&string, at, sizeof string);
    if (string == nullptr) continue;
    if (i > 0) text += ' ';
    text.append(string, is_variable ? std::strlen(string) : ::strnlen(string, bytes));
  }
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

}  // namespace neve::datafile
