// SPDX-License-Identifier: BSD-3-Clause
#include "io/plotfile/replaceable.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <set>
#include <system_error>
#include <vector>

#include "io/files/list_folder.hpp"
#include "io/plotfile/amrex_header.hpp"
#include "io/plotfile/file.hpp"

namespace neve::plotfile {
namespace {

namespace fs = std::filesystem;

constexpr size_t most_named = 10;

// What the headers name.
struct Named {
  std::set<std::string> files, folders;  // relative paths
  std::vector<std::string> fields;
  size_t levels = 0;
};

// A path that a header names, if it stays in the plotfile.
bool is_inside(const fs::path& path) {
  return path.is_relative() && !path.empty() &&
         std::none_of(path.begin(), path.end(), [](const fs::path& step) { return step == ".."; });
}

void add_file(Named& named, const fs::path& path) {
  const fs::path plain = path.lexically_normal();
  if (!is_inside(plain)) return;
  named.files.insert(plain.string());
  for (fs::path above = plain.parent_path(); !above.empty(); above = above.parent_path()) {
    named.folders.insert(above.string());
  }
}

Result<Named> named_by_headers(const std::string& folder, const std::string& name) {
  const std::string replaced = "; only a plotfile can be replaced";
  std::error_code error;
  if (!fs::is_regular_file(fs::symlink_status(fs::path(folder) / "Header", error))) {
    return usage_error(
        fmt::format("{} exists and is not a plotfile (it has no Header); it is not replaced", name));
  }
  NEVE_ASSIGN(const std::string text, read_text(folder + "/Header"));
  const Result<PlotfileHeader> header = parse_plotfile_header(text, name + "/Header");
  if (!header.ok()) {
    return usage_error(
        fmt::format("{} exists and is not a plotfile ({}){}", name, header.status().message(), replaced));
  }
  Named named;
  named.fields = header->hierarchy.components;
  named.levels = header->hierarchy.levels.size();
  add_file(named, "Header");
  for (const std::string& fab_path : header->fab_paths) {
    const fs::path level_header = fs::path(fab_path + "_H").lexically_normal();
    // A link in the way would lead out of the plotfile; it is found, and refused, when all is walked.
    if (!is_inside(level_header) ||
        !fs::is_regular_file(fs::symlink_status(fs::path(folder) / level_header, error))) {
      continue;
    }
    NEVE_ASSIGN(const std::string level_text, read_text((fs::path(folder) / level_header).string()));
    const auto level =
        parse_fab_array_header(level_text, name + "/" + level_header.string(), header->hierarchy.dims);
    if (!level.ok()) continue;  // then nothing says which data files are its
    add_file(named, level_header);
    for (const std::string& file : level->files) add_file(named, level_header.parent_path() / file);
  }
  return named;
}

bool has_bytes(const fs::path& path, const std::string& bytes) {
  const Result<std::string> found = read_text(path.string());
  return found.ok() && *found == bytes;
}

// All that lies in a folder: what the headers name, and what replacing the folder would lose.
struct Walk {
  const std::string& folder;
  const std::string& name;
  const Named& named;
  const Replacement& replacement;
  files::Parts parts, lost;  // of what is lost the first few
  uint64_t lost_count = 0;

  bool is_part(const files::Entry& entry, const std::string& path) const {
    if (entry.is_folder()) return named.folders.contains(path);
    if (!entry.is_file()) return false;
    const auto side_file = replacement.side_files.find(path);
    return named.files.contains(path) || (side_file != replacement.side_files.end() &&
                                          has_bytes(fs::path(folder) / path, side_file->second));
  }

  void lose(const std::string& path) {
    ++lost_count;
    lost.push_back(path);
    std::sort(lost.begin(), lost.end());
    if (lost.size() > most_named) lost.pop_back();
  }

  void lose_fields_and_levels() {
    for (const std::string& field : named.fields) {
      const auto& kept = replacement.fields;
      if (std::find(kept.begin(), kept.end(), field) == kept.end()) lose("field " + field);
    }
    for (size_t level = replacement.levels; level < named.levels; ++level) {
      lose("level " + std::to_string(level));
    }
  }

  // `below`: a path within the folder that ends with '/', or "".
  Status visit(const std::string& below) {
    NEVE_ASSIGN(const std::vector<files::Entry> entries,
                files::list_folder(folder + "/" + below, name + "/" + below));
    for (const files::Entry& entry : entries) {
      const std::string path = below + entry.name;
      if (!is_part(entry, path)) {
        lose(path + (entry.is_folder() ? "/" : ""));
        continue;
      }
      parts.push_back(path);
      if (entry.is_folder()) NEVE_TRY(visit(path + "/"));
    }
    return {};
  }
};

}  // namespace

Result<files::Parts> plotfile_parts(const std::string& folder, const std::string& name,
                                    const Replacement& replacement) {
  NEVE_ASSIGN(const std::vector<files::Entry> entries, files::list_folder(folder, name));
  if (entries.empty()) return files::Parts{};
  NEVE_ASSIGN(const Named named, named_by_headers(folder, name));
  Walk walk{folder, name, named, replacement, {}, {}, 0};
  NEVE_TRY(walk.visit(""));
  walk.lose_fields_and_levels();
  if (walk.lost_count == 0) {
    std::reverse(walk.parts.begin(), walk.parts.end());  // a directory comes before what it holds
    return walk.parts;
  }
  const uint64_t more = walk.lost_count - walk.lost.size();
  return usage_error(
      fmt::format("{} holds entries that the new plotfile does not have, and replacing it would lose them: "
                  "{}{}; write to another name, or move it away",
                  name, fmt::join(walk.lost, ", "), more > 0 ? fmt::format(" and {} more", more) : ""));
}

namespace {

// Of what has the name now; 0: nothing has.
ino_t inode_of(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 ? info.st_ino : 0;
}

}  // namespace

files::PartsOf parts_of_plotfile(const Replacement& replacement) {
  return [replacement](const std::string& folder, const std::string& name) {
    // Another writer may replace the folder between a look at its headers and one at its files.
    constexpr int most_looks = 5;
    for (int look = 1;; ++look) {
      const ino_t before = inode_of(folder);
      Result<files::Parts> parts = plotfile_parts(folder, name, replacement);
      if (parts.ok() || look == most_looks || inode_of(folder) == before) return parts;
    }
  };
}

}  // namespace neve::plotfile
