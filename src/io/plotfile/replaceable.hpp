// SPDX-License-Identifier: BSD-3-Clause
// What may go when an AMReX plotfile directory is replaced by another.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "io/files/temporary_folder.hpp"
#include "neve/hierarchy.hpp"
#include "neve/status.hpp"

namespace neve::plotfile {

// What the new plotfile has in the place of the old one's.
struct Replacement {
  explicit Replacement(const Hierarchy& hierarchy)
      : fields(hierarchy.components), levels(hierarchy.levels.size()), side_files(hierarchy.side_files) {}

  std::vector<std::string> fields;
  size_t levels;
  std::map<std::string, std::string> side_files;  // by name, their bytes
};

// The parts of the plotfile directory at `folder`, relative to it, each directory behind what it holds: its
// Header, and of each level the header and the data files that this one names. Nothing of an empty directory.
// A usage error where it is no plotfile, or where it has what the new one has not: other things (particles,
// job_info, links, ...), fields, finer levels. It names the first of what would be lost, and how many more
// there are. `name` is what messages call the directory.
Result<files::Parts> plotfile_parts(const std::string& folder, const std::string& name,
                                    const Replacement& replacement);

// The same as files/temporary_folder asks it.
files::PartsOf parts_of_plotfile(const Replacement& replacement);

}  // namespace neve::plotfile
