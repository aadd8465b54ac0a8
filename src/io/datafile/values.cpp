// SPDX-License-Identifier: BSD-3-Clause
#include "io/datafile/values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "io/datafile/contents.hpp"
#include "io/hdf5/errors.hpp"
#include "io/hdf5/object_address.hpp"

namespace neve::datafile {
namespace {

using hdf5::Handle;
using hdf5::last_error;
using hdf5::object_address;

// More than HDF5 lets an attribute or a piece of ours have; a damaged extent must not ask for more.
constexpr uint64_t max_bytes = uint64_t{1} << 32;

Handle base_type(hid_t type) { return Handle(H5Tget_super(type), H5Tclose); }
Handle member_type(hid_t type, unsigned member) { return Handle(H5Tget_member_type(type, member), H5Tclose); }

size_t array_elements(hid_t type) {
  const int rank = H5Tget_array_ndims(type);
  std::vector<hsize_t> dims(static_cast<size_t>(std::max(rank, 0)));
  if (!dims.empty()) H5Tget_array_dims2(type, dims.data());
  size_t elements = 1;
  for (const hsize_t size : dims) elements *= size;
  return elements;
}

void collect_traits(hid_t type, TypeTraits& traits) {
  switch (H5Tget_class(type)) {
    case H5T_STRING:
      traits.has_pointers |= H5Tis_variable_str(type) > 0;
      break;
    case H5T_REFERENCE:
      traits.has_references = true;
      break;
    case H5T_VLEN:
      traits.has_pointers = true;
      collect_traits(base_type(type).id(), traits);
      break;
    case H5T_ARRAY:
      collect_traits(base_type(type).id(), traits);
      break;
    case H5T_COMPOUND:
      for (int m = 0; m < H5Tget_nmembers(type); ++m) {
        collect_traits(member_type(type, static_cast<unsigned>(m)).id(), traits);
      }
      break;
    default:
      break;
  }
}

const std::byte* element_at(const std::byte* first, size_t index, size_t bytes) {
  return first + index * bytes;
}

// Where a reference leads: an object's path, and for a region of a dataset which elements.
struct Target {
  std::string path;
  std::vector<unsigned char> region;
  bool operator==(const Target&) const = default;
};

H5R_type_t reference_kind(hid_t type) {
  return H5Tequal(type, H5T_STD_REF_DSETREG) > 0 ? H5R_DATASET_REGION : H5R_OBJECT;
}

bool is_null(const std::byte* reference, size_t bytes) {
  return std::all_of(reference, reference + bytes, [](std::byte b) { return b == std::byte{0}; });
}

// Nothing where no object of a known path is there.
std::optional<std::string> path_of_reference(const std::byte* reference, H5R_type_t kind,
                                             const ReferenceSpace& space) {
  const Handle object(H5Rdereference2(space.file, H5P_DEFAULT, kind, reference), H5Oclose);
  if (!object.valid()) return {};
  const Result<haddr_t> address = object_address(object.id());
  if (!address.ok()) return {};
  const auto found = space.path_of->find(*address);
  if (found == space.path_of->end()) return {};
  return found->second;
}

std::optional<Target> target_of(const std::byte* reference, hid_t type, const ReferenceSpace& space) {
  const H5R_type_t kind = reference_kind(type);
  const auto path = path_of_reference(reference, kind, space);
  if (!path) return {};
  Target target{*path, {}};
  if (kind == H5R_DATASET_REGION) {
    const Handle region(H5Rget_region(space.file, kind, reference), H5Sclose);
    size_t bytes = 0;
    if (!region.valid() || H5Sencode(region.id(), nullptr, &bytes) < 0) return {};
    target.region.resize(bytes);
    if (H5Sencode(region.id(), target.region.data(), &bytes) < 0) return {};
  }
  return target;
}

class Translator {
 public:
  Translator(const ReferenceSpace& from, const ReferenceSpace& to) : from_(from), to_(to) {}

  Status translate(hid_t type, std::byte* values, size_t count) {
    const size_t bytes = H5Tget_size(type);
    switch (H5Tget_class(type)) {
      case H5T_REFERENCE:
        for (size_t i = 0; i < count; ++i) NEVE_TRY(translate_one(type, values + i * bytes, bytes));
        return {};
      case H5T_COMPOUND:
        for (int m = 0; m < H5Tget_nmembers(type); ++m) {
          const auto member = static_cast<unsigned>(m);
          const Handle inner = member_type(type, member);
          if (!type_traits(inner.id()).has_references) continue;
          const size_t offset = H5Tget_member_offset(type, member);
          for (size_t i = 0; i < count; ++i) {
            NEVE_TRY(translate(inner.id(), values + i * bytes + offset, 1));
          }
        }
        return {};
      case H5T_ARRAY:
        return translate(base_type(type).id(), values, count * array_elements(type));
      case H5T_VLEN: {
        const Handle inner = base_type(type);
        for (size_t i = 0; i < count; ++i) {
          hvl_t sequence;
          std::memcpy(&sequence, values + i * bytes, sizeof sequence);
          NEVE_TRY(translate(inner.id(), static_cast<std::byte*>(sequence.p), sequence.len));
        }
        return {};
      }
      default:
        return {};
    }
  }

  uint64_t lost = 0;

 private:
  Status translate_one(hid_t type, std::byte* reference, size_t bytes) {
    if (is_null(reference, bytes)) return {};
    const H5R_type_t kind = reference_kind(type);
    const auto path = path_of_reference(reference, kind, from_);
    if (!path) {
      std::memset(reference, 0, bytes);
      ++lost;
      return {};
    }
    Handle region;
    if (kind == H5R_DATASET_REGION) {
      region = Handle(H5Rget_region(from_.file, kind, reference), H5Sclose);
      if (!region.valid()) {
        return corrupt(fmt::format("a region of {} cannot be read: {}", *path, last_error()));
      }
    }
    if (H5Rcreate(reference, to_.file, path->c_str(), kind, region.valid() ? region.id() : -1) < 0) {
      return failure(fmt::format("a reference to {} cannot be made: {}", *path, last_error()));
    }
    return {};
  }

  const ReferenceSpace& from_;
  const ReferenceSpace& to_;
};

struct Side {
  const ReferenceSpace& space;
  const std::byte* values;
};

bool equal(hid_t type, const Side& a, const Side& b, size_t count);

bool equal_strings(const Side& a, const Side& b) {
  const char *text_a = nullptr, *text_b = nullptr;
  std::memcpy(&text_a, a.values, sizeof text_a);
  std::memcpy(&text_b, b.values, sizeof text_b);
  if (text_a == nullptr || text_b == nullptr) return text_a == text_b;
  return std::strcmp(text_a, text_b) == 0;
}

bool equal_references(hid_t type, const Side& a, const Side& b, size_t bytes) {
  const bool null_a = is_null(a.values, bytes), null_b = is_null(b.values, bytes);
  if (null_a && null_b) return true;
  const auto target_a = target_of(a.values, type, a.space);
  // A dangling reference is as good as none.
  if (!target_a && null_b) return true;
  return !null_a && !null_b && target_a == target_of(b.values, type, b.space);
}

bool equal_sequences(hid_t type, const Side& a, const Side& b) {
  hvl_t sequence_a, sequence_b;
  std::memcpy(&sequence_a, a.values, sizeof sequence_a);
  std::memcpy(&sequence_b, b.values, sizeof sequence_b);
  if (sequence_a.len != sequence_b.len) return false;
  return equal(base_type(type).id(), {a.space, static_cast<const std::byte*>(sequence_a.p)},
               {b.space, static_cast<const std::byte*>(sequence_b.p)}, sequence_a.len);
}

// Member by member: what lies between members means nothing.
bool equal_compounds(hid_t type, const Side& a, const Side& b) {
  for (int m = 0; m < H5Tget_nmembers(type); ++m) {
    const auto member = static_cast<unsigned>(m);
    const size_t offset = H5Tget_member_offset(type, member);
    if (!equal(member_type(type, member).id(), {a.space, a.values + offset}, {b.space, b.values + offset}, 1))
      return false;
  }
  return true;
}

bool equal_element(hid_t type, H5T_class_t type_class, const Side& a, const Side& b, size_t bytes) {
  switch (type_class) {
    case H5T_STRING:
      return equal_strings(a, b);
    case H5T_REFERENCE:
      return equal_references(type, a, b, bytes);
    case H5T_VLEN:
      return equal_sequences(type, a, b);
    default:
      return equal_compounds(type, a, b);
  }
}

bool equal(hid_t type, const Side& a, const Side& b, size_t count) {
  const size_t bytes = H5Tget_size(type);
  const TypeTraits traits = type_traits(type);
  const H5T_class_t type_class = H5Tget_class(type);
  if (!traits.has_pointers && !traits.has_references && type_class != H5T_COMPOUND) {
    return count == 0 || std::memcmp(a.values, b.values, count * bytes) == 0;
  }
  if (type_class == H5T_ARRAY) return equal(base_type(type).id(), a, b, count * array_elements(type));
  for (size_t i = 0; i < count; ++i) {
    const Side of_a{a.space, element_at(a.values, i, bytes)};
    const Side of_b{b.space, element_at(b.values, i, bytes)};
    if (!equal_element(type, type_class, of_a, of_b, bytes)) return false;
  }
  return true;
}

}  // namespace

TypeTraits type_traits(hid_t type) {
  TypeTraits traits;
  collect_traits(type, traits);
  return traits;
}

std::string type_text(hid_t type) {
  const auto number = [&](const char* kind) {
    const size_t bytes = H5Tget_size(type);
    const bool is_big_endian = bytes > 1 && H5Tget_order(type) == H5T_ORDER_BE;
    return fmt::format("{}{}{}", kind, 8 * bytes, is_big_endian ? " big-endian" : "");
  };
  switch (H5Tget_class(type)) {
    case H5T_FLOAT:
      return number("f");
    case H5T_INTEGER:
      return number(H5Tget_sign(type) == H5T_SGN_NONE ? "u" : "i");
    case H5T_STRING:
      return "string";
    case H5T_COMPOUND:
      return "compound";
    case H5T_VLEN:
      return "vlen";
    case H5T_ENUM:
      return "enum";
    case H5T_OPAQUE:
      return "opaque";
    case H5T_REFERENCE:
      return "reference";
    case H5T_ARRAY:
      return "array";
    case H5T_BITFIELD:
      return "bitfield";
    case H5T_TIME:
      return "time";
    default:
      return "unknown";
  }
}

Result<Values> Values::of(hid_t type, hid_t space) {
  Values values;
  values.type_ = Handle(H5Tcopy(type), H5Tclose);
  values.space_ = Handle(H5Scopy(space), H5Sclose);
  const hssize_t count = H5Sget_simple_extent_npoints(space);
  const size_t bytes = H5Tget_size(type);
  if (!values.type_.valid() || !values.space_.valid() || count < 0 || bytes == 0) {
    return corrupt(fmt::format("its type or extent cannot be read: {}", last_error()));
  }
  values.count_ = static_cast<size_t>(count);
  uint64_t all_bytes = 0;
  if (__builtin_mul_overflow(values.count_, bytes, &all_bytes) || all_bytes > max_bytes) {
    return corrupt(fmt::format("{} elements of {} bytes at once; at most {} bytes are allowed", count, bytes,
                               max_bytes));
  }
  values.bytes_.resize(all_bytes);
  values.has_pointers_ = type_traits(type).has_pointers;
  return values;
}

Values::~Values() {
  if (has_pointers_ && type_.valid() && count_ > 0) {
    H5Dvlen_reclaim(type_.id(), space_.id(), H5P_DEFAULT, bytes_.data());
  }
}

Status translate_references(Values& values, const ReferenceSpace& from, const ReferenceSpace& to,
                            uint64_t& lost) {
  if (!type_traits(values.type()).has_references) return {};
  Translator translator(from, to);
  NEVE_TRY(translator.translate(values.type(), static_cast<std::byte*>(values.data()), values.count()));
  lost += translator.lost;
  return {};
}

bool equal_values(const Values& a, const ReferenceSpace& of_a, const Values& b, const ReferenceSpace& of_b) {
  if (a.count() != b.count() || H5Tequal(a.type(), b.type()) <= 0) return false;
  return equal(a.type(), {of_a, a.data()}, {of_b, b.data()}, a.count());
}

}  // namespace neve::datafile
