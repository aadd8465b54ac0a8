// SPDX-License-Identifier: BSD-3-Clause
// The text files of an AMReX plotfile as values. Parsing only; nothing here opens a file.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/plotfile/scanner.hpp"
#include "neve/box.hpp"
#include "neve/hierarchy.hpp"
#include "neve/status.hpp"

namespace neve::plotfile {

// Where a box lies in space, as Header lists it.
struct Region {
  std::array<double, max_dims> lo{};
  std::array<double, max_dims> hi{};
};

struct PlotfileHeader {
  Hierarchy hierarchy;                       // without boxes, dtype, ghosts and side files
  std::vector<std::vector<Region>> regions;  // by level, by box
  std::vector<std::string> fab_paths;        // by level: "Level_0/Cell"
  std::vector<std::string> remarks;          // which components are called otherwise than here
};

Result<PlotfileHeader> parse_plotfile_header(std::string_view text, const std::string& name);

// Level_N/Cell_H. AMReX's versions differ in what follows the file list: 1 has minima and maxima, 3 these and
// the real format, 2 the real format alone, 4 one minimum and maximum per component and the real format. From
// 2 on the FABs have no header of their own.
struct FabArrayHeader {
  int version = 1;
  int components = 0;
  IntVect ghosts{0, 0, 0};
  std::vector<Box> boxes;          // valid cells
  std::vector<std::string> files;  // distinct
  std::vector<int> file_of_box;    // index into files
  std::vector<int64_t> offsets;    // of the FAB in its file, by box
  // Of all boxes as the file states them, by component, without NaN; empty where the version states none.
  std::vector<double> min, max;
  std::optional<RealFormat> real_format;  // from version 2 on

  bool has_fab_headers() const { return version == 1; }
};

Result<FabArrayHeader> parse_fab_array_header(std::string_view text, const std::string& name, int dims);

// The line before a FAB's values, without its line break.
struct FabHeader {
  RealFormat format;
  Box box;  // with ghosts
  int components = 0;
};

Result<FabHeader> parse_fab_header(std::string_view line, const std::string& name, int dims);

}  // namespace neve::plotfile
