// SPDX-License-Identifier: BSD-3-Clause
// A recipe made a file, through HDF5's driver for files in memory.
#include <hdf5.h>
#include <zlib.h>

#include <algorithm>
#include <cstring>

#include "io/hdf5/errors.hpp"
#include "io/hdf5/handle.hpp"
#include "tests/fuzz/support/hdf5_recipe.hpp"

namespace neve::fuzz {
namespace {

using hdf5::Handle;

// Values of a dataset or an attribute that are made; what claims more stays without.
constexpr uint64_t max_value_bytes = uint64_t{1} << 20;
constexpr uint64_t max_attribute_bytes = uint64_t{60} << 10;

hid_t number_type(TypeKind kind, bool is_big_endian) {
  switch (kind) {
    case TypeKind::i8:
      return H5T_STD_I8LE;
    case TypeKind::u8:
      return H5T_STD_U8LE;
    case TypeKind::i16:
      return is_big_endian ? H5T_STD_I16BE : H5T_STD_I16LE;
    case TypeKind::u16:
      return is_big_endian ? H5T_STD_U16BE : H5T_STD_U16LE;
    case TypeKind::i32:
      return is_big_endian ? H5T_STD_I32BE : H5T_STD_I32LE;
    case TypeKind::u32:
      return is_big_endian ? H5T_STD_U32BE : H5T_STD_U32LE;
    case TypeKind::i64:
      return is_big_endian ? H5T_STD_I64BE : H5T_STD_I64LE;
    case TypeKind::u64:
      return is_big_endian ? H5T_STD_U64BE : H5T_STD_U64LE;
    case TypeKind::f32:
      return is_big_endian ? H5T_IEEE_F32BE : H5T_IEEE_F32LE;
    default:
      return is_big_endian ? H5T_IEEE_F64BE : H5T_IEEE_F64LE;
  }
}

Handle make_scalar(const ScalarType& type) {
  switch (type.kind) {
    case TypeKind::text:
    case TypeKind::vlen_text: {
      Handle text(H5Tcopy(H5T_C_S1), H5Tclose);
      H5Tset_size(text.id(),
                  type.kind == TypeKind::text ? std::max<size_t>(type.text_bytes, 1) : H5T_VARIABLE);
      return text;
    }
    case TypeKind::reference:
      return {H5Tcopy(H5T_STD_REF_OBJ), H5Tclose};
    case TypeKind::reference_list:
      return {H5Tvlen_create(H5T_STD_REF_OBJ), H5Tclose};
    default:
      return {H5Tcopy(number_type(type.kind, type.is_big_endian)), H5Tclose};
  }
}

Handle make_type(const RecipeType& type) {
  if (type.scalar.kind != TypeKind::compound) return make_scalar(type.scalar);
  Handle compound(H5Tcreate(H5T_COMPOUND, std::max<size_t>(type.compound_bytes, 1)), H5Tclose);
  bool has_member = false;
  for (const Member& member : type.members) {
    // Numbers and text alone: values are given as bytes.
    if (member.type.kind > TypeKind::text) continue;
    const Handle of_member = make_scalar(member.type);
    has_member |= H5Tinsert(compound.id(), member.name.c_str(), member.offset, of_member.id()) >= 0;
  }
  return has_member ? std::move(compound) : Handle();
}

Handle make_space(const Record& record) {
  if (!record.has_extent) return {H5Screate(H5S_NULL), H5Sclose};
  if (record.dims.empty()) return {H5Screate(H5S_SCALAR), H5Sclose};
  const std::vector<hsize_t> dims(record.dims.begin(), record.dims.end());
  return {H5Screate_simple(static_cast<int>(dims.size()), dims.data(), nullptr), H5Sclose};
}

// The texts of a list, each ended by a 0 byte; as many as asked for.
std::vector<std::string> texts(const Bytes& bytes, uint64_t count) {
  std::vector<std::string> list;
  const auto* at = reinterpret_cast<const char*>(bytes.data());
  const char* const end = at + bytes.size();
  for (uint64_t i = 0; i < count; ++i) {
    const char* const stop = std::find(at, end, '\0');
    list.emplace_back(at, stop);
    at = stop == end ? end : stop + 1;
  }
  return list;
}

// Values as HDF5 takes them, and what they point to.
struct Values {
  Bytes bytes;
  std::vector<std::string> owned;
  std::vector<hobj_ref_t> references;
};

Values make_values(hid_t file, const Record& record, uint64_t count, size_t value_bytes) {
  Values values;
  values.bytes.resize(count * value_bytes);
  const TypeKind kind = record.type.scalar.kind;
  if (kind != TypeKind::vlen_text && kind != TypeKind::reference && kind != TypeKind::reference_list) {
    std::copy_n(record.values.begin(), std::min(record.values.size(), values.bytes.size()),
                values.bytes.begin());
    return values;
  }
  values.owned = texts(record.values, count);
  values.references.resize(count);
  for (uint64_t i = 0; i < count; ++i) {
    std::byte* const out = values.bytes.data() + i * value_bytes;
    if (kind == TypeKind::vlen_text) {
      const char* const text = values.owned[i].c_str();
      std::memcpy(out, &text, sizeof text);
      continue;
    }
    H5Rcreate(&values.references[i], file, values.owned[i].c_str(), H5R_OBJECT, -1);
    if (kind == TypeKind::reference) {
      std::memcpy(out, &values.references[i], sizeof(hobj_ref_t));
    } else {
      const hvl_t list{values.owned[i].empty() ? size_t{0} : size_t{1}, &values.references[i]};
      std::memcpy(out, &list, sizeof list);
    }
  }
  return values;
}

// Elements of a dataspace whose values are to be made; nothing where they would take too much.
uint64_t elements_to_make(hid_t space, size_t value_bytes, uint64_t max_bytes) {
  const hssize_t count = H5Sget_simple_extent_npoints(space);
  if (count < 1 || value_bytes == 0 || static_cast<uint64_t>(count) > max_bytes / value_bytes) return 0;
  return static_cast<uint64_t>(count);
}

void make_attribute(hid_t file, const Record& record) {
  const Handle object(H5Oopen(file, record.path.c_str(), H5P_DEFAULT), H5Oclose);
  const Handle type = make_type(record.type);
  const Handle space = make_space(record);
  if (!object.valid() || !type.valid() || !space.valid()) return;
  const size_t value_bytes = H5Tget_size(type.id());
  const uint64_t count = elements_to_make(space.id(), value_bytes, max_attribute_bytes);
  if (count == 0 && record.has_extent) return;
  const Handle attribute(
      H5Acreate2(object.id(), record.name.c_str(), type.id(), space.id(), H5P_DEFAULT, H5P_DEFAULT),
      H5Aclose);
  if (!attribute.valid() || count == 0) return;
  const Values values = make_values(file, record, count, value_bytes);
  H5Awrite(attribute.id(), type.id(), values.bytes.data());
}

Handle dataset_creation(const Record& record, const Handle& type) {
  Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  if (!record.chunk.empty()) {
    const std::vector<hsize_t> chunk(record.chunk.begin(), record.chunk.end());
    H5Pset_chunk(creation.id(), static_cast<int>(chunk.size()), chunk.data());
    for (const RecipeFilter& filter : record.filters) {
      H5Pset_filter(creation.id(), filter.id, H5Z_FLAG_OPTIONAL, filter.words.size(), filter.words.data());
    }
  }
  const TypeKind kind = record.type.scalar.kind;
  if (!record.fill.empty() && (kind <= TypeKind::text || kind == TypeKind::compound)) {
    Bytes fill(H5Tget_size(type.id()));
    std::copy_n(record.fill.begin(), std::min(record.fill.size(), fill.size()), fill.begin());
    H5Pset_fill_value(creation.id(), type.id(), fill.data());
  }
  return creation;
}

// At most `max_bytes` of what `bytes` unpack to.
Bytes inflated(const Bytes& bytes, uint64_t max_bytes) {
  Bytes out(std::min(max_bytes, uint64_t{1} << 24));
  uLongf length = out.size();
  uLong taken = bytes.size();
  uncompress2(reinterpret_cast<Bytef*>(out.data()), &length, reinterpret_cast<const Bytef*>(bytes.data()),
              &taken);
  out.resize(length);
  return out;
}

// HDF5 1.10 copies whole chunks out of whatever deflate has unpacked, and its own other filters believe the
// bytes that they undo.
bool is_beyond_hdf5(const Record& record, const RecipeChunk& chunk, uint64_t chunk_bytes) {
  Bytes bytes = chunk.bytes;
  bool is_inflated = false;
  for (size_t f = record.filters.size(); f-- > 0;) {
    if ((chunk.filter_mask >> f & 1) != 0) continue;
    const int id = record.filters[f].id;
    if (id == H5Z_FILTER_SHUFFLE) continue;
    if (id == H5Z_FILTER_FLETCHER32) {
      constexpr size_t checksum_bytes = 4;
      bytes.resize(bytes.size() - std::min(bytes.size(), checksum_bytes));
    } else if (id == H5Z_FILTER_DEFLATE) {
      bytes = inflated(bytes, chunk_bytes);
      is_inflated = true;
    } else {
      return id < H5Z_FILTER_RESERVED;
    }
  }
  return is_inflated && bytes.size() < chunk_bytes;
}

void write_chunks(hid_t dataset, const Record& record) {
  if (record.chunk.size() != record.dims.size()) return;
  const Handle type(H5Dget_type(dataset), H5Tclose);
  uint64_t chunk_bytes = H5Tget_size(type.id());
  for (const uint64_t side : record.chunk) chunk_bytes *= side;
  // HDF5 1.10 gives a dataset without values no index of chunks, and reads the one that is not there.
  if (std::find(record.dims.begin(), record.dims.end(), 0U) != record.dims.end()) return;
  uint64_t number = 0;
  for (const RecipeChunk& chunk : record.chunks) {
    std::vector<hsize_t> first(record.dims.size());
    uint64_t left = number++;
    for (size_t d = record.dims.size(); d-- > 0;) {
      const uint64_t side = std::max<uint64_t>(record.chunk[d], 1);
      const uint64_t steps = std::max<uint64_t>(record.dims[d] / side + (record.dims[d] % side != 0), 1);
      first[d] = left % steps * side;
      left /= steps;
    }
    if (left != 0) return;
    if (is_beyond_hdf5(record, chunk, chunk_bytes)) continue;
    H5Dwrite_chunk(dataset, H5P_DEFAULT, chunk.filter_mask, first.data(), chunk.bytes.size(),
                   chunk.bytes.data());
  }
}

void make_dataset(hid_t file, const Record& record, hid_t link_creation) {
  const Handle type = make_type(record.type);
  const Handle space = make_space(record);
  if (!type.valid() || !space.valid()) return;
  const Handle creation = dataset_creation(record, type);
  const Handle dataset(
      H5Dcreate2(file, record.path.c_str(), type.id(), space.id(), link_creation, creation.id(), H5P_DEFAULT),
      H5Dclose);
  if (!dataset.valid()) return;
  if (!record.values.empty()) {
    const size_t value_bytes = H5Tget_size(type.id());
    if (const uint64_t count = elements_to_make(space.id(), value_bytes, max_value_bytes); count > 0) {
      const Values values = make_values(file, record, count, value_bytes);
      H5Dwrite(dataset.id(), type.id(), H5S_ALL, H5S_ALL, H5P_DEFAULT, values.bytes.data());
    }
  }
  write_chunks(dataset.id(), record);
}

void make_record(hid_t file, const Record& record, hid_t link_creation) {
  switch (record.kind) {
    case RecordKind::group: {
      const Handle group(H5Gcreate2(file, record.path.c_str(), link_creation, H5P_DEFAULT, H5P_DEFAULT),
                         H5Gclose);
      return;
    }
    case RecordKind::dataset:
      return make_dataset(file, record, link_creation);
    case RecordKind::attribute:
      return make_attribute(file, record);
    case RecordKind::named_type: {
      const Handle type = make_type(record.type);
      if (type.valid()) {
        H5Tcommit2(file, record.path.c_str(), type.id(), link_creation, H5P_DEFAULT, H5P_DEFAULT);
      }
      return;
    }
    case RecordKind::soft_link:
      H5Lcreate_soft(record.name.c_str(), file, record.path.c_str(), link_creation, H5P_DEFAULT);
      return;
    case RecordKind::hard_link:
      H5Lcreate_hard(file, record.name.c_str(), file, record.path.c_str(), link_creation, H5P_DEFAULT);
      return;
    case RecordKind::external_link:
      H5Lcreate_external("elsewhere.h5", record.name.c_str(), file, record.path.c_str(), link_creation,
                         H5P_DEFAULT);
      return;
  }
}

}  // namespace

bool make_hdf5_file(const Recipe& recipe, const std::string& path) {
  const hdf5::QuietErrors quiet;
  constexpr size_t grow_bytes = size_t{64} << 10;
  const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  H5Pset_fapl_core(access.id(), grow_bytes, true);
  const Handle link_creation(H5Pcreate(H5P_LINK_CREATE), H5Pclose);
  H5Pset_create_intermediate_group(link_creation.id(), 1);
  Handle file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.id()), H5Fclose);
  if (!file.valid()) return false;
  for (const Record& record : recipe) make_record(file.id(), record, link_creation.id());
  return file.close();
}

}  // namespace neve::fuzz
