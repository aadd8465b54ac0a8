// SPDX-License-Identifier: BSD-3-Clause
#include "tools/neve/data_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <vector>

#include "io/datafile/compare.hpp"
#include "io/datafile/describe.hpp"
#include "io/datafile/recognize.hpp"
#include "tools/common/console.hpp"
#include "tools/common/json_text.hpp"
#include "tools/common/ranks.hpp"
#include "tools/common/visible.hpp"
#include "tools/neve/compare.hpp"
#include "tools/neve/explanation.hpp"
#include "tools/neve/source.hpp"
#include "tools/neve/write_report.hpp"

namespace neve::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kind_name = "HDF5 data file";
constexpr const char* classic_kind_name = "netCDF classic file";
constexpr const char* vtk_kind_name = "VTKHDF file; the plotfile of which it was made has the levels";

// What `neve convert PLOTFILE x.vtkhdf` makes, among others.
bool is_for_vtk(const datafile::FileDescription& file) {
  return std::any_of(file.variables.begin(), file.variables.end(),
                     [](const datafile::Variable& v) { return v.path.starts_with("/VTKHDF/"); });
}

double ratio_of(uint64_t raw_bytes, uint64_t stored_bytes) {
  return stored_bytes > 0 ? static_cast<double>(raw_bytes) / static_cast<double>(stored_bytes) : 0;
}

std::string dims_text(const std::vector<uint64_t>& dims) { return fmt::format("{}", fmt::join(dims, "x")); }

std::string ratio_text(uint64_t raw_bytes, uint64_t stored_bytes) {
  return stored_bytes > 0 ? human_ratio(ratio_of(raw_bytes, stored_bytes)) : "-";
}

// The methods by how many chunks they took, the most frequent first.
std::vector<std::pair<std::string, uint64_t>> by_frequency(const std::map<std::string, uint64_t>& methods) {
  std::vector<std::pair<std::string, uint64_t>> sorted(methods.begin(), methods.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  return sorted;
}

std::string unchanged_text(const datafile::VariableReport& variable) {
  if (!variable.frames_took) return "copied unchanged: " + variable.why_not;
  return fmt::format("copied unchanged: {}, {}; frames took {} or more", variable.why_not,
                     human_bytes(variable.stored_before), human_bytes(*variable.frames_took));
}

std::string method_text(const datafile::VariableReport& variable) {
  if (!variable.is_coded) return unchanged_text(variable);
  return methods_text(variable.methods);
}

std::string report_table(const datafile::CopyReport& report) {
  Table table(
      {"variable", "dims", "type", "raw", "before", "now", "ratio", "bound", "max error", "s", "method"},
      true);
  std::vector<std::string> small;
  for (const datafile::VariableReport& v : report.variables) {
    table.add({v.path, dims_text(v.dims), v.type, human_bytes(v.raw_bytes), human_bytes(v.stored_before),
               human_bytes(v.stored_now), ratio_text(v.raw_bytes, v.stored_now),
               v.is_coded ? to_string(v.asked) : "-", v.is_coded ? human_error(v.max_abs_error) : "-",
               fmt::format("{:.2f}", v.encode_seconds), method_text(v)});
    if (v.is_coded && v.stored_now > v.raw_bytes) small.push_back(v.path);
  }
  return table.text() + small_variables_text(small);
}

uint64_t grid_variables(const datafile::CopyReport& report) {
  return static_cast<uint64_t>(std::count_if(report.variables.begin(), report.variables.end(),
                                             [](const auto& v) { return !v.lossless_because.empty(); }));
}

// Of what no bound was meant for: how many.
std::string grid_text(const datafile::CopyReport& report) {
  const uint64_t count = grid_variables(report);
  if (count == 0) return {};
  return fmt::format(
      "{} variable{} the grid and {} kept lossless: a bound applies only where a rule gives the full name "
      "(--explain gives the reasons)\n",
      count, count == 1 ? " describes" : "s describe", count == 1 ? "is" : "are");
}

std::string explanations_text(const datafile::CopyReport& report) {
  std::string text;
  const auto add = [&](const std::string& path, const std::string& reason) {
    text += fmt::format("{}{}: {}\n", text.empty() ? "\n" : "", path, reason);
  };
  for (const datafile::VariableReport& v : report.variables) {
    if (!v.lossless_because.empty()) add(v.path, "lossless, " + v.lossless_because);
    if (v.frames_took) add(v.path, unchanged_text(v));
  }
  for (const datafile::VariableReport& v : report.variables) {
    if (!v.explanation) continue;
    text += '\n';
    text += explanation_text(v.path, *v.explanation);
  }
  return text;
}

Json variable_json(const datafile::VariableReport& v) {
  Json j = {{"name", v.path},
            {"dims", v.dims},
            {"dtype", v.type},
            {"coded", v.is_coded},
            {"raw_bytes", v.raw_bytes},
            {"stored_before", v.stored_before},
            {"stored_bytes", v.stored_now},
            {"ratio", ratio_of(v.raw_bytes, v.stored_now)}};
  if (!v.lossless_because.empty()) j["lossless_because"] = v.lossless_because;
  if (!v.is_coded) {
    j["why_not"] = v.why_not;
    if (v.frames_took) j["frames_bytes_at_least"] = *v.frames_took;
    return j;
  }
  j["bound"] = to_string(v.asked);
  j["bound_abs"] = v.bound_abs;
  j["max_abs_error"] = v.max_abs_error;
  j["methods"] = Json::object();
  for (const auto& [method, chunks] : by_frequency(v.methods)) j["methods"][method] = chunks;
  j["chunk"] = v.chunk;
  j["chunks"] = v.chunks;
  j["unfiltered_chunks"] = v.unfiltered_chunks;
  j["resumed_chunks"] = v.resumed_chunks;
  j["encode_seconds"] = v.encode_seconds;
  if (v.explanation) j["explanation"] = explanation_json(*v.explanation);
  return j;
}

Status convert_on_first(const std::string& source, const std::string& destination, const std::string& kind,
                        const datafile::CopyOptions& options, bool bound_is_default, bool json,
                        const CopyFile& copy) {
  NEVE_ASSIGN(const InputKind source_kind, input_kind(source));
  NEVE_ASSIGN(const datafile::CopyReport report, copy(options));
  if (report.lost_references > 0) {
    say("convert", fmt::format("{} in {} to deleted objects, now null",
                               counted(report.lost_references, "reference"), source));
  }
  if (json) {
    Json j = {{"source", source},
              {"source_kind", source_kind == InputKind::netcdf_classic ? classic_kind_name : kind},
              {"destination", destination},
              {"destination_kind", kind},
              {"bound", to_string(options.bound)},
              {"bound_is_default", bound_is_default}};
    j.update(copy_report_json(report));
    std::cout << json_text(j) << std::endl;
    return {};
  }
  std::cout << visible(report_table(report))
            << bound_line(to_string(options.bound), bound_is_default,
                          kind == kind_name ? ", --field or --rules" : " or --field")
            << fmt::format("{}: {} -> {}, {}, {:.2f} s\n", visible(destination),
                           human_bytes(report.source_bytes), human_bytes(report.target_bytes),
                           human_change(ratio_of(report.source_bytes, report.target_bytes)), report.seconds)
            << visible(grid_text(report) + (options.explain ? explanations_text(report) : "")) << std::flush;
  return {};
}

struct VariableVerdict {
  datafile::VariableComparison compared;
  Comparison found;  // of numbers

  bool ok() const {
    return compared.dtype
               ? found.violations == 0 && found.special_mismatches == 0 && found.missing_changes == 0
               : compared.is_same;
  }
};

struct Verdict {
  std::vector<std::string> differences, missing;
  std::vector<VariableVerdict> variables;

  bool ok() const {
    return differences.empty() &&
           std::all_of(variables.begin(), variables.end(), [](const VariableVerdict& v) { return v.ok(); });
  }
};

CompareRule rule_of(const datafile::VariableComparison& variable) {
  return {variable.bound_abs, variable.fill, variable.missing, variable.nan_is_missing};
}

// What nobody has written was not gone through, and is missing in both files or in none.
void count_unwritten(const datafile::VariableComparison& variable, Comparison& found) {
  if (!variable.dtype || variable.unwritten.empty() || found.cells >= variable.elements) return;
  Comparison one;
  compare_values(*variable.dtype, variable.unwritten.data(), variable.unwritten.data(), 1, {},
                 rule_of(variable), one);
  const uint64_t unwritten = variable.elements - found.cells;
  found.missing_cells += one.missing_cells * unwritten;
  found.missing_in_copy += one.missing_in_copy * unwritten;
}

Result<Verdict> compare(const std::string& original, const std::string& copy, const OpenOptions& options,
                        Progress& progress) {
  std::vector<Comparison> sums;
  const auto compare_numbers = [&](const datafile::VariableComparison& variable, size_t number,
                                   const std::byte* a, const std::byte* b, uint64_t count) {
    sums.resize(std::max(sums.size(), number + 1));
    compare_values(*variable.dtype, a, b, count, {}, rule_of(variable), sums[number]);
  };
  NEVE_ASSIGN(datafile::FileComparison files,
              datafile::compare_data_files(original, copy, options, compare_numbers,
                                           [&](double fraction) { progress.show("verify", fraction); }));
  sums.resize(files.variables.size());
  Verdict verdict;
  verdict.differences = std::move(files.differences);
  verdict.missing = std::move(files.missing);
  for (size_t v = 0; v < files.variables.size(); ++v) {
    count_unwritten(files.variables[v], sums[v]);
    verdict.variables.push_back({std::move(files.variables[v]), sums[v]});
  }
  return verdict;
}

// The first thing that is not as promised, in words.
Status verdict_status(const Verdict& verdict) {
  if (!verdict.differences.empty()) {
    return {
        Code::bound_violated,
        fmt::format("{}{}", verdict.differences.front(),
                    verdict.differences.size() > 1
                        ? fmt::format(", and {}", counted(verdict.differences.size() - 1, "more difference"))
                        : "")};
  }
  for (const VariableVerdict& v : verdict.variables) {
    if (v.ok()) continue;
    if (!v.compared.dtype) return {Code::bound_violated, v.compared.path + " holds other values"};
    if (v.found.special_mismatches > 0) {
      return {Code::bound_violated,
              fmt::format(
                  "{}: {} of {} special values (NaN, infinities, -0, fill) did not come back bit for bit; "
                  "allowed: 0",
                  v.compared.path, v.found.special_mismatches, v.found.special_cells)};
    }
    if (v.found.missing_changes > 0) {
      return {Code::bound_violated, fmt::format("{}: {} cells are missing in only one of the original and "
                                                "the copy ({} and {} are missing); allowed: 0",
                                                v.compared.path, v.found.missing_changes,
                                                v.found.missing_cells, v.found.missing_in_copy)};
    }
    return {Code::bound_violated, fmt::format("{}: error {:.9g} in {} of {} values; allowed: {:.9g}",
                                              v.compared.path, v.found.max_abs_error, v.found.violations,
                                              v.found.compared_cells, v.compared.bound_abs.value_or(0))};
  }
  return {};
}

Json number_or_null(double value) { return std::isfinite(value) ? Json(value) : Json(); }

Json verdict_json(const Verdict& verdict, uint64_t file_bytes) {
  Json j = {{"ok", verdict.ok()},
            {"stored_bytes", file_bytes},
            {"differences", verdict.differences},
            {"missing_sources", verdict.missing},
            {"variables", Json::array()}};
  for (const VariableVerdict& v : verdict.variables) {
    Json of_variable = {{"name", v.compared.path},
                        {"ok", v.ok()},
                        {"dtype", v.compared.type},
                        {"dims", v.compared.dims},
                        {"elements", v.compared.elements},
                        {"raw_bytes", v.compared.raw_bytes},
                        {"stored_bytes", v.compared.stored_bytes},
                        {"ratio", ratio_of(v.compared.raw_bytes, v.compared.stored_bytes)}};
    if (v.compared.dtype) {
      of_variable["bound_abs"] = v.compared.bound_abs ? Json(*v.compared.bound_abs) : Json();
      of_variable["max_abs_error"] = number_or_null(v.found.max_abs_error);
      of_variable["psnr_db"] = number_or_null(v.found.psnr_db());
      of_variable["special_cells"] = v.found.special_cells;
      of_variable["special_mismatches"] = v.found.special_mismatches;
      of_variable["violations"] = v.found.violations;
      of_variable["missing_cells"] = v.found.missing_cells;
      of_variable["missing_cells_in_copy"] = v.found.missing_in_copy;
      of_variable["missing_changes"] = v.found.missing_changes;
    }
    j["variables"].push_back(std::move(of_variable));
  }
  return j;
}

std::string missing_text(const Comparison& found) {
  const std::string before = std::to_string(found.missing_cells);
  return found.missing_changes == 0 ? before : fmt::format("{} -> {}", before, found.missing_in_copy);
}

std::string verdict_text(const Verdict& verdict, const std::string& copy) {
  Table table({"variable", "dims", "type", "ratio", "bound", "max error", "special", "missing", ""});
  for (const VariableVerdict& v : verdict.variables) {
    const bool is_number = v.compared.dtype.has_value();
    table.add({v.compared.path, dims_text(v.compared.dims), v.compared.type,
               ratio_text(v.compared.raw_bytes, v.compared.stored_bytes),
               !v.compared.bound_abs        ? "none"
               : *v.compared.bound_abs == 0 ? "exact"
                                            : human_error(*v.compared.bound_abs),
               is_number ? human_error(v.found.max_abs_error) : "-",
               is_number ? std::to_string(v.found.special_cells) : "-",
               is_number ? missing_text(v.found) : "-", v.ok() ? "ok" : "VIOLATED"});
  }
  std::string text = table.text();
  for (const std::string& difference : verdict.differences) text += "DIFFERS: " + difference + "\n";
  for (const std::string& what : verdict.missing) text += "MISSING in the original: " + what + "\n";
  return text + fmt::format("{}: {}\n", copy,
                            verdict.ok() ? "everything is there and every bound holds" : "MISMATCH");
}

Status verify_on_first(const std::string& original, const std::string& copy, const OpenOptions& options,
                       bool json) {
  NEVE_ASSIGN(const Verdict verdict, [&] {
    Progress progress(true);
    return compare(original, copy, options, progress);
  }());
  NEVE_ASSIGN(const uint64_t file_bytes, stored_bytes(copy));
  if (json) {
    std::cout << json_text(verdict_json(verdict, file_bytes)) << std::endl;
  } else {
    std::cout << visible(verdict_text(verdict, copy)) << std::flush;
  }
  return verdict_status(verdict);
}

Json frames_json(const datafile::FrameSurvey& frames) {
  Json j = {{"chunks", frames.chunks},
            {"chunks_looked_at", frames.looked_at},
            {"bound_abs", frames.bound_abs},
            {"max_abs_error", frames.max_abs_error},
            {"methods", Json::object()}};
  for (const auto& [method, chunks] : by_frequency(frames.methods)) j["methods"][method] = chunks;
  return j;
}

// What made the chunks as they are stored: methods of Neve's frames, else filters by name.
std::string stored_by(const Json& variable) {
  const auto filters = variable["filters"].get<std::vector<std::string>>();
  if (!variable.contains("methods"))
    return filters.empty() ? "none" : fmt::format("{}", fmt::join(filters, ", "));
  std::string text = fmt::format("{}", fmt::join(filters.begin(), filters.end() - 1, ", "));
  text +=
      (text.empty() ? "" : ", ") + methods_text(variable["methods"].get<std::map<std::string, uint64_t>>());
  const auto chunks = variable["chunks"].get<uint64_t>(), seen = variable["chunks_looked_at"].get<uint64_t>();
  return seen == chunks ? text : fmt::format("{} ({} of {} chunks looked at)", text, seen, chunks);
}

}  // namespace

std::string_view data_file_kind(InputKind kind) {
  return kind == InputKind::netcdf_classic ? classic_kind_name : kind_name;
}

Json copy_report_json(const datafile::CopyReport& report) {
  Json j = {{"source_bytes", report.source_bytes},
            {"stored_bytes", report.target_bytes},
            {"ratio", ratio_of(report.source_bytes, report.target_bytes)},
            {"lost_references", report.lost_references},
            {"lossless_grid_variables", grid_variables(report)},
            {"variables", Json::array()}};
  for (const datafile::VariableReport& v : report.variables) j["variables"].push_back(variable_json(v));
  j["seconds"] = {{"total", report.seconds}};
  return j;
}

std::string small_variables_text(const std::vector<std::string>& paths) {
  if (paths.empty()) return {};
  return fmt::format(
      "more bytes than values have, for chunks are stored whole, and take some 100 bytes each: {}\n",
      fmt::join(paths, ", "));
}

std::string methods_text(const std::map<std::string, uint64_t>& methods) {
  std::string text;
  for (const auto& [method, chunks] : by_frequency(methods)) {
    text += (text.empty() ? "" : ", ") + method;
    if (methods.size() > 1) text += fmt::format(" {}x", chunks);
  }
  return text.empty() ? "no chunks" : text;
}

Result<bool> is_data_file(const std::string& path) {
  NEVE_ASSIGN(const InputKind kind, input_kind(path));
  if (kind == InputKind::netcdf_classic) return true;
  if (kind != InputKind::hdf5) return false;
  return datafile::is_data_file(path);
}

Status convert_data_file(const Ranks& ranks, const std::string& source, const std::string& destination,
                         datafile::CopyOptions options, bool bound_is_default, bool json) {
  return copy_and_report(
      ranks, source, destination, kind_name, std::move(options), bound_is_default, json,
      [&](const datafile::CopyOptions& copy) { return datafile::copy_data_file(source, destination, copy); });
}

Status copy_and_report(const Ranks& ranks, const std::string& source, const std::string& destination,
                       const std::string& kind, datafile::CopyOptions options, bool bound_is_default,
                       bool json, const CopyFile& copy) {
  return ranks.on_first("convert", [&] {
    Progress progress(true);
    options.progress = [&](const std::string& phase, double fraction) { progress.show(phase, fraction); };
    options.say = [](const std::string& text) { say("convert", text); };
    return convert_on_first(source, destination, kind, options, bound_is_default, json, copy);
  });
}

Status verify_data_files(const Ranks& ranks, const std::string& original, const std::string& copy,
                         const OpenOptions& options, bool json) {
  return ranks.on_first("verify", [&] { return verify_on_first(original, copy, options, json); });
}

Result<Json> describe_data_file(const std::string& path, const OpenOptions& options) {
  NEVE_ASSIGN(const datafile::FileDescription file, datafile::describe_data_file(path, options));
  NEVE_ASSIGN(const InputKind kind, input_kind(path));
  Json j = {{"kind", kind == InputKind::netcdf_classic ? classic_kind_name
                     : is_for_vtk(file)                ? vtk_kind_name
                                                       : kind_name},
            {"stored_bytes", file.file_bytes},
            {"groups", file.groups},
            {"links", file.links},
            {"types", file.named_types},
            {"has_choice_log", file.has_choice_log},
            {"dimensions", Json::array()},
            {"variables", Json::array()}};
  for (const datafile::BareDimension& dimension : file.dimensions)
    j["dimensions"].push_back(
        {{"name", dimension.path}, {"length", dimension.length}, {"is_unlimited", dimension.is_unlimited}});
  for (size_t i = 0; i < file.variables.size(); ++i) {
    const datafile::Variable& v = file.variables[i];
    Json of_variable = {{"name", v.path},
                        {"dtype", v.type},
                        {"dims", v.dims},
                        {"raw_bytes", v.raw_bytes()},
                        {"stored_bytes", v.stored_bytes},
                        {"ratio", ratio_of(v.raw_bytes(), v.stored_bytes)},
                        {"chunk", v.chunk},
                        {"filters", v.filters}};
    if (v.neve) {
      of_variable["bound"] = to_string(v.neve->bound);
      of_variable["codec"] = codec_name(v.neve->codec);
    }
    if (file.frames[i]) of_variable.update(frames_json(*file.frames[i]));
    j["variables"].push_back(std::move(of_variable));
  }
  return j;
}

std::string data_file_text(const Json& j) {
  std::string text = fmt::format("{}, {}, {}\n", counted(j["variables"].size(), "variable"),
                                 counted(j["groups"].get<size_t>(), "group"),
                                 human_bytes(j["stored_bytes"].get<uint64_t>()));
  Table table({"variable", "dims", "type", "raw", "stored", "ratio", "chunk", "bound", "method or filters"},
              true);
  for (const Json& v : j["variables"]) {
    const auto chunk = v["chunk"].get<std::vector<uint64_t>>();
    const auto raw_bytes = v["raw_bytes"].get<uint64_t>(), stored = v["stored_bytes"].get<uint64_t>();
    table.add({v["name"].get<std::string>(), dims_text(v["dims"].get<std::vector<uint64_t>>()),
               v["dtype"].get<std::string>(), human_bytes(raw_bytes), human_bytes(stored),
               ratio_text(raw_bytes, stored), chunk.empty() ? "-" : dims_text(chunk),
               v.contains("bound") ? v["bound"].get<std::string>() : "-", stored_by(v)});
  }
  text += table.text();
  std::string dimensions;
  for (const Json& one : j["dimensions"]) {
    dimensions += fmt::format(
        "{}{} {}", dimensions.empty() ? "" : ", ", one["name"].get<std::string>(),
        one["is_unlimited"].get<bool>() ? "unlimited" : std::to_string(one["length"].get<uint64_t>()));
  }
  if (!dimensions.empty()) text += "dimensions without a variable: " + dimensions + "\n";
  if (j["has_choice_log"].get<bool>()) text += "a log of choices: `neve choices` shows it\n";
  return text;
}

}  // namespace neve::cli
