// SPDX-License-Identifier: BSD-3-Clause
#include "io/datafile/contents.hpp"

#include <fmt/format.h>

#include <utility>

#include "io/datafile/open_classic.hpp"
#include "io/hdf5/errors.hpp"
#include "io/hdf5/link_names.hpp"
#include "io/hdf5/object_address.hpp"
#include "io/hdf5/open_to_read.hpp"
#include "io/plotfile/file.hpp"
#include "io/plotfile/open.hpp"

namespace neve::datafile {
namespace {

using hdf5::Handle;
using hdf5::last_error;
using hdf5::object_address;

// Deeper nesting than people make; a damaged file must not exhaust the stack.
constexpr int max_depth = 512;

Result<Entry> read_link(hid_t group, const std::string& parent, const std::string& name) {
  Entry entry;
  entry.parent = parent;
  entry.name = name;
  entry.path = (parent == "/" ? "" : parent) + "/" + name;
  H5L_info_t info;
  if (H5Lget_info(group, name.c_str(), &info, H5P_DEFAULT) < 0) {
    return corrupt(fmt::format("{}: its link cannot be read: {}", entry.path, last_error()));
  }
  entry.name_encoding = info.cset;
  if (info.type == H5L_TYPE_HARD) {
    entry.kind = EntryKind::hard_link;
    return entry;
  }
  if (info.type != H5L_TYPE_SOFT && info.type != H5L_TYPE_EXTERNAL) {
    return usage_error(
        fmt::format("{} is a user-defined link of class {}; hard, soft and external ones can be copied",
                    entry.path, static_cast<int>(info.type)));
  }
  std::vector<char> value(info.u.val_size + 1, '\0');
  if (H5Lget_val(group, name.c_str(), value.data(), info.u.val_size, H5P_DEFAULT) < 0) {
    return corrupt(fmt::format("{}: its target cannot be read: {}", entry.path, last_error()));
  }
  if (info.type == H5L_TYPE_SOFT) {
    entry.kind = EntryKind::soft_link;
    entry.target = value.data();
    return entry;
  }
  unsigned flags = 0;
  const char* file = nullptr;
  const char* object = nullptr;
  if (H5Lunpack_elink_val(value.data(), info.u.val_size, &flags, &file, &object) < 0) {
    return corrupt(fmt::format("{}: its external link is damaged: {}", entry.path, last_error()));
  }
  entry.kind = EntryKind::external_link;
  entry.target_file = file;
  entry.target = object;
  return entry;
}

class Lister {
 public:
  Status list_group(hid_t group, const std::string& path, int depth) {
    if (depth > max_depth) {
      return corrupt(fmt::format("{}: groups nest deeper than {}", path, max_depth));
    }
    const Handle creation(H5Gget_create_plist(group), H5Pclose);
    unsigned order_flags = 0;
    if (!creation.valid() || H5Pget_link_creation_order(creation.id(), &order_flags) < 0) {
      return corrupt(fmt::format("{}: its properties cannot be read: {}", path, last_error()));
    }
    const H5_index_t order = (order_flags & H5P_CRT_ORDER_TRACKED) != 0 ? H5_INDEX_CRT_ORDER : H5_INDEX_NAME;
    const auto names = hdf5::link_names(group, order);
    if (!names.ok()) return names.status().in(path);
    for (const std::string& name : *names) {
      NEVE_ASSIGN(Entry entry, read_link(group, path, name));
      if (entry.kind != EntryKind::hard_link) {
        contents.entries.push_back(std::move(entry));
        continue;
      }
      NEVE_TRY(list_object(group, std::move(entry), depth));
    }
    return {};
  }

  Contents contents;

 private:
  Status list_object(hid_t group, Entry entry, int depth) {
    const Handle object(H5Oopen(group, entry.name.c_str(), H5P_DEFAULT), H5Oclose);
    if (!object.valid()) {
      return corrupt(fmt::format("{} cannot be opened: {}", entry.path, last_error()));
    }
    NEVE_ASSIGN(entry.address, object_address(object.id()));
    const auto [known, is_new] = contents.path_of.emplace(entry.address, entry.path);
    if (!is_new) {
      entry.target = known->second;
      contents.entries.push_back(std::move(entry));
      return {};
    }
    const H5I_type_t type = H5Iget_type(object.id());
    entry.kind = type == H5I_GROUP     ? EntryKind::group
                 : type == H5I_DATASET ? EntryKind::dataset
                                       : EntryKind::named_type;
    const std::string path = entry.path;
    contents.entries.push_back(std::move(entry));
    return type == H5I_GROUP ? list_group(object.id(), path, depth + 1) : Status();
  }
};

}  // namespace

Result<Handle> open_source(const std::string& path, const OpenOptions& options, hdf5::Reading reading) {
  // HDF5 tells a missing file and a damaged one alike.
  NEVE_TRY(plotfile::File::open(path).status());
  NEVE_ASSIGN(const plotfile::FileKind kind, plotfile::detect_kind(path));
  const bool is_classic = kind == plotfile::FileKind::netcdf_classic;
  Result<Handle> file = is_classic ? open_classic(path) : hdf5::open_file_to_read(path);
  if (!file.ok()) return file.status().in(path);
  if (is_classic) return file;  // it leads to no other file
  NEVE_TRY(hdf5::check_external_files(file->id(), path, hdf5::ExternalLinks::kept, options, reading));
  return file;
}

Handle open_object(hid_t file, const Entry& entry) {
  if (entry.kind == EntryKind::dataset) return hdf5::open_dataset_to_read(file, entry.path);
  return {H5Oopen(file, entry.path.c_str(), H5P_DEFAULT), H5Oclose};
}

Result<Contents> list_contents(hid_t file) {
  const Handle root(H5Gopen2(file, "/", H5P_DEFAULT), H5Gclose);
  if (!root.valid()) return corrupt(fmt::format("the root group cannot be opened: {}", last_error()));
  Lister lister;
  Entry entry;
  entry.name = entry.path = "/";
  NEVE_ASSIGN(entry.address, object_address(root.id()));
  lister.contents.path_of.emplace(entry.address, entry.path);
  lister.contents.entries.push_back(std::move(entry));
  NEVE_TRY(lister.list_group(root.id(), "/", 0));
  return std::move(lister.contents);
}

}  // namespace neve::datafile
