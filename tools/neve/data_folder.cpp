// SPDX-License-Identifier: BSD-3-Clause
#include "tools/neve/data_folder.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>
#include <vector>

#include "io/datafile/describe.hpp"
#include "io/files/list_folder.hpp"
#include "tools/common/console.hpp"
#include "tools/neve/data_file.hpp"

namespace neve::cli {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

constexpr size_t most_named = 5;

bool is_folder_without_header(const fs::path& path) {
  std::error_code error;
  return fs::is_directory(path, error) && !fs::exists(path / "Header", error);
}

// What is damaged or cannot be read is none of them.
bool is_shown(const files::Entry& entry, const std::string& path) {
  if (!entry.is_file() || entry.name.starts_with('.')) return false;
  const Result<bool> is_data = is_data_file(path);
  return is_data.ok() && *is_data;
}

}  // namespace

Result<std::optional<Json>> describe_data_folder(const std::string& path) {
  if (!is_folder_without_header(path)) return std::optional<Json>();
  NEVE_ASSIGN(const std::vector<files::Entry> entries, files::list_folder(path));
  Json found = Json::array();
  uint64_t all_bytes = 0;
  bool has_choice_log = false;
  for (const files::Entry& entry : entries) {
    const std::string file = (fs::path(path) / entry.name).string();
    if (!is_shown(entry, file)) continue;
    NEVE_ASSIGN(const uint64_t bytes, stored_bytes(file));
    found.push_back({{"name", entry.name}, {"stored_bytes", bytes}});
    all_bytes += bytes;
    has_choice_log = has_choice_log || datafile::has_choice_log(file);
  }
  if (found.empty()) return std::optional<Json>();
  return std::optional<Json>({{"kind", "folder of data files"},
                              {"stored_bytes", all_bytes},
                              {"has_choice_log", has_choice_log},
                              {"files", std::move(found)}});
}

std::string data_folder_text(const std::string& path, const Json& j) {
  const Json& found = j["files"];
  std::string names;
  for (size_t i = 0; i < found.size() && i < most_named; ++i)
    names += fmt::format("{}{}", i == 0 ? "" : ", ", found[i]["name"].get<std::string>());
  if (found.size() > most_named) names += fmt::format(" and {} more", found.size() - most_named);
  const std::string first = (fs::path(path) / found[0]["name"].get<std::string>()).string();
  std::string text =
      fmt::format("{}, {}, as `neve convert --into` makes them: {}\n", counted(found.size(), "data file"),
                  human_bytes(j["stored_bytes"].get<uint64_t>()), names);
  text += fmt::format("`neve info {}` shows one, `neve verify SOURCE {}` compares it with its source\n",
                      first, first);
  if (j["has_choice_log"].get<bool>())
    text += fmt::format("a log of choices: `neve choices {}` shows it\n", path);
  return text;
}

}  // namespace neve::cli
