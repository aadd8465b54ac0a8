// SPDX-License-Identifier: BSD-3-Clause
// The header of a netCDF classic file: CDF-1, CDF-2 (64-bit offsets) and CDF-5 (64-bit data). Source: "NetCDF
// Classic Format Specification" (Unidata) and PnetCDF's "CDF-5 format".
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "io/datafile/chunk_grid.hpp"
#include "io/plotfile/file.hpp"
#include "neve/status.hpp"

namespace neve::datafile {

// nc_type of the specification.
enum class ClassicType : uint8_t { i8 = 1, text, i16, i32, f32, f64, u8, u16, u32, i64, u64 };
size_t classic_type_bytes(ClassicType type);

struct ClassicAttribute {
  std::string name;
  ClassicType type = ClassicType::text;
  uint64_t count = 0;
  std::vector<std::byte> values;  // little-endian
};

struct ClassicDimension {
  std::string name;
  uint64_t length = 0;  // of the record dimension: the number of records
  bool is_record = false;
};

struct ClassicVariable {
  std::string name;
  std::vector<uint64_t> dimensions;  // numbers of them, slowest first
  std::vector<ClassicAttribute> attributes;
  ClassicType type = ClassicType::f32;
  Extent dims;               // their lengths
  bool is_record = false;    // the first dimension is the record dimension
  uint64_t begin = 0;        // of its first value in the file
  uint64_t part_values = 0;  // values that stand together: of a record, or all
};

struct ClassicHeader {
  int version = 1;  // 1, 2 or 5
  std::vector<ClassicDimension> dimensions;
  std::vector<ClassicAttribute> attributes;  // of the file
  std::vector<ClassicVariable> variables;
  uint64_t record_bytes = 0;  // from one record of a variable to its next
};

// Every list is paid for: none is longer than the bytes of the file that hold it. Errors: corrupt (what,
// where, found, allowed), also where the file ends before a variable's last value.
Result<ClassicHeader> read_classic_header(const plotfile::File& file);

// Values of the file's byte order (big-endian) to those of memory, in place.
void from_big_endian(std::byte* values, size_t value_bytes, size_t count);

}  // namespace neve::datafile
