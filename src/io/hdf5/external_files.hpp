// SPDX-License-Identifier: BSD-3-Clause
// Other files that an HDF5 file leads to: by external links, external storage, virtual datasets.
#pragma once

#include <hdf5.h>

#include <cstdint>
#include <string>
#include <vector>

#include "neve/open_options.hpp"
#include "neve/status.hpp"

namespace neve::hdf5 {

enum class ExternalLinks : uint8_t {
  followed,  // the reader opens objects by paths, which may lead through external links
  kept,      // it treats external links as links; only what virtual datasets lead through counts
};

enum class Reading : uint8_t {
  structure,
  values,  // the chunks of virtual datasets' sources are checked, too (src/io/hdf5/stored_chunks.hpp)
};

// To be called after a file was opened and before anything in it is: refuses, unless the options allow it,
// what lies outside of the folder of `path` (neve/open_options.hpp), also where the files it leads to lead
// on. Names are looked for where HDF5 looks for them, its environment variables included; what exists nowhere
// is left to HDF5, which says so, or fills a virtual dataset. Errors: usage (names object and file), corrupt.
Status check_external_files(hid_t file, const std::string& path, ExternalLinks links,
                            const OpenOptions& options, Reading reading);

// Of a dataset of the file `path`: which of the files that its values are to come from are not there, or are
// too short, in words. HDF5 fills a virtual dataset where a source is missing, and external storage with 0,
// and says nothing.
std::vector<std::string> missing_sources(hid_t dataset, const std::string& path);

}  // namespace neve::hdf5
