// SPDX-License-Identifier: BSD-3-Clause
#include "io/hdf5/virtual_sources.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>

#include "io/hdf5/handle.hpp"
#include "io/hdf5/object_address.hpp"
#include "io/hdf5/open_to_read.hpp"
#include "io/hdf5/stored_chunks.hpp"

namespace neve::hdf5 {

std::string numbered_name(const std::string& pattern, uint64_t number, bool& has_number) {
  std::string name;
  for (size_t i = 0; i < pattern.size(); ++i) {
    const char next = pattern[i] == '%' && i + 1 < pattern.size() ? pattern[i + 1] : '\0';
    if (next == 'b') {
      name += std::to_string(number);
      has_number = true;
    } else {
      name += pattern[i];
    }
    if (next == 'b' || next == '%') ++i;
  }
  return name;
}

void VirtualSources::add(const std::string& file, haddr_t dataset, const std::string& place) {
  datasets_[Node(file, dataset)].place = place;
}

void VirtualSources::add_source(const std::string& file, haddr_t dataset, const std::string& source_file,
                                const std::string& source_path) {
  datasets_.at(Node(file, dataset)).sources.push_back({source_file, source_path});
}

namespace {

// The file that an object lies in, which an external link on the way to it may have led to.
std::string file_of(hid_t object) {
  const ssize_t bytes = H5Fget_name(object, nullptr, 0);
  if (bytes <= 0) return {};
  std::string name(static_cast<size_t>(bytes) + 1, '\0');
  H5Fget_name(object, name.data(), name.size());
  name.pop_back();
  std::error_code error;
  return std::filesystem::canonical(name, error).string();
}

Status check_chunks(hid_t dataset) {
  ChunkCheck chunks(dataset);
  NEVE_TRY(chunks.check_sizes());
  return chunks.check(H5S_ALL);
}

}  // namespace

// Of each dataset, those of its sources that are virtual themselves.
Result<std::map<VirtualSources::Node, std::vector<VirtualSources::Node>>> VirtualSources::resolved(
    bool chunks) const {
  std::map<std::string, Handle> files;
  std::set<Node> checked;
  std::map<Node, std::vector<Node>> found;
  for (const auto& [node, dataset] : datasets_) {
    std::set<Node> virtual_ones;
    for (const auto& [name, pattern] : dataset.sources) {
      const auto [file, is_new] = files.try_emplace(name);
      if (is_new) {
        if (Result<Handle> opened = open_file_to_read(name); opened.ok()) file->second = std::move(*opened);
      }
      if (!file->second.valid()) continue;  // its reader will find the same
      bool has_number = false;
      for (uint64_t number = 0; number == 0 || has_number; ++number) {
        const std::string path = numbered_name(pattern, number, has_number);
        const Handle object(H5Oopen(file->second.id(), path.c_str(), H5P_DEFAULT), H5Oclose);
        if (!object.valid()) break;
        const Result<haddr_t> address = object_address(object.id());
        if (!address.ok()) break;
        Node source(file_of(object.id()), *address);
        if (chunks && H5Iget_type(object.id()) == H5I_DATASET && checked.insert(source).second) {
          const Status whole = check_chunks(object.id());
          if (!whole.ok()) return whole.in(fmt::format("{}: {}", name, path));
        }
        if (datasets_.contains(source)) virtual_ones.insert(std::move(source));
      }
    }
    found.emplace(node, std::vector<Node>(virtual_ones.begin(), virtual_ones.end()));
  }
  return found;
}

// In rounds, as A. B. Kahn sorts (Topological sorting of large networks, CACM 5, 1962): what has no virtual
// source left is done. What is never done leads to itself.
Status VirtualSources::check(bool chunks) const {
  constexpr int max_rounds = 64;  // a stack of 8 MiB takes several hundred
  NEVE_ASSIGN(auto left, resolved(chunks));
  for (int round = 0; !left.empty(); ++round) {
    std::vector<Node> done;
    for (const auto& [node, sources] : left) {
      const bool waits = std::any_of(sources.begin(), sources.end(),
                                     [&](const Node& source) { return left.contains(source); });
      if (!waits) done.push_back(node);
    }
    if (done.empty() || round == max_rounds) {
      return corrupt(
          fmt::format("{}, a virtual dataset, {}", datasets_.at(left.begin()->first).place,
                      done.empty() ? "leads to itself"
                                   : fmt::format("has more than {} others one behind another", max_rounds)));
    }
    for (const Node& node : done) left.erase(node);
  }
  return {};
}

}  // namespace neve::hdf5
