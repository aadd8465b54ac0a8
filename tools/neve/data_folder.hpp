// SPDX-License-Identifier: BSD-3-Clause
// Folders of data files, as `neve convert --into` makes them, in `neve info`.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "neve/status.hpp"

namespace neve::cli {

// None where `path` is anything else: a file, a plotfile, a folder without netCDF or other HDF5 data files.
// Errors: failure (the folder cannot be read).
Result<std::optional<nlohmann::ordered_json>> describe_data_folder(const std::string& path);
// What it is, and which commands read it.
std::string data_folder_text(const std::string& path, const nlohmann::ordered_json& description);

}  // namespace neve::cli
