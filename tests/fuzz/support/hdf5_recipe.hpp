// SPDX-License-Identifier: BSD-3-Clause
// How to make an HDF5 file: its objects, attributes, values and chunks, one after another. Any bytes are a
// recipe. So mutations change what a file says, while HDF5 itself lays the file out: Debian's HDF5 1.10.8
// crashes on damaged bytes of its own structures, which is not what is to be found here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/bits/bytes.hpp"

namespace neve::fuzz {

enum class TypeKind : uint8_t {
  i8,
  u8,
  i16,
  u16,
  i32,
  u32,
  i64,
  u64,
  f32,
  f64,
  text,            // of fixed size
  vlen_text,       // values: texts, each ended by a 0 byte
  reference,       // values: paths, likewise
  reference_list,  // lists of one reference each, as netCDF's DIMENSION_LIST
  compound,
};
inline constexpr uint8_t type_kinds = static_cast<uint8_t>(TypeKind::compound) + 1;

struct ScalarType {
  TypeKind kind = TypeKind::i32;
  bool is_big_endian = false;
  uint16_t text_bytes = 1;
};
struct Member {
  std::string name;
  uint16_t offset = 0;
  ScalarType type;
};
struct RecipeType {
  ScalarType scalar;
  uint16_t compound_bytes = 0;
  std::vector<Member> members;
};

struct RecipeFilter {
  uint16_t id = 0;
  std::vector<uint32_t> words;
};
struct RecipeChunk {
  uint8_t filter_mask = 0;
  Bytes bytes;
};

enum class RecordKind : uint8_t {
  group,
  dataset,
  attribute,
  named_type,
  soft_link,
  hard_link,
  external_link
};
inline constexpr uint8_t record_kinds = static_cast<uint8_t>(RecordKind::external_link) + 1;

struct Record {
  RecordKind kind = RecordKind::group;
  std::string path;  // of the object, or of the one that has the attribute
  std::string name;  // of the attribute; where a link leads
  RecipeType type;
  bool has_extent = true;       // a null dataspace otherwise
  std::vector<uint64_t> dims;   // none: a scalar
  std::vector<uint64_t> chunk;  // none: contiguous
  std::vector<RecipeFilter> filters;
  Bytes fill;                       // of a dataset: bytes of one value; none: HDF5's own
  Bytes values;                     // through the filters; the rest is 0. None: nothing is written
  std::vector<RecipeChunk> chunks;  // as they are stored, in order
};
using Recipe = std::vector<Record>;

Recipe parse_recipe(ByteSpan bytes);
Bytes serialize_recipe(const Recipe& recipe);

// What HDF5 refuses of it is left out. False where there is no file at all.
bool make_hdf5_file(const Recipe& recipe, const std::string& path);

}  // namespace neve::fuzz
