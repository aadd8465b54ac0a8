// SPDX-License-Identifier: BSD-3-Clause
#include "preload/trace/collect.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "preload/trace/json.hpp"
#include "preload/trace/part_reader.hpp"
#include "preload/trace/parts_folder.hpp"
#include "preload/trace/settings.hpp"

namespace neve::trace {

namespace fs = std::filesystem;

Result<Collected> collect(const std::string& path) {
  Collected collected;
  std::error_code error;
  const bool has_trace = fs::exists(path, error);
  const bool is_replaced = has_trace && is_to_be_replaced(path);
  if (has_trace && !is_replaced) {
    NEVE_ASSIGN(collected.trace, read_trace_file(path));
  }
  std::vector<std::string> beside;
  for (const auto& entry : fs::directory_iterator(parts_folder_of(path), error)) {
    beside.push_back(entry.path().string());
  }
  if (!has_trace && beside.empty()) return failure(path + ": no such file, and no parts beside it");
  std::sort(beside.begin(), beside.end());
  for (const std::string& name : beside) {
    const bool is_part = name.ends_with(part_suffix);
    if (!is_part && !name.ends_with(reduced_suffix)) continue;
    auto part = is_part ? read_part_file(name) : read_trace_file(name);
    if (!part.ok()) {
      collected.unreadable.push_back(part.status().message());
      ++collected.trace.unreadable_parts;
      continue;
    }
    collected.trace.merge(*part);
    collected.leftovers.push_back(name);
  }
  if (is_replaced && collected.leftovers.empty()) {
    NEVE_ASSIGN(collected.trace, read_trace_file(path));
    collected.is_earlier = true;
  }
  return collected;
}

}  // namespace neve::trace
