// SPDX-License-Identifier: BSD-3-Clause
// What a data file holds, without its values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "io/datafile/frame_survey.hpp"
#include "io/datafile/variable.hpp"
#include "neve/open_options.hpp"
#include "neve/status.hpp"

namespace neve::datafile {

// Of netCDF, without a variable that has its name.
struct BareDimension {
  std::string path;
  uint64_t length = 0;  // of an unlimited one of netCDF-4 only its variables tell
  bool is_unlimited = false;
};

struct FileDescription {
  uint64_t file_bytes = 0;
  size_t groups = 0, links = 0, named_types = 0;   // besides the root group and first links
  bool has_choice_log = false;                     // which is none of the variables
  std::vector<BareDimension> dimensions;           // which are none of the variables
  std::vector<Variable> variables;                 // those of a netCDF classic file have no chunks
  std::vector<std::optional<FrameSurvey>> frames;  // of each variable, where its chunks are Neve's frames
};

// Whether a data file has a log of choices. False of what cannot be read.
bool has_choice_log(const std::string& path);

// Decodes nothing and needs no filter; reads some chunks of variables that Neve codes.
Result<FileDescription> describe_data_file(const std::string& path, const OpenOptions& options = {});

}  // namespace neve::datafile
