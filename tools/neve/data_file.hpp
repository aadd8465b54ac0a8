// SPDX-License-Identifier: BSD-3-Clause
// netCDF (classic and netCDF-4) and other HDF5 data files in the commands convert, verify and info. One rank
// does the work: HDF5 is read and written by one thread, encoding takes the others.
#pragma once

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "io/datafile/copy.hpp"
#include "neve/status.hpp"
#include "tools/common/ranks.hpp"
#include "tools/neve/source.hpp"

namespace neve::cli {

// Told by content: netCDF classic, or HDF5 and no plotfile.
Result<bool> is_data_file(const std::string& path);

// `bound_is_default`: nobody asked for options.bound; the report says so.
Status convert_data_file(const Ranks& ranks, const std::string& source, const std::string& destination,
                         datafile::CopyOptions options, bool bound_is_default, bool json);

// What convert_data_file does with any copy: progress, report, JSON. `kind` is what source and destination
// are.
using CopyFile = std::function<Result<datafile::CopyReport>(const datafile::CopyOptions&)>;
Status copy_and_report(const Ranks& ranks, const std::string& source, const std::string& destination,
                       const std::string& kind, datafile::CopyOptions options, bool bound_is_default,
                       bool json, const CopyFile& copy);

// Ends with bound_violated where anything but chunks and filters differs beyond the bounds of the copy.
Status verify_data_files(const Ranks& ranks, const std::string& original, const std::string& copy,
                         const OpenOptions& options, bool json);

// For reports: what a data file is called, what was made of one, methods with the number of chunks that took
// them, the most frequent first.
std::string_view data_file_kind(InputKind kind);
nlohmann::ordered_json copy_report_json(const datafile::CopyReport& report);
// A line below a table in which these variables are larger than their values; empty for none.
std::string small_variables_text(const std::vector<std::string>& paths);
std::string methods_text(const std::map<std::string, uint64_t>& methods);

// For `neve info`: with keys kind and variables.
Result<nlohmann::ordered_json> describe_data_file(const std::string& path, const OpenOptions& options);
std::string data_file_text(const nlohmann::ordered_json& description);

}  // namespace neve::cli
