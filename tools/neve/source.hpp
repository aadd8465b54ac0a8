// SPDX-License-Identifier: BSD-3-Clause
// Inputs are told apart by what they are, never by their names alone.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "neve/hierarchy.hpp"
#include "neve/open_options.hpp"
#include "neve/status.hpp"

namespace neve::cli {

// What is none of the others may be a frame: parsing it tells, and says what is wrong with one that is
// damaged.
enum class InputKind { plotfile_directory, hdf5, checkpoint, npy, netcdf_classic, frame_or_unknown };

// Errors: failure (missing, unreadable).
Result<InputKind> input_kind(const std::string& path);

// Independent, not collective.
Result<std::unique_ptr<PlotfileSource>> open_source(const std::string& path, const OpenOptions& options);

// The option of all commands that read files: OpenOptions::follow_external.
inline constexpr const char* follow_external_option = "--follow-external";
inline constexpr const char* follow_external_help =
    "also read files outside the folder of a file that refers to them: by HDF5's external links, external "
    "storage and virtual datasets, or symbolic links in a plotfile directory";

// The same error naming the file: readers of a part name the part, not always the file.
Status naming_file(const Status& status, const std::string& path);

// Bytes on disk of a file, or of all files of a directory.
Result<uint64_t> stored_bytes(const std::string& path);

}  // namespace neve::cli
