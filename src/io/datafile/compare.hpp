// SPDX-License-Identifier: BSD-3-Clause
// Whether a data file holds what another holds: objects, links, attributes, extents, fill values, values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "neve/frame.hpp"
#include "neve/open_options.hpp"
#include "neve/status.hpp"
#include "neve/types.hpp"

namespace neve::datafile {

struct VariableComparison {
  std::string path, type;
  std::vector<uint64_t> dims;
  // Where Neve codes the type, the values go to CompareValues; else is_same tells.
  std::optional<DType> dtype;
  bool is_same = true;
  uint64_t elements = 0, raw_bytes = 0;
  uint64_t stored_bytes = 0;  // in the copy
  // What the copy promises: 0 where every bit must be the same; nothing where its bound is relative to a
  // range that only its encoder knew.
  std::optional<double> bound_abs;
  std::optional<double> fill;  // what the copy keeps bit for bit
  MissingValues missing;       // what readers of the original take for missing
  bool nan_is_missing = false;
  std::vector<std::byte> unwritten;  // the element that stands where nobody wrote; empty where none may
};

struct FileComparison {
  std::vector<std::string> differences;  // of everything but values, in words
  // Of the original's datasets in other files, in words: values that HDF5 made up, and no copy can have.
  std::vector<std::string> missing;
  std::vector<VariableComparison> variables;
};

// Values of the original and of the copy, `count` of each, of the variable with that number.
using CompareValues = std::function<void(const VariableComparison& variable, size_t number,
                                         const std::byte* original, const std::byte* copy, uint64_t count)>;

// Which datasets' values are not to be compared, by path.
using SkipValues = std::function<bool(const std::string& path)>;

// How values are chunked and filtered may differ, and the copy may have a log of choices (choice_log.hpp).
// Errors: failure, corrupt, plugin_missing.
Result<FileComparison> compare_data_files(const std::string& original, const std::string& copy,
                                          const OpenOptions& options, const CompareValues& compare,
                                          const std::function<void(double fraction)>& progress,
                                          const SkipValues& skip = {});

// Attributes of groups of the original that the copy lacks or has another value of, in words. Groups that the
// copy does not have are not asked for.
Result<std::vector<std::string>> changed_group_attributes(const std::string& original,
                                                          const std::string& copy,
                                                          const OpenOptions& options);

}  // namespace neve::datafile
