// SPDX-License-Identifier: BSD-3-Clause
// What a data file holds, without its values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "io/datafile/variable.hpp"
#include "neve/open_options.hpp"
#include "neve/status.hpp"

namespace neve::datafile {

struct FileDescription {
  uint64_t file_bytes = 0;
  size_t groups = 0, links = 0, named_types = 0;  // besides the root group and first links
  std::vector<Variable> variables;
};

// Decodes nothing and needs no filter.
Result<FileDescription> describe_data_file(const std::string& path, const OpenOptions& options = {});

}  // namespace neve::datafile
