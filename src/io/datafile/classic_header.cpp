// SPDX-License-Identifier: BSD-3-Clause
#include "io/datafile/classic_header.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <span>

#include "core/bits/utf8.hpp"

namespace neve::datafile {
namespace {

constexpr uint32_t dimension_tag = 10, variable_tag = 11, attribute_tag = 12;
constexpr uint64_t max_rank = 32;         // HDF5's
constexpr uint64_t max_size = INT64_MAX;  // CDF-5: a number of records, a length of a dimension

// Reads on through the header, a block at a time.
class HeaderReader {
 public:
  explicit HeaderReader(const plotfile::File& file) : file_(file), left_(file.size_bytes()) {}

  uint64_t offset() const { return at_; }
  uint64_t left() const { return static_cast<uint64_t>(left_); }
  bool is_wide = false;  // CDF-5: sizes of 64 bits

  Status bytes(std::byte* out, uint64_t count, const char* what) {
    if (count > left()) {
      return corrupt(
          fmt::format("netCDF header: {} at byte {} takes {} bytes; {} are left", what, at_, count, left_));
    }
    NEVE_TRY(file_.read(static_cast<int64_t>(at_), std::span(out, count)));
    at_ += count;
    left_ -= static_cast<int64_t>(count);
    return {};
  }
  Result<uint64_t> number(size_t number_bytes, const char* what) {
    std::byte raw[sizeof(uint64_t)];
    NEVE_TRY(bytes(raw, number_bytes, what));
    uint64_t value = 0;
    for (size_t i = 0; i < number_bytes; ++i) value = value << 8 | static_cast<uint64_t>(raw[i]);
    return value;
  }
  Result<uint64_t> word(const char* what) { return number(4, what); }
  Result<uint64_t> size(const char* what) { return number(is_wide ? 8 : 4, what); }
  // A length of things that take `least_bytes` each at least.
  Result<uint64_t> length(uint64_t least_bytes, const char* what) {
    const uint64_t from = at_;
    NEVE_ASSIGN(const uint64_t count, size(what));
    if (count > left() / least_bytes) {
      return corrupt(fmt::format("netCDF header: {} at byte {} is {}; at most {} fit into the file", what,
                                 from, count, left() / least_bytes));
    }
    return count;
  }
  // To the next multiple of four bytes.
  Status pad() {
    std::byte raw[4];
    return bytes(raw, (4 - at_ % 4) % 4, "padding");
  }

 private:
  const plotfile::File& file_;
  uint64_t at_ = 0;
  int64_t left_;
};

Result<std::string> read_name(HeaderReader& reader) {
  NEVE_ASSIGN(const uint64_t count, reader.length(1, "the length of a name"));
  std::string name(count, '\0');
  NEVE_TRY(reader.bytes(reinterpret_cast<std::byte*>(name.data()), count, "a name"));
  NEVE_TRY(reader.pad());
  NEVE_TRY(check_utf8("netCDF header: a name", name));
  if (name.empty() || name == "." || name.find('/') != std::string::npos ||
      name.find('\0') != std::string::npos) {
    return corrupt(
        fmt::format("netCDF header: a name before byte {} is '{}'; names are neither empty nor '.' "
                    "and hold no '/' and no zero byte",
                    reader.offset(), name));
  }
  return name;
}

// 0 where the list is absent.
Result<uint64_t> list_length(HeaderReader& reader, uint32_t tag, uint64_t least_bytes, const char* what) {
  const uint64_t from = reader.offset();
  NEVE_ASSIGN(const uint64_t found, reader.word(what));
  NEVE_ASSIGN(const uint64_t count, reader.length(least_bytes, what));
  if (found == tag || (found == 0 && count == 0)) return count;
  return corrupt(
      fmt::format("netCDF header: the list of {} at byte {} begins with {} and has {} entries; "
                  "allowed: {}, or 0 and no entries",
                  what, from, found, count, tag));
}

Result<ClassicType> read_type(HeaderReader& reader) {
  const uint64_t from = reader.offset();
  NEVE_ASSIGN(const uint64_t found, reader.word("a type"));
  const uint64_t last = reader.is_wide ? 11 : 6;
  if (found >= 1 && found <= last) return static_cast<ClassicType>(found);
  return corrupt(fmt::format("netCDF header: type {} at byte {}; allowed: 1 to {}", found, from, last));
}

Result<std::vector<ClassicAttribute>> read_attributes(HeaderReader& reader) {
  NEVE_ASSIGN(const uint64_t count, list_length(reader, attribute_tag, 12, "attributes"));
  std::vector<ClassicAttribute> attributes;
  std::set<std::string> names;
  for (uint64_t i = 0; i < count; ++i) {
    ClassicAttribute attribute;
    NEVE_ASSIGN(attribute.name, read_name(reader));
    if (!names.insert(attribute.name).second)
      return corrupt(fmt::format("netCDF header: two attributes are called {}", attribute.name));
    NEVE_ASSIGN(attribute.type, read_type(reader));
    const size_t value_bytes = classic_type_bytes(attribute.type);
    NEVE_ASSIGN(attribute.count, reader.length(value_bytes, "the length of an attribute"));
    attribute.values.resize(attribute.count * value_bytes);
    NEVE_TRY(reader.bytes(attribute.values.data(), attribute.values.size(), "an attribute"));
    NEVE_TRY(reader.pad());
    from_big_endian(attribute.values.data(), value_bytes, attribute.count);
    attributes.push_back(std::move(attribute));
  }
  return attributes;
}

Status check_size(const std::string& what, uint64_t found) {
  if (found <= max_size) return {};
  return corrupt(fmt::format("netCDF header: {} is {}; allowed: up to {}", what, found, max_size));
}

Status read_dimensions(HeaderReader& reader, uint64_t records, ClassicHeader& header) {
  NEVE_ASSIGN(const uint64_t count, list_length(reader, dimension_tag, 8, "dimensions"));
  std::set<std::string> names;
  bool has_record = false;
  for (uint64_t i = 0; i < count; ++i) {
    ClassicDimension dimension;
    NEVE_ASSIGN(dimension.name, read_name(reader));
    if (!names.insert(dimension.name).second)
      return corrupt(fmt::format("netCDF header: two dimensions are called {}", dimension.name));
    NEVE_ASSIGN(dimension.length, reader.size("the length of a dimension"));
    NEVE_TRY(check_size("the length of dimension " + dimension.name, dimension.length));
    dimension.is_record = dimension.length == 0;
    if (dimension.is_record && has_record)
      return corrupt(
          fmt::format("netCDF header: {} is a second record dimension; one is allowed", dimension.name));
    has_record |= dimension.is_record;
    if (dimension.is_record) dimension.length = records;
    header.dimensions.push_back(std::move(dimension));
  }
  return {};
}

Status take_dimension(const ClassicHeader& header, uint64_t number, ClassicVariable& variable) {
  if (number >= header.dimensions.size()) {
    return corrupt(fmt::format("netCDF header: {} has dimension {}; there are {}", variable.name, number,
                               header.dimensions.size()));
  }
  const ClassicDimension& dimension = header.dimensions[number];
  const bool is_first = variable.dims.empty();
  if (dimension.is_record && !is_first) {
    return corrupt(
        fmt::format("netCDF header: {} has the record dimension {} behind another; it must be first",
                    variable.name, dimension.name));
  }
  variable.dimensions.push_back(number);
  variable.dims.push_back(dimension.length);
  variable.is_record |= dimension.is_record;
  return {};
}

Status read_variable(HeaderReader& reader, ClassicHeader& header) {
  ClassicVariable variable;
  NEVE_ASSIGN(variable.name, read_name(reader));
  NEVE_ASSIGN(const uint64_t rank, reader.length(reader.is_wide ? 8 : 4, "the rank of a variable"));
  if (rank > max_rank) {
    return usage_error(fmt::format("{} has {} dimensions; HDF5 allows {}", variable.name, rank, max_rank));
  }
  for (uint64_t d = 0; d < rank; ++d) {
    NEVE_ASSIGN(const uint64_t number, reader.size("a dimension of a variable"));
    NEVE_TRY(take_dimension(header, number, variable));
  }
  NEVE_ASSIGN(variable.attributes, read_attributes(reader));
  NEVE_ASSIGN(variable.type, read_type(reader));
  // Its size is not believed: it is wrong by design for variables of 4 GiB and more.
  NEVE_TRY(reader.size("the size of a variable").status());
  NEVE_ASSIGN(variable.begin, reader.number(header.version == 1 ? 4 : 8, "the place of a variable"));
  variable.part_values = 1;
  uint64_t bytes = 0;
  for (size_t d = variable.is_record ? 1 : 0; d < variable.dims.size(); ++d) {
    if (__builtin_mul_overflow(variable.part_values, variable.dims[d], &variable.part_values))
      return corrupt(fmt::format("netCDF header: {} has more than 2^64 values", variable.name));
  }
  if (__builtin_mul_overflow(variable.part_values, classic_type_bytes(variable.type), &bytes))
    return corrupt(fmt::format("netCDF header: {} has more than 2^64 bytes", variable.name));
  header.variables.push_back(std::move(variable));
  return {};
}

uint64_t part_bytes(const ClassicVariable& variable) {
  return variable.part_values * classic_type_bytes(variable.type);
}

// Records follow each other, in each the variables padded to four bytes; a single variable is not padded.
Status lay_out_records(ClassicHeader& header) {
  uint64_t variables = 0, bare_bytes = 0;
  for (const ClassicVariable& variable : header.variables) {
    if (!variable.is_record) continue;
    ++variables;
    bare_bytes = part_bytes(variable);
    const uint64_t padding = (4 - bare_bytes % 4) % 4;
    if (__builtin_add_overflow(header.record_bytes, bare_bytes, &header.record_bytes) ||
        __builtin_add_overflow(header.record_bytes, padding, &header.record_bytes))
      return corrupt("netCDF header: a record has more than 2^64 bytes");
  }
  if (variables == 1) header.record_bytes = bare_bytes;
  return {};
}

// A writer that streams leaves all bits set instead of the number of records: it follows from the file's end.
uint64_t records_by_size(const ClassicHeader& header, uint64_t file_bytes) {
  uint64_t first = UINT64_MAX;
  for (const ClassicVariable& variable : header.variables) {
    if (variable.is_record) first = std::min(first, variable.begin);
  }
  if (header.record_bytes == 0 || first >= file_bytes) return 0;
  return (file_bytes - first) / header.record_bytes;
}

void set_records(ClassicHeader& header, uint64_t records) {
  for (ClassicDimension& dimension : header.dimensions) {
    if (dimension.is_record) dimension.length = records;
  }
  for (ClassicVariable& variable : header.variables) {
    if (variable.is_record) variable.dims[0] = records;
  }
}

Status check_ends(const ClassicHeader& header, uint64_t header_bytes, uint64_t file_bytes) {
  uint64_t total = 0;
  for (const ClassicVariable& variable : header.variables) {
    const uint64_t records = variable.is_record ? variable.dims[0] : 1;
    const uint64_t bytes = part_bytes(variable);
    if (records == 0 || bytes == 0) continue;
    uint64_t own = 0;
    if (__builtin_mul_overflow(records, bytes, &own) || __builtin_add_overflow(total, own, &total) ||
        total > file_bytes) {
      return corrupt(fmt::format("the file has {} bytes, fewer than the values of its variables up to {}",
                                 file_bytes, variable.name));
    }
    uint64_t end = 0;
    const bool is_beyond = __builtin_mul_overflow(records - 1, header.record_bytes, &end) ||
                           __builtin_add_overflow(end, variable.begin, &end) ||
                           __builtin_add_overflow(end, bytes, &end);
    if (variable.begin < header_bytes) {
      return corrupt(fmt::format("{} begins at byte {}; the header takes {}", variable.name, variable.begin,
                                 header_bytes));
    }
    if (is_beyond || end > file_bytes) {
      return corrupt(
          fmt::format("the file has {} bytes; {} ends at byte {}: the file is cut off, or was never "
                      "finished",
                      file_bytes, variable.name, is_beyond ? UINT64_MAX : end));
    }
  }
  return {};
}

Status check_names(const ClassicHeader& header) {
  std::set<std::string> names;
  for (const ClassicVariable& variable : header.variables) {
    if (!names.insert(variable.name).second)
      return corrupt(fmt::format("netCDF header: two variables are called {}", variable.name));
  }
  return {};
}

}  // namespace

size_t classic_type_bytes(ClassicType type) {
  switch (type) {
    case ClassicType::i16:
    case ClassicType::u16:
      return 2;
    case ClassicType::i32:
    case ClassicType::u32:
    case ClassicType::f32:
      return 4;
    case ClassicType::f64:
    case ClassicType::i64:
    case ClassicType::u64:
      return 8;
    default:
      return 1;
  }
}

void from_big_endian(std::byte* values, size_t value_bytes, size_t count) {
  if (value_bytes == 1) return;
  for (size_t i = 0; i < count; ++i) std::reverse(values + i * value_bytes, values + (i + 1) * value_bytes);
}

Result<ClassicHeader> read_classic_header(const plotfile::File& file) {
  HeaderReader reader(file);
  ClassicHeader header;
  NEVE_ASSIGN(const uint64_t magic, reader.word("the magic number"));
  header.version = static_cast<int>(magic & 0xff);
  if (magic >> 8 != 0x434446 || (header.version != 1 && header.version != 2 && header.version != 5)) {
    return corrupt(
        fmt::format("netCDF version {}; allowed: 1, 2 (64-bit offsets) and 5 (64-bit data)", header.version));
  }
  reader.is_wide = header.version == 5;
  NEVE_ASSIGN(const uint64_t told, reader.size("the number of records"));
  const bool is_streaming = told == (reader.is_wide ? UINT64_MAX : UINT32_MAX);
  if (!is_streaming) NEVE_TRY(check_size("the number of records", told));
  NEVE_TRY(read_dimensions(reader, is_streaming ? 0 : told, header));
  NEVE_ASSIGN(header.attributes, read_attributes(reader));
  NEVE_ASSIGN(const uint64_t count, list_length(reader, variable_tag, 28, "variables"));
  for (uint64_t i = 0; i < count; ++i) NEVE_TRY(read_variable(reader, header));
  NEVE_TRY(check_names(header));
  NEVE_TRY(lay_out_records(header));
  const uint64_t file_bytes = static_cast<uint64_t>(file.size_bytes());
  if (is_streaming) set_records(header, records_by_size(header, file_bytes));
  NEVE_TRY(check_ends(header, reader.offset(), file_bytes));
  return header;
}

}  // namespace neve::datafile
