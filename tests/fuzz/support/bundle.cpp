// SPDX-License-Identifier: BSD-3-Clause
#include "tests/fuzz/support/bundle.hpp"

#include <algorithm>
#include <cctype>

namespace neve::fuzz {
namespace {

constexpr std::string_view mark = "@@ ";
constexpr std::string_view next_mark = "\n@@ ";
constexpr size_t max_files = 64;
constexpr size_t longest_path = 100;

// Stays inside the folder it is put into.
bool is_plain(std::string_view path) {
  const auto allowed = [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '.' || c == '/';
  };
  return !path.empty() && path.size() <= longest_path && std::all_of(path.begin(), path.end(), allowed) &&
         path.front() != '/' && path.back() != '/' && path.find("..") == std::string_view::npos &&
         path.find("//") == std::string_view::npos;
}

}  // namespace

std::vector<BundledFile> unbundle(std::string_view bundle) {
  std::vector<BundledFile> files;
  if (!bundle.starts_with(mark)) return files;
  bundle.remove_prefix(mark.size());
  while (!bundle.empty() && files.size() < max_files) {
    const size_t end_of_line = bundle.find('\n');
    if (end_of_line == std::string_view::npos) break;
    const std::string_view path = bundle.substr(0, end_of_line);
    // From the line's end on, so that an empty file is found as well.
    const size_t end = bundle.find(next_mark, end_of_line);
    const size_t begin = end_of_line + 1;
    const std::string_view bytes = end == std::string_view::npos ? bundle.substr(begin)
                                   : end < begin                 ? std::string_view()
                                                                 : bundle.substr(begin, end - begin);
    if (is_plain(path)) files.push_back({std::string(path), bytes});
    if (end == std::string_view::npos) break;
    bundle.remove_prefix(end + next_mark.size());
  }
  return files;
}

void add_to_bundle(std::string& bundle, const std::string& path, std::string_view bytes) {
  if (!bundle.empty()) bundle += '\n';
  bundle += mark;
  bundle += path;
  bundle += '\n';
  bundle += bytes;
}

}  // namespace neve::fuzz
