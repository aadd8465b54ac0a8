// SPDX-License-Identifier: BSD-3-Clause
#include "io/hdf5/attributes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "io/hdf5/errors.hpp"

namespace neve::hdf5 {
namespace {

constexpr std::array<const char*, max_dims> axis = {"i", "j", "k"};

Handle string_type(const std::string& value) {
  Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(type.id(), std::max<size_t>(value.size(), 1));  // HDF5 knows no empty string type
  H5Tset_strpad(type.id(), H5T_STR_NULLPAD);
  const bool ascii = std::all_of(value.begin(), value.end(), [](unsigned char c) { return c < 128; });
  H5Tset_cset(type.id(), ascii ? H5T_CSET_ASCII : H5T_CSET_UTF8);
  return type;
}

Handle intvect_type(int dims, hid_t member) {
  Handle type(H5Tcreate(H5T_COMPOUND, static_cast<size_t>(dims) * sizeof(int32_t)), H5Tclose);
  for (int d = 0; d < dims; ++d) {
    const std::string name = std::string("intvect") + axis[d];
    H5Tinsert(type.id(), name.c_str(), static_cast<size_t>(d) * sizeof(int32_t), member);
  }
  return type;
}

Status write_raw(hid_t where, const std::string& name, hid_t file_type, hid_t memory_type, hid_t space,
                 const void* data) {
  Handle attribute(H5Acreate2(where, name.c_str(), file_type, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
  if (!attribute.valid() || H5Awrite(attribute.id(), memory_type, data) < 0) {
    return failure(fmt::format("attribute {}: HDF5 cannot write it: {}", name, last_error()));
  }
  return {};
}

Status write_scalar(hid_t where, const std::string& name, hid_t file_type, hid_t memory_type,
                    const void* data) {
  Handle space(H5Screate(H5S_SCALAR), H5Sclose);
  return write_raw(where, name, file_type, memory_type, space.id(), data);
}

Status write_array(hid_t where, const std::string& name, hid_t file_type, hid_t memory_type, size_t count,
                   const void* data) {
  const hsize_t extent = count;
  Handle space(H5Screate_simple(1, &extent, nullptr), H5Sclose);
  return write_raw(where, name, file_type, memory_type, space.id(), data);
}

struct OpenAttribute {
  Handle attribute;
  Handle type;
  H5T_class_t type_class;
  int64_t count;
};

Result<OpenAttribute> open_attribute(hid_t where, const std::string& place, const std::string& name) {
  if (!has_attribute(where, name)) return corrupt(fmt::format("{} has no attribute {}", place, name));
  OpenAttribute open;
  open.attribute = Handle(H5Aopen(where, name.c_str(), H5P_DEFAULT), H5Aclose);
  if (!open.attribute.valid()) {
    return corrupt(fmt::format("{}: attribute {} cannot be opened: {}", place, name, last_error()));
  }
  open.type = Handle(H5Aget_type(open.attribute.id()), H5Tclose);
  Handle space(H5Aget_space(open.attribute.id()), H5Sclose);
  open.type_class = H5Tget_class(open.type.id());
  open.count = H5Sget_simple_extent_npoints(space.id());
  // Every attribute we read is a number, a name or a box; 64 KiB is HDF5's own limit for an attribute.
  constexpr int64_t max_values = 65536;
  if (!open.type.valid() || open.count < 1 || open.count > max_values) {
    return corrupt(fmt::format("{}: attribute {} has {} values; 1 to {} are allowed", place, name, open.count,
                               max_values));
  }
  return open;
}

Status wrong_type(const std::string& place, const std::string& name, const char* wanted) {
  return corrupt(fmt::format("{}: attribute {} is not {}", place, name, wanted));
}

template <class T>
Result<std::vector<T>> read_numbers(hid_t where, const std::string& place, const std::string& name,
                                    hid_t memory_type) {
  NEVE_ASSIGN(OpenAttribute open, open_attribute(where, place, name));
  if (open.type_class != H5T_INTEGER && open.type_class != H5T_FLOAT) {
    return wrong_type(place, name, "a number");
  }
  std::vector<T> values(static_cast<size_t>(open.count));
  if (H5Aread(open.attribute.id(), memory_type, values.data()) < 0) {
    return corrupt(fmt::format("{}: attribute {} cannot be read: {}", place, name, last_error()));
  }
  return values;
}

Status read_compound(hid_t where, const std::string& place, const std::string& name, const Handle& memory,
                     void* out) {
  NEVE_ASSIGN(OpenAttribute open, open_attribute(where, place, name));
  NEVE_TRY(check_compound(open.type.id(), memory.id()).in(fmt::format("{}: attribute {}", place, name)));
  if (open.count != 1 || H5Aget_storage_size(open.attribute.id()) != H5Tget_size(open.type.id())) {
    return corrupt(fmt::format("{}: attribute {} has {} values, not 1", place, name, open.count));
  }
  if (H5Aread(open.attribute.id(), memory.id(), out) < 0) {
    return corrupt(fmt::format("{}: attribute {} cannot be read: {}", place, name, last_error()));
  }
  return {};
}

}  // namespace

Status check_compound(hid_t in_file, hid_t wanted) {
  if (H5Tget_class(in_file) != H5T_COMPOUND) return corrupt("is not a compound");
  const size_t bytes = H5Tget_size(in_file);
  const int wanted_members = H5Tget_nmembers(wanted);
  for (int m = 0; m < wanted_members; ++m) {
    char* raw = H5Tget_member_name(wanted, static_cast<unsigned>(m));
    const std::string member = raw;
    H5free_memory(raw);
    if (H5Tget_member_index(in_file, member.c_str()) < 0) {
      return corrupt(fmt::format("has no member {}", member));
    }
  }
  const int members = H5Tget_nmembers(in_file);
  for (int m = 0; m < members; ++m) {
    const auto index = static_cast<unsigned>(m);
    const Handle type(H5Tget_member_type(in_file, index), H5Tclose);
    const size_t offset = H5Tget_member_offset(in_file, index);
    const size_t size = H5Tget_size(type.id());
    if (!type.valid() || offset > bytes || size > bytes - offset) {
      return corrupt(fmt::format("has a member of {} bytes at {} of {}", size, offset, bytes));
    }
  }
  return {};
}

Handle box_type(int dims, hid_t member) {
  Handle type(H5Tcreate(H5T_COMPOUND, 2 * static_cast<size_t>(dims) * sizeof(int32_t)), H5Tclose);
  for (int side = 0; side < 2; ++side) {
    for (int d = 0; d < dims; ++d) {
      const std::string name = std::string(side == 0 ? "lo_" : "hi_") + axis[d];
      H5Tinsert(type.id(), name.c_str(), static_cast<size_t>(side * dims + d) * sizeof(int32_t), member);
    }
  }
  return type;
}

Status write_attribute(hid_t where, const std::string& name, int32_t value) {
  return write_scalar(where, name, H5T_STD_I32LE, H5T_NATIVE_INT32, &value);
}

Status write_attribute(hid_t where, const std::string& name, double value) {
  return write_scalar(where, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, &value);
}

Status write_attribute(hid_t where, const std::string& name, std::span<const int32_t> values) {
  return write_array(where, name, H5T_STD_I32LE, H5T_NATIVE_INT32, values.size(), values.data());
}

Status write_attribute(hid_t where, const std::string& name, std::span<const double> values) {
  return write_array(where, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, values.size(), values.data());
}

Status write_attribute(hid_t where, const std::string& name, const std::string& value) {
  const Handle type = string_type(value);
  return write_scalar(where, name, type.id(), type.id(), value.c_str());
}

Status write_box_attribute(hid_t where, const std::string& name, const Box& box, int dims) {
  std::array<int32_t, 2 * max_dims> corners{};
  std::copy_n(box.lo.begin(), dims, corners.begin());
  std::copy_n(box.hi.begin(), dims, corners.begin() + dims);
  const Handle file_type = box_type(dims, H5T_STD_I32LE);
  const Handle memory_type = box_type(dims, H5T_NATIVE_INT32);
  return write_scalar(where, name, file_type.id(), memory_type.id(), corners.data());
}

Status write_intvect_attribute(hid_t where, const std::string& name, const IntVect& value, int dims) {
  const Handle file_type = intvect_type(dims, H5T_STD_I32LE);
  const Handle memory_type = intvect_type(dims, H5T_NATIVE_INT32);
  return write_scalar(where, name, file_type.id(), memory_type.id(), value.data());
}

bool has_attribute(hid_t where, const std::string& name) { return H5Aexists(where, name.c_str()) > 0; }

Result<std::vector<int32_t>> read_ints(hid_t where, const std::string& place, const std::string& name) {
  return read_numbers<int32_t>(where, place, name, H5T_NATIVE_INT32);
}

Result<std::vector<double>> read_doubles(hid_t where, const std::string& place, const std::string& name) {
  return read_numbers<double>(where, place, name, H5T_NATIVE_DOUBLE);
}

Result<int32_t> read_int(hid_t where, const std::string& place, const std::string& name) {
  NEVE_ASSIGN(const std::vector<int32_t> values, read_ints(where, place, name));
  return values.front();
}

Result<double> read_double(hid_t where, const std::string& place, const std::string& name) {
  NEVE_ASSIGN(const std::vector<double> values, read_doubles(where, place, name));
  return values.front();
}

Result<std::string> read_string(hid_t where, const std::string& place, const std::string& name) {
  NEVE_ASSIGN(OpenAttribute open, open_attribute(where, place, name));
  if (open.type_class != H5T_STRING) return wrong_type(place, name, "a string");
  if (H5Tis_variable_str(open.type.id()) > 0) {
    char* text = nullptr;
    if (open.count != 1 || H5Aread(open.attribute.id(), open.type.id(), &text) < 0 || text == nullptr) {
      return corrupt(fmt::format("{}: attribute {} cannot be read: {}", place, name, last_error()));
    }
    std::string value = text;
    H5free_memory(text);
    return value;
  }
  const size_t length = H5Tget_size(open.type.id());
  constexpr size_t max_bytes = 65536;  // of an attribute
  if (open.count != 1 || length > max_bytes) {
    return corrupt(fmt::format("{}: attribute {} is {} strings of {} bytes; one of at most {} is allowed",
                               place, name, open.count, length, max_bytes));
  }
  std::string value(length, '\0');
  if (H5Aread(open.attribute.id(), open.type.id(), value.data()) < 0) {
    return corrupt(fmt::format("{}: attribute {} cannot be read: {}", place, name, last_error()));
  }
  if (H5Tget_strpad(open.type.id()) == H5T_STR_SPACEPAD) {
    value.erase(value.find_last_not_of(' ') + 1);
    return value;
  }
  value.resize(std::min(value.find('\0'), value.size()));
  return value;
}

Result<Box> read_box_attribute(hid_t where, const std::string& place, const std::string& name, int dims) {
  std::array<int32_t, 2 * max_dims> corners{};
  const Handle memory_type = box_type(dims, H5T_NATIVE_INT32);
  NEVE_TRY(read_compound(where, place, name, memory_type, corners.data()));
  Box box;
  std::copy_n(corners.begin(), dims, box.lo.begin());
  std::copy_n(corners.begin() + dims, dims, box.hi.begin());
  return box;
}

Result<IntVect> read_intvect_attribute(hid_t where, const std::string& place, const std::string& name,
                                       int dims) {
  IntVect value{0, 0, 0};
  const Handle memory_type = intvect_type(dims, H5T_NATIVE_INT32);
  NEVE_TRY(read_compound(where, place, name, memory_type, value.data()));
  return value;
}

}  // namespace neve::hdf5
