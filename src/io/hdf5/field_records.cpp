// SPDX-License-Identifier: BSD-3-Clause
#include "io/hdf5/field_records.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "io/hdf5/attributes.hpp"
#include "io/hdf5/errors.hpp"
#include "io/hdf5/handle.hpp"
#include "io/hdf5/open_to_read.hpp"
#include "io/hdf5/paid_list.hpp"
#include "io/hdf5/stored_chunks.hpp"
#include "neve/limits.hpp"

namespace neve::hdf5 {
namespace {

// The row's fixed part in memory; the three strings follow it, each as long as the longest of its column.
struct FixedRow {
  double bound_value;
  double bound_abs;
  double max_abs_error;
  double range_min;
  double range_max;
  double fill;  // 0 without has_fill
  uint64_t cells;
  uint64_t left_out_cells;
  uint64_t special_cells;
  uint64_t exact_cells;
  uint64_t stored_bytes;
  uint8_t bound_mode;  // BoundMode
  uint8_t has_fill;    // 0 or 1
  uint8_t not_for_netcdf;
};

// netCDF's library takes a text in a compound for one letter and, of such rows, writes beyond its buffer. A
// bit field it does not know: it leaves the whole table out. Nobody reads it.
constexpr const char* netcdf_guard = "not_for_netcdf";

struct NumberColumn {
  const char* name;
  size_t offset;
  enum Kind { real, count, small } kind;
};

constexpr NumberColumn number_columns[] = {
    {"bound_mode", offsetof(FixedRow, bound_mode), NumberColumn::small},
    {"bound_value", offsetof(FixedRow, bound_value), NumberColumn::real},
    {"bound_abs", offsetof(FixedRow, bound_abs), NumberColumn::real},
    {"max_abs_error", offsetof(FixedRow, max_abs_error), NumberColumn::real},
    {"range_min", offsetof(FixedRow, range_min), NumberColumn::real},
    {"range_max", offsetof(FixedRow, range_max), NumberColumn::real},
    {"has_fill", offsetof(FixedRow, has_fill), NumberColumn::small},
    {"fill", offsetof(FixedRow, fill), NumberColumn::real},
    {"cells", offsetof(FixedRow, cells), NumberColumn::count},
    {"left_out_cells", offsetof(FixedRow, left_out_cells), NumberColumn::count},
    {"special_cells", offsetof(FixedRow, special_cells), NumberColumn::count},
    {"exact_cells", offsetof(FixedRow, exact_cells), NumberColumn::count},
    {"stored_bytes", offsetof(FixedRow, stored_bytes), NumberColumn::count},
};

hid_t memory_type(NumberColumn::Kind kind) {
  switch (kind) {
    case NumberColumn::real:
      return H5T_NATIVE_DOUBLE;
    case NumberColumn::count:
      return H5T_NATIVE_UINT64;
    case NumberColumn::small:
      return H5T_NATIVE_UINT8;
  }
  return H5I_INVALID_HID;
}

hid_t file_type(NumberColumn::Kind kind) {
  switch (kind) {
    case NumberColumn::real:
      return H5T_IEEE_F64LE;
    case NumberColumn::count:
      return H5T_STD_U64LE;
    case NumberColumn::small:
      return H5T_STD_U8LE;
  }
  return H5I_INVALID_HID;
}

struct TextColumn {
  const char* name;
  std::string FieldRecord::*member;
  bool is_in_all;  // files of neve 0.1 lack the others
};

const TextColumn text_columns[] = {
    {"name", &FieldRecord::name, true},       {"codec", &FieldRecord::codec, true},
    {"covered", &FieldRecord::covered, true}, {"arrangement", &FieldRecord::arrangement, false},
    {"chosen", &FieldRecord::chosen, false},
};
constexpr size_t text_column_count = std::size(text_columns);

// Layout of a row in memory and on disk.
struct RowLayout {
  size_t text_bytes[text_column_count] = {};  // 0: the table has no such column
  size_t text_offset[text_column_count] = {};
  size_t row_bytes = 0;

  void place() {
    row_bytes = sizeof(FixedRow);
    for (size_t t = 0; t < text_column_count; ++t) {
      text_offset[t] = row_bytes;
      row_bytes += text_bytes[t];
    }
  }
};

Handle fixed_string(size_t bytes) {
  Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(type.id(), bytes);
  H5Tset_strpad(type.id(), H5T_STR_NULLPAD);
  H5Tset_cset(type.id(), H5T_CSET_UTF8);
  return type;
}

Handle row_type(const RowLayout& layout, hid_t (*number_type)(NumberColumn::Kind)) {
  Handle type(H5Tcreate(H5T_COMPOUND, layout.row_bytes), H5Tclose);
  for (size_t t = 0; t < text_column_count; ++t) {
    if (layout.text_bytes[t] == 0) continue;
    const Handle text = fixed_string(layout.text_bytes[t]);
    H5Tinsert(type.id(), text_columns[t].name, layout.text_offset[t], text.id());
  }
  for (const NumberColumn& column : number_columns) {
    H5Tinsert(type.id(), column.name, column.offset, number_type(column.kind));
  }
  return type;
}

FixedRow to_row(const FieldRecord& field) {
  FixedRow row{};
  row.bound_value = field.asked.mode == BoundMode::lossless ? 0 : field.asked.value;
  row.bound_abs = field.bound_abs;
  row.max_abs_error = field.max_abs_error;
  row.range_min = field.range_min;
  row.range_max = field.range_max;
  row.fill = field.fill.value_or(0);
  row.has_fill = field.fill.has_value() ? 1 : 0;
  row.cells = field.cells;
  row.left_out_cells = field.left_out_cells;
  row.special_cells = field.special_cells;
  row.exact_cells = field.exact_cells;
  row.stored_bytes = field.stored_bytes;
  row.bound_mode = static_cast<uint8_t>(field.asked.mode);
  return row;
}

Result<FieldRecord> from_row(const FixedRow& row, const std::string& place, const std::string& table_name) {
  if (row.bound_mode > static_cast<uint8_t>(BoundMode::rel)) {
    return corrupt(
        fmt::format("{}/{}: bound_mode is {}; 0 to 2 are allowed", place, table_name, row.bound_mode));
  }
  FieldRecord field;
  field.asked.mode = static_cast<BoundMode>(row.bound_mode);
  if (field.asked.mode != BoundMode::lossless) field.asked.value = row.bound_value;
  field.bound_abs = row.bound_abs;
  field.max_abs_error = row.max_abs_error;
  field.range_min = row.range_min;
  field.range_max = row.range_max;
  if (row.has_fill != 0) field.fill = row.fill;
  field.cells = row.cells;
  field.left_out_cells = row.left_out_cells;
  field.special_cells = row.special_cells;
  field.exact_cells = row.exact_cells;
  field.stored_bytes = row.stored_bytes;
  return field;
}

}  // namespace

Status write_field_records(hid_t level_group, const std::string& table_name,
                           const std::vector<FieldRecord>& fields, bool fills_tables) {
  RowLayout layout;
  for (size_t t = 0; t < text_column_count; ++t) {
    layout.text_bytes[t] = 1;  // HDF5 knows no empty string type
    for (const FieldRecord& field : fields) {
      layout.text_bytes[t] = std::max(layout.text_bytes[t], (field.*text_columns[t].member).size());
    }
  }
  layout.place();
  std::vector<char> rows(fields.size() * layout.row_bytes, 0);
  for (size_t i = 0; i < fields.size(); ++i) {
    char* row = rows.data() + i * layout.row_bytes;
    const FixedRow fixed = to_row(fields[i]);
    std::memcpy(row, &fixed, sizeof(fixed));
    for (size_t t = 0; t < text_column_count; ++t) {
      const std::string& text = fields[i].*text_columns[t].member;
      text.copy(row + layout.text_offset[t], text.size());
    }
  }
  const hsize_t extent = fields.size();
  const Handle space(H5Screate_simple(1, &extent, nullptr), H5Sclose);
  const Handle on_disk = row_type(layout, file_type);
  const Handle in_memory = row_type(layout, memory_type);
  H5Tinsert(on_disk.id(), netcdf_guard, offsetof(FixedRow, not_for_netcdf), H5T_STD_B8LE);
  H5Tinsert(in_memory.id(), netcdf_guard, offsetof(FixedRow, not_for_netcdf), H5T_NATIVE_B8);
  const Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  H5Pset_obj_track_times(creation.id(), false);  // the same data makes the same file
  const Handle table(H5Dcreate2(level_group, table_name.c_str(), on_disk.id(), space.id(), H5P_DEFAULT,
                                creation.id(), H5P_DEFAULT),
                     H5Dclose);
  if (!table.valid() ||
      (fills_tables && !fields.empty() &&
       H5Dwrite(table.id(), in_memory.id(), H5S_ALL, H5S_ALL, H5P_DEFAULT, rows.data()) < 0)) {
    return failure(fmt::format("table {}: HDF5 cannot write it: {}", table_name, last_error()));
  }
  return {};
}

Result<std::vector<FieldRecord>> read_field_records(hid_t level_group, const std::string& place,
                                                    const std::string& table_name) {
  std::vector<FieldRecord> fields;
  if (H5Lexists(level_group, table_name.c_str(), H5P_DEFAULT) <= 0) return fields;
  const Handle table = open_dataset_to_read(level_group, table_name);
  if (!table.valid()) {
    return corrupt(fmt::format("{}/{} cannot be opened: {}", place, table_name, last_error()));
  }
  const Handle type(H5Dget_type(table.id()), H5Tclose);
  const Handle space(H5Dget_space(table.id()), H5Sclose);
  const hssize_t count = H5Sget_simple_extent_npoints(space.id());
  if (H5Tget_class(type.id()) != H5T_COMPOUND || count < 0 || count > max_components) {
    return corrupt(fmt::format("{}/{} has {} rows and class {}; a compound of 0 to {} rows is allowed", place,
                               table_name, count, static_cast<int>(H5Tget_class(type.id())), max_components));
  }
  RowLayout layout;
  for (size_t t = 0; t < text_column_count; ++t) {
    const int member = H5Tget_member_index(type.id(), text_columns[t].name);
    if (member < 0 && !text_columns[t].is_in_all) continue;
    const Handle text(member < 0 ? -1 : H5Tget_member_type(type.id(), static_cast<unsigned>(member)),
                      H5Tclose);
    constexpr size_t max_text_bytes = 65536;
    if (!text.valid() || H5Tget_class(text.id()) != H5T_STRING || H5Tis_variable_str(text.id()) > 0 ||
        H5Tget_size(text.id()) > max_text_bytes) {
      return corrupt(
          fmt::format("{}/{}: column {} is missing or not a fixed-length string of at most {} bytes", place,
                      table_name, text_columns[t].name, max_text_bytes));
    }
    layout.text_bytes[t] = H5Tget_size(text.id());
  }
  layout.place();
  const Handle in_memory = row_type(layout, memory_type);
  NEVE_TRY(check_compound(type.id(), in_memory.id()).in(fmt::format("{}/{}", place, table_name)));
  if (count == 0) return fields;
  NEVE_TRY(check_paid_for(table.id(), table_name, static_cast<uint64_t>(count), layout.row_bytes).in(place));
  std::vector<char> rows(static_cast<size_t>(count) * layout.row_bytes, 0);
  NEVE_TRY(ChunkCheck(table.id()).check(H5S_ALL).in(fmt::format("{}/{}", place, table_name)));
  if (H5Dread(table.id(), in_memory.id(), H5S_ALL, H5S_ALL, H5P_DEFAULT, rows.data()) < 0) {
    return corrupt(fmt::format("{}/{} cannot be read: {}", place, table_name, last_error()));
  }
  for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
    const char* row = rows.data() + i * layout.row_bytes;
    FixedRow fixed;
    std::memcpy(&fixed, row, sizeof(fixed));
    NEVE_ASSIGN(FieldRecord field, from_row(fixed, place, table_name));
    for (size_t t = 0; t < text_column_count; ++t) {
      std::string text(row + layout.text_offset[t], layout.text_bytes[t]);
      text.resize(std::min(text.find('\0'), text.size()));
      field.*text_columns[t].member = std::move(text);
    }
    fields.push_back(std::move(field));
  }
  return fields;
}

}  // namespace neve::hdf5
