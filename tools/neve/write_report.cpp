// SPDX-License-Identifier: BSD-3-Clause
#include "tools/neve/write_report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tools/common/console.hpp"
#include "tools/neve/explanation.hpp"

namespace neve::cli {
namespace {

nlohmann::ordered_json field_json(const FieldReport& field) {
  nlohmann::ordered_json j;
  j["name"] = field.name;
  j["cells"] = field.cells;
  j["raw_bytes"] = field.raw_bytes;
  j["stored_bytes"] = field.stored_bytes;
  j["codec_bytes"] = field.codec_bytes;
  j["ratio"] = field.stored_bytes > 0
                   ? static_cast<double>(field.raw_bytes) / static_cast<double>(field.stored_bytes)
                   : 0.0;
  j["bound"] = to_string(field.asked);
  j["bound_abs"] = field.bound_abs;
  j["max_abs_error"] = field.max_abs_error;
  j["left_out_cells"] = field.left_out_cells;
  j["special_cells"] = field.special_cells;
  j["exact_cells"] = field.exact_cells;
  j["fill"] = field.fill.has_value() ? nlohmann::ordered_json(*field.fill) : nlohmann::ordered_json();
  j["covered"] = field.covered;
  j["codec"] = field.codec;
  j["chosen"] = field.chosen;
  j["arrangement"] = field.arrangement;
  if (field.explanation) j["explanation"] = explanation_json(*field.explanation);
  return j;
}

}  // namespace

uint64_t codec_bytes(const WriteReport& report) {
  uint64_t bytes = 0;
  for (const LevelReport& level : report.levels) {
    for (const FieldReport& field : level.fields) bytes += field.codec_bytes;
  }
  return bytes;
}

uint64_t left_out_cells(const WriteReport& report) {
  uint64_t cells = 0;
  for (const LevelReport& level : report.levels) {
    for (const FieldReport& field : level.fields) cells += field.left_out_cells;
  }
  return cells;
}

std::string bound_line(const std::string& bound, bool is_default, const std::string& besides) {
  return is_default ? fmt::format("bound: {} (the default; choose with --bound{})\n", bound, besides)
                    : fmt::format("bound: {}\n", bound);
}

std::string covered_line(const WriteReport& report) {
  const uint64_t cells = left_out_cells(report);
  if (cells == 0)
    return fmt::format("covered cells: {}, every cell is stored\n", covered_name(report.covered));
  return fmt::format(
      "covered cells: {}, {} are left out; Neve reads the average of the finer cells there, unmodified tools "
      "(h5py, yt, VisIt) see stand-in values\n",
      covered_name(report.covered), cells);
}

nlohmann::ordered_json report_json(const WriteReport& report) {
  nlohmann::ordered_json j;
  j["raw_bytes"] = report.raw_bytes;
  j["stored_bytes"] = report.file_bytes;
  j["codec_bytes"] = codec_bytes(report);
  j["data_bytes"] = report.data_bytes;
  j["mpi_writes"] = report.mpi_writes;
  j["hints"] = report.hints;
  j["ratio"] = static_cast<double>(report.raw_bytes) / static_cast<double>(report.file_bytes);
  j["levels"] = nlohmann::ordered_json::array();
  for (size_t level = 0; level < report.levels.size(); ++level) {
    const LevelReport& of_level = report.levels[level];
    nlohmann::ordered_json l;
    l["level"] = level;
    l["chunks"] = of_level.chunks;
    l["chunk_elements"] = of_level.chunk_elements;
    l["stored_bytes"] = of_level.stored_bytes;
    l["fields"] = nlohmann::ordered_json::array();
    for (const FieldReport& field : of_level.fields) l["fields"].push_back(field_json(field));
    j["levels"].push_back(std::move(l));
  }
  return j;
}

std::string report_table(const WriteReport& report) {
  Table table(
      {"level field", "raw", "stored", "ratio", "bound", "max error", "left out", "codec, arrangement"});
  for (size_t level = 0; level < report.levels.size(); ++level) {
    for (const FieldReport& field : report.levels[level].fields) {
      table.add({fmt::format("{} {}", level, field.name), human_bytes(field.raw_bytes),
                 human_bytes(field.stored_bytes),
                 human_ratio(static_cast<double>(field.raw_bytes) /
                             static_cast<double>(std::max<uint64_t>(field.stored_bytes, 1))),
                 human_error(field.bound_abs), human_error(field.max_abs_error),
                 std::to_string(field.left_out_cells), field.codec + ", " + field.arrangement});
    }
  }
  return table.text();
}

nlohmann::ordered_json phases_json(const WriteReport& report, double read_seconds) {
  return {{"read", read_seconds},          {"plan", report.plan_seconds},   {"encode", report.encode_seconds},
          {"place", report.place_seconds}, {"write", report.write_seconds}, {"sync", report.sync_seconds}};
}

std::string report_summary(const std::string& destination, const WriteReport& report) {
  const double ratio = static_cast<double>(report.raw_bytes) / static_cast<double>(report.file_bytes);
  return fmt::format("{}: {} -> {}, {} ({} of the file are compressed values)\n", destination,
                     human_bytes(report.raw_bytes), human_bytes(report.file_bytes), human_change(ratio),
                     human_bytes(codec_bytes(report)));
}

std::string hints_line(const WriteReport& report) {
  std::string line;
  for (const auto& [key, value] : report.hints) line += (line.empty() ? "" : ", ") + key + "=" + value;
  return fmt::format("MPI-IO hints, as the MPI library reports them: {}\n", line.empty() ? "none" : line);
}

}  // namespace neve::cli
