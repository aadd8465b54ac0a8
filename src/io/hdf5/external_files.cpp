// SPDX-License-Identifier: BSD-3-Clause
#include "io/hdf5/external_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "io/hdf5/errors.hpp"
#include "io/hdf5/handle.hpp"
#include "io/hdf5/link_names.hpp"
#include "io/hdf5/object_address.hpp"
#include "io/hdf5/open_to_read.hpp"
#include "io/hdf5/virtual_sources.hpp"
#include "io/plotfile/own_folder.hpp"

namespace neve::hdf5 {
namespace {

namespace fs = std::filesystem;
using plotfile::OwnFolder;

// Where HDF5 looks for the file of an external link or a virtual dataset's source, in its order.
std::vector<fs::path> places_of(const std::string& name, const char* prefixes_variable, const fs::path& by) {
  std::error_code ignored;
  std::vector<fs::path> places;
  fs::path wanted = name;
  if (wanted.is_absolute()) {
    places.push_back(wanted);
    wanted = wanted.filename();  // where a whole folder was moved
  }
  const char* const prefixes = std::getenv(prefixes_variable);
  std::istringstream in(prefixes == nullptr ? "" : prefixes);
  for (std::string prefix; std::getline(in, prefix, ':');) {
    if (!prefix.empty()) places.push_back(fs::path(prefix) / wanted);
  }
  places.push_back(fs::absolute(by, ignored).parent_path() / wanted);
  places.push_back(wanted);
  places.push_back(fs::canonical(by, ignored).parent_path() / wanted);
  return places;
}

// Where HDF5 looks for external storage.
fs::path storage_place(const std::string& name, const fs::path& by) {
  constexpr std::string_view origin = "${ORIGIN}";
  const char* const variable = std::getenv("HDF5_EXTFILE_PREFIX");
  std::string prefix = variable == nullptr ? "" : variable;
  if (fs::path(name).is_absolute() || prefix.empty() || prefix == ".") return name;
  std::error_code ignored;
  if (prefix.starts_with(origin)) {
    prefix = fs::absolute(by, ignored).parent_path().string() + prefix.substr(origin.size());
  }
  return fs::path(prefix) / name;
}

Result<std::string> linked_file(hid_t group, const std::string& name, size_t value_bytes) {
  std::vector<char> value(value_bytes + 1, '\0');
  unsigned flags = 0;
  const char* file = nullptr;
  const char* object = nullptr;
  if (H5Lget_val(group, name.c_str(), value.data(), value_bytes, H5P_DEFAULT) < 0 ||
      H5Lunpack_elink_val(value.data(), value_bytes, &flags, &file, &object) < 0) {
    return corrupt(fmt::format("its external link is damaged: {}", last_error()));
  }
  return std::string(file);
}

constexpr size_t max_name_bytes = 65536;  // what HDF5 lets a message in an object header take

// A file of a dataset's external storage, and what of it the dataset takes.
struct Storage {
  fs::path file;
  uint64_t begin = 0, bytes = 0;  // H5F_UNLIMITED: whatever the others leave
};

Result<Storage> storage_of(hid_t creation, int number, const fs::path& by) {
  std::vector<char> name(max_name_bytes + 1, '\0');
  off_t offset = 0;
  hsize_t bytes = 0;
  if (H5Pget_external(creation, static_cast<unsigned>(number), max_name_bytes, name.data(), &offset, &bytes) <
      0) {
    return corrupt(fmt::format("its external storage cannot be read: {}", last_error()));
  }
  return Storage{storage_place(name.data(), by), static_cast<uint64_t>(offset), bytes};
}

// `get`: H5Pget_virtual_filename or H5Pget_virtual_dsetname.
Result<std::string> name_of_source(decltype(H5Pget_virtual_filename) get, hid_t creation, size_t number) {
  const ssize_t bytes = get(creation, number, nullptr, 0);
  if (bytes >= 0 && static_cast<size_t>(bytes) < max_name_bytes) {
    std::string name(static_cast<size_t>(bytes) + 1, '\0');
    if (get(creation, number, name.data(), name.size()) == bytes) {
      name.pop_back();
      return name;
    }
  }
  return corrupt(fmt::format("the name of source {} cannot be read: {}", number, last_error()));
}

// Goes through a file and all that it leads to.
class Walker {
 public:
  explicit Walker(OwnFolder folder) : folder_(std::move(folder)) {}

  Status run(hid_t file, const std::string& path, ExternalLinks links, Reading reading) {
    note(path);
    waiting_.clear();
    NEVE_TRY(walk(file, path, links));
    while (!waiting_.empty()) {
      const std::string next = std::move(waiting_.front());
      waiting_.pop_front();
      const Result<Handle> other = open_file_to_read(next);
      if (!other.ok()) continue;  // its reader will find the same
      NEVE_TRY(walk(other->id(), next, ExternalLinks::followed));
    }
    return sources_.check(reading == Reading::values);
  }

 private:
  struct OpenGroup {
    Handle group;
    std::string path;
  };
  // What one file shows.
  struct Found {
    std::string file;
    std::vector<OpenGroup> groups;  // still to be gone through
    std::set<haddr_t> known;
    std::vector<std::pair<std::string, std::string>> links;  // external: their paths, the files they name
    bool has_virtual = false;
  };

  // A file to go through, if it was not. Its real path.
  std::string note(const fs::path& file) {
    std::error_code error;
    const fs::path real = fs::canonical(file, error);
    if (!error && seen_.insert(real).second) waiting_.push_back(real.string());
    return real.string();
  }

  // Without recursion: a hostile file nests groups as deep as it likes.
  Status walk(hid_t file, const std::string& path, ExternalLinks links) {
    Found found;
    found.file = path;
    found.groups.push_back({Handle(H5Gopen2(file, "/", H5P_DEFAULT), H5Gclose), ""});
    while (!found.groups.empty()) {
      const OpenGroup at = std::move(found.groups.back());
      found.groups.pop_back();
      NEVE_TRY(walk_group(at, found).in(path));
    }
    // The paths of a virtual dataset's sources may lead through links.
    if (links == ExternalLinks::kept && !found.has_virtual) return {};
    for (const auto& [place, target] : found.links) {
      const auto named = check_named(target, "HDF5_EXT_PREFIX", path, place + ", an external link,");
      if (!named.ok()) return named.status().in(path);
    }
    return {};
  }

  Status walk_group(const OpenGroup& at, Found& found) {
    const std::string group_path = at.path.empty() ? "/" : at.path;
    if (!at.group.valid()) return corrupt(group_path + " cannot be opened: " + last_error());
    auto names = link_names(at.group.id());
    if (!names.ok()) return names.status().in(group_path);
    for (const std::string& name : *names) {
      const std::string place = at.path + "/" + name;
      H5L_info_t info;
      if (H5Lget_info(at.group.id(), name.c_str(), &info, H5P_DEFAULT) < 0) {
        return corrupt(fmt::format("{}: its link cannot be read: {}", place, last_error()));
      }
      if (info.type == H5L_TYPE_EXTERNAL) {
        auto target = linked_file(at.group.id(), name, info.u.val_size);
        if (!target.ok()) return target.status().in(place);
        found.links.emplace_back(place, std::move(*target));
      }
      if (info.type != H5L_TYPE_HARD) continue;
      Handle object(H5Oopen(at.group.id(), name.c_str(), H5P_DEFAULT), H5Oclose);
      if (!object.valid()) continue;  // its reader will find the same
      const H5I_type_t type = H5Iget_type(object.id());
      if (type == H5I_DATASET) NEVE_TRY(check_dataset(object.id(), place, found));
      if (type != H5I_GROUP) continue;
      NEVE_ASSIGN(const haddr_t address, object_address(object.id()));
      if (found.known.insert(address).second) found.groups.push_back({std::move(object), place});
    }
    return {};
  }

  Status check_dataset(hid_t dataset, const std::string& place, Found& found) {
    const Handle creation(H5Dget_create_plist(dataset), H5Pclose);
    if (!creation.valid()) return {};  // its reader will find the same
    const H5D_layout_t layout = H5Pget_layout(creation.id());
    if (layout == H5D_CONTIGUOUS) return check_storage(creation.id(), place, found.file);
    if (layout != H5D_VIRTUAL) return {};
    found.has_virtual = true;
    NEVE_ASSIGN(const haddr_t address, object_address(dataset));
    return check_sources(creation.id(), address, place, found.file);
  }

  Status check_storage(hid_t creation, const std::string& place, const std::string& file) {
    const int count = H5Pget_external_count(creation);
    for (int i = 0; i < count; ++i) {
      const Result<Storage> storage = storage_of(creation, i, file);
      if (!storage.ok()) return storage.status().in(place);
      const fs::path& target = storage->file;
      std::error_code ignored;
      const std::string what = place + ", by its external storage,";
      if (!fs::exists(target, ignored)) continue;
      if (!folder_.holds(target)) return folder_.refusal(what, target.string());
      NEVE_TRY(check_can_be_opened(what, target));
    }
    return {};
  }

  Status check_sources(hid_t creation, haddr_t address, const std::string& place, const std::string& file) {
    size_t count = 0;
    if (H5Pget_virtual_count(creation, &count) < 0) {
      return corrupt(fmt::format("{}: its sources cannot be counted: {}", place, last_error()));
    }
    const std::string real = note(file);
    sources_.add(real, address, file + ": " + place);
    std::set<std::pair<std::string, std::string>> known;
    std::map<std::string, std::vector<std::string>> files;  // by pattern, those that HDF5 would open
    files["."] = {real};
    for (size_t i = 0; i < count; ++i) {
      const Result<std::string> pattern_read = name_of_source(H5Pget_virtual_filename, creation, i);
      const Result<std::string> path_read = name_of_source(H5Pget_virtual_dsetname, creation, i);
      if (!pattern_read.ok()) return pattern_read.status().in(place);
      if (!path_read.ok()) return path_read.status().in(place);
      const std::string &pattern = *pattern_read, &path = *path_read;
      if (!known.emplace(pattern, path).second) continue;
      if (!files.contains(pattern)) {
        NEVE_ASSIGN(files[pattern], files_of(pattern, file, place + ", a virtual dataset,"));
      }
      for (const std::string& other : files[pattern]) sources_.add_source(real, address, other, path);
    }
    return {};
  }

  Result<std::vector<std::string>> files_of(const std::string& pattern, const std::string& file,
                                            const std::string& what) {
    std::vector<std::string> files;
    bool is_there = true, has_number = false;
    for (uint64_t number = 0; is_there && (number == 0 || has_number); ++number) {
      const std::string name = numbered_name(pattern, number, has_number);
      NEVE_ASSIGN(const Named named, check_named(name, "HDF5_VDS_PREFIX", file, what));
      is_there = named.is_there;
      if (!named.file.empty()) files.push_back(named.file);
    }
    return files;
  }

  // To open a pipe waits for somebody at its other end; a device may do anything. HDF5 tries a folder in
  // vain.
  static Status check_can_be_opened(const std::string& what, const fs::path& target) {
    std::error_code ignored;
    if (fs::is_regular_file(target, ignored) || fs::is_directory(target, ignored)) return {};
    return failure(fmt::format("{} leads to {}, which is not a regular file", what, target.string()));
  }

  // A file of that name: whether there is one, and which HDF5 would open, that is gone through later.
  struct Named {
    bool is_there = false;
    std::string file;
  };
  Result<Named> check_named(const std::string& name, const char* prefixes_variable, const std::string& file,
                            const std::string& what) {
    Named named;
    for (const fs::path& place : places_of(name, prefixes_variable, file)) {
      std::error_code ignored;
      if (!fs::exists(place, ignored)) continue;
      if (!folder_.holds(place)) return folder_.refusal(what, place.string());
      named.is_there = true;
      NEVE_TRY(check_can_be_opened(what, place));
      // HDF5 looks on where it cannot open what it finds.
      if (!fs::is_regular_file(place, ignored) || H5Fis_hdf5(place.c_str()) <= 0) continue;
      named.file = note(place);
      break;
    }
    return named;
  }

  OwnFolder folder_;
  std::set<fs::path> seen_;
  std::deque<std::string> waiting_;
  VirtualSources sources_;
};

}  // namespace

namespace {

void add_missing_files(hid_t creation, const std::string& path, std::vector<std::string>& missing) {
  size_t mappings = 0;
  H5Pget_virtual_count(creation, &mappings);
  std::set<std::string> known = {"."};  // the file itself
  for (size_t i = 0; i < mappings; ++i) {
    const Result<std::string> name = name_of_source(H5Pget_virtual_filename, creation, i);
    bool has_number = false;
    if (!name.ok() || !known.insert(*name).second) continue;
    const std::string first = numbered_name(*name, 0, has_number);
    if (has_number) continue;  // as many as there are
    const std::vector<fs::path> places = places_of(first, "HDF5_VDS_PREFIX", path);
    const bool is_there = std::any_of(places.begin(), places.end(), [](const fs::path& place) {
      std::error_code ignored;
      return fs::exists(place, ignored);
    });
    if (!is_there) missing.push_back(first + " is not there");
  }
}

void add_short_storage(hid_t dataset, hid_t creation, const std::string& path,
                       std::vector<std::string>& missing) {
  uint64_t left = H5Dget_storage_size(dataset);
  const int count = H5Pget_external_count(creation);
  for (int i = 0; i < count; ++i) {
    const Result<Storage> storage = storage_of(creation, i, path);
    if (!storage.ok()) continue;
    const uint64_t taken = std::min(storage->bytes, left);
    left -= taken;
    std::error_code error;
    const uintmax_t found = fs::file_size(storage->file, error);
    if (error || found >= storage->begin + taken) continue;  // HDF5 itself fails where there is no file
    missing.push_back(fmt::format("{} has {} bytes where {} are needed", storage->file.string(), found,
                                  storage->begin + taken));
  }
}

}  // namespace

std::vector<std::string> missing_sources(hid_t dataset, const std::string& path) {
  std::vector<std::string> missing;
  const Handle creation(H5Dget_create_plist(dataset), H5Pclose);
  if (!creation.valid()) return missing;
  const H5D_layout_t layout = H5Pget_layout(creation.id());
  if (layout == H5D_VIRTUAL) add_missing_files(creation.id(), path, missing);
  if (layout == H5D_CONTIGUOUS) add_short_storage(dataset, creation.id(), path, missing);
  return missing;
}

Status check_external_files(hid_t file, const std::string& path, ExternalLinks links,
                            const OpenOptions& options, Reading reading) {
  if (options.follow_external) return {};
  NEVE_ASSIGN(OwnFolder folder, OwnFolder::of_file(path));
  return Walker(std::move(folder)).run(file, path, links, reading);
}

}  // namespace neve::hdf5
