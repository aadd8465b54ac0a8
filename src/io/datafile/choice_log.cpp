// SPDX-License-Identifier: BSD-3-Clause
#include "io/datafile/choice_log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>

#include "io/datafile/classic_attributes.hpp"
#include "io/datafile/netcdf_names.hpp"
#include "io/hdf5/errors.hpp"
#include "io/hdf5/handle.hpp"
#include "neve/series.hpp"

namespace neve::datafile {
namespace {

using hdf5::Handle;

constexpr int32_t log_version = 1;

Status refused(const std::string& what) {
  return failure(fmt::format("{}: {} cannot be written: {}", choices_group, what, hdf5::last_error()));
}

Handle text_type() {
  Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(type.id(), H5T_VARIABLE);
  H5Tset_cset(type.id(), H5T_CSET_UTF8);
  return type;
}

Status write_rule(hid_t group, const char* name, hid_t file_type, hid_t memory_type, const void* value) {
  const Handle space(H5Screate(H5S_SCALAR), H5Sclose);
  const Handle attribute(H5Acreate2(group, name, file_type, space.id(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
  if (!attribute.valid() || H5Awrite(attribute.id(), memory_type, value) < 0) return refused(name);
  return {};
}

Status write_number(hid_t group, const char* name, double value) {
  return write_rule(group, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, &value);
}

Status write_rule_text(hid_t group, const char* name, const std::string& text) {
  const Handle type = text_type();
  const char* const chars = text.c_str();
  return write_rule(group, name, type.id(), type.id(), &chars);
}

Status write_rules(hid_t group, const ChoiceRules& rules, const CodecTuning& tuning) {
  NEVE_TRY(write_rule(group, "version", H5T_STD_I32LE, H5T_NATIVE_INT32, &log_version));
  NEVE_TRY(write_rule_text(group, "candidates", lossless_methods_text(tuning.candidates)));
  NEVE_TRY(write_number(group, "delta", rules.delta));
  NEVE_TRY(write_rule_text(group, "speeds", std::string(speeds_name(rules.speeds))));
  NEVE_TRY(write_number(group, "speed_weight", tuning.speed_weight));
  return write_number(group, "ratio_weight", tuning.ratio_weight);
}

// A string of JSON; bytes beyond ASCII as they are.
std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += fmt::format("\\{}", c);
    } else if (static_cast<unsigned char>(c) < ' ') {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  return out + '"';
}

// JSON: {"/T": {"candidates": "acomps", "speed_weight": 1, "ratio_weight": 1}}.
std::string own_rules_text(const OwnTunings& own) {
  std::string text;
  for (const auto& [variable, tuning] : own) {
    text += fmt::format("{}{}: {{\"candidates\": {}, \"speed_weight\": {}, \"ratio_weight\": {}}}",
                        text.empty() ? "" : ", ", quoted(variable),
                        quoted(lossless_methods_text(tuning.candidates)), tuning.speed_weight,
                        tuning.ratio_weight);
  }
  return fmt::format("{{{}}}", text);
}

// The columns, in their order.
enum ColumnPlace {
  in_variable,
  in_level,
  in_step,
  in_method,
  in_reason,
  in_performance,
  in_estimate,
  in_rival,
  in_rival_estimate,
  in_raw_bytes,
  in_coded_bytes,
  in_choosing_seconds,
  in_coding_seconds,
  columns
};
constexpr const char* column_names[columns] = {
    "variable", "level",          "step",      "method",      "reason",           "performance",   "estimate",
    "rival",    "rival_estimate", "raw_bytes", "coded_bytes", "choosing_seconds", "coding_seconds"};

// netCDF's, which all columns have: without it, readers make one up.
constexpr const char* row_dimension = "choice";

// Datasets of the group, one below the other as they are written.
class Columns {
 public:
  Columns(hid_t group, const std::vector<Choice>& choices)
      : group_(group),
        choices_(choices),
        text_(text_type()),
        creation_(H5Pcreate(H5P_DATASET_CREATE), H5Pclose) {
    H5Pset_obj_track_times(creation_.id(), false);
  }

  // Before the columns.
  Status add_dimension() const {
    const hsize_t count = choices_.size();
    const Handle space(H5Screate_simple(1, &count, nullptr), H5Sclose);
    const Handle dataset(H5Dcreate2(group_, row_dimension, H5T_IEEE_F32BE, space.id(), H5P_DEFAULT,
                                    creation_.id(), H5P_DEFAULT),
                         H5Dclose);
    if (!dataset.valid()) return refused(row_dimension);
    NEVE_TRY(datafile::write_text(dataset.id(), "CLASS", "DIMENSION_SCALE"));
    return datafile::write_text(dataset.id(), "NAME", bare_dimension_text(count));
  }

  // Behind them.
  Status list_users() const {
    std::vector<ScaleUser> users;
    for (const char* name : column_names) users.push_back({name, 0});
    const Handle dataset(H5Dopen2(group_, row_dimension, H5P_DEFAULT), H5Dclose);
    return write_scale_users(group_, dataset.id(), users);
  }

  template <class Get>
  Status texts(const char* name, const Get& get) const {
    std::vector<std::string> texts;
    for (const Choice& choice : choices_) texts.emplace_back(get(choice));
    std::vector<const char*> chars;
    for (const std::string& text : texts) chars.push_back(text.c_str());
    return write(name, text_.id(), text_.id(), chars.data());
  }

  template <class T, class Get>
  Status numbers(const char* name, hid_t file_type, hid_t memory_type, const Get& get) const {
    std::vector<T> values;
    for (const Choice& choice : choices_) values.push_back(static_cast<T>(get(choice)));
    return write(name, file_type, memory_type, values.data());
  }

  template <class Get>
  Status reals(const char* name, const Get& get) const {
    return numbers<double>(name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, get);
  }

  template <class Get>
  Status wholes(const char* name, const Get& get) const {
    return numbers<uint64_t>(name, H5T_STD_U64LE, H5T_NATIVE_UINT64, get);
  }

 private:
  Status write(const char* name, hid_t file_type, hid_t memory_type, const void* values) const {
    const hsize_t count = choices_.size();
    const Handle space(H5Screate_simple(1, &count, nullptr), H5Sclose);
    const Handle dataset(
        H5Dcreate2(group_, name, file_type, space.id(), H5P_DEFAULT, creation_.id(), H5P_DEFAULT), H5Dclose);
    if (!dataset.valid()) return refused(name);
    if (count > 0 && H5Dwrite(dataset.id(), memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0)
      return refused(name);
    return write_scales(group_, dataset.id(), {row_dimension});
  }

  hid_t group_;
  const std::vector<Choice>& choices_;
  Handle text_, creation_;
};

Status write_columns(const Columns& columns, ChoiceLog log) {
  NEVE_TRY(columns.texts(column_names[in_variable], [](const Choice& c) { return c.variable; }));
  NEVE_TRY(columns.numbers<int32_t>(column_names[in_level], H5T_STD_I32LE, H5T_NATIVE_INT32,
                                    [](const Choice& c) { return c.level; }));
  NEVE_TRY(columns.wholes(column_names[in_step], [](const Choice& c) { return c.step; }));
  NEVE_TRY(
      columns.texts(column_names[in_method], [](const Choice& c) { return selection_name(c.selection); }));
  NEVE_TRY(
      columns.texts(column_names[in_reason], [](const Choice& c) { return choice_reason_name(c.reason); }));
  NEVE_TRY(columns.reals(column_names[in_performance], [](const Choice& c) { return c.performance; }));
  NEVE_TRY(columns.reals(column_names[in_estimate], [](const Choice& c) { return c.estimate; }));
  NEVE_TRY(columns.texts(column_names[in_rival], [](const Choice& c) { return selection_name(c.rival); }));
  NEVE_TRY(columns.reals(column_names[in_rival_estimate], [](const Choice& c) { return c.rival_estimate; }));
  NEVE_TRY(columns.wholes(column_names[in_raw_bytes], [](const Choice& c) { return c.raw_bytes; }));
  NEVE_TRY(columns.wholes(column_names[in_coded_bytes], [](const Choice& c) { return c.coded_bytes; }));
  const auto seconds = [log](uint64_t ns) {
    constexpr double second_ns = 1e9;
    return log == ChoiceLog::with_times ? static_cast<double>(ns) / second_ns
                                        : std::numeric_limits<double>::quiet_NaN();
  };
  NEVE_TRY(columns.reals(column_names[in_choosing_seconds],
                         [&](const Choice& c) { return seconds(c.choosing_ns); }));
  return columns.reals(column_names[in_coding_seconds],
                       [&](const Choice& c) { return seconds(c.coding_ns); });
}

}  // namespace

bool is_of_choice_log(const std::string& path) {
  const std::string group = fmt::format("/{}", choices_group);
  return path == group || path == group + "/" + row_dimension ||
         std::any_of(std::begin(column_names), std::end(column_names),
                     [&](const char* name) { return path == group + "/" + name; });
}

bool is_chosen_alike(const CodecTuning& a, const CodecTuning& b) {
  return a.candidates == b.candidates && a.speed_weight == b.speed_weight && a.ratio_weight == b.ratio_weight;
}

Status write_choice_log(hid_t file, const std::vector<Choice>& choices, const ChoiceRules& rules,
                        const CodecTuning& tuning, const OwnTunings& own, ChoiceLog log) {
  const Handle creation(H5Pcreate(H5P_GROUP_CREATE), H5Pclose);
  H5Pset_link_creation_order(creation.id(), H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);
  H5Pset_obj_track_times(creation.id(), false);
  const Handle group(H5Gcreate2(file, choices_group, H5P_DEFAULT, creation.id(), H5P_DEFAULT), H5Gclose);
  if (!group.valid()) return refused("the group");
  NEVE_TRY(write_rules(group.id(), rules, tuning));
  if (!own.empty()) NEVE_TRY(write_rule_text(group.id(), "own_rules", own_rules_text(own)));
  const Columns made(group.id(), choices);
  NEVE_TRY(made.add_dimension());
  NEVE_TRY(write_columns(made, log));
  return made.list_users();
}

}  // namespace neve::datafile
