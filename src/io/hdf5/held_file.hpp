// SPDX-License-Identifier: BSD-3-Clause
// What HDF5 would have written of a file, held in memory: for whoever puts it into the file later, in another
// thread, without HDF5.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "neve/status.hpp"

namespace neve::hdf5 {

struct HeldFile {
  struct Run {
    uint64_t address = 0;
    std::vector<char> bytes;
  };
  std::vector<Run> runs;    // by rising address, disjoint
  uint64_t file_bytes = 0;  // that the file is to have in the end

  // No HDF5. Into the existing file `path`; what that holds elsewhere stays.
  Status write_into(const std::string& path) const;
};

}  // namespace neve::hdf5
