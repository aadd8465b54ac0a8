// SPDX-License-Identifier: BSD-3-Clause
// Everything an HDF5 file holds, in the order in which it is to be made again: objects and links.
#pragma once

#include <hdf5.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "io/hdf5/external_files.hpp"
#include "io/hdf5/handle.hpp"
#include "neve/open_options.hpp"
#include "neve/status.hpp"

namespace neve::datafile {

enum class EntryKind : uint8_t { group, dataset, named_type, hard_link, soft_link, external_link };

struct Entry {
  EntryKind kind = EntryKind::group;
  std::string parent;  // path of the group that holds the link; empty for the root group
  std::string name;    // of the link
  std::string path;    // "/", "/ocean/temp"
  H5T_cset_t name_encoding = H5T_CSET_ASCII;
  haddr_t address = 0;      // of an object
  std::string target;       // of a link: the path it leads to
  std::string target_file;  // of an external link
};

struct Contents {
  std::vector<Entry> entries;              // the root group first; a group before what is in it
  std::map<haddr_t, std::string> path_of;  // of an object: the first path to it
};

// Reads only; a netCDF classic file is given as the netCDF-4 file that it would be. External links stay
// links; what else leads to other files is followed as the options allow. Errors: failure, corrupt (HDF5
// cannot open it), usage (it leads outside of its folder).
Result<hdf5::Handle> open_source(const std::string& path, const OpenOptions& options, hdf5::Reading reading);

// Links of a group stand in the order of their creation where the file tracks it, else by name. An object
// with several hard links is listed under the first; the others are entries of kind hard_link.
// Errors: corrupt; usage for links of a user's own class, which only their program understands.
Result<Contents> list_contents(hid_t file);

// An object of a file that open_source has opened: a dataset for reading its values. Invalid where HDF5
// refuses.
hdf5::Handle open_object(hid_t file, const Entry& entry);

}  // namespace neve::datafile
