// SPDX-License-Identifier: BSD-3-Clause
// The pieces of an AMReX native plotfile directory. A parallel writer plans the places of all FABs (every
// rank finds the same), each rank writes its own, one rank writes the text files last.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "neve/frame.hpp"
#include "neve/hierarchy.hpp"
#include "neve/status.hpp"

namespace neve::plotfile {

// Paths relative to the plotfile.
std::string level_directory(int level);        // "Level_0"
std::string fab_array_header_path(int level);  // "Level_0/Cell_H"

// Where one FAB lies.
struct FabPlace {
  std::string file;  // in the level's directory: "Cell_D_00003"
  int64_t offset_bytes = 0;
};

// One file per owner and level, its FABs in the order of the boxes. owner[level][box].
std::vector<std::vector<FabPlace>> plan_fabs(const Hierarchy& hierarchy,
                                             const std::vector<std::vector<int>>& owner);

// "FAB ((8, ...))((0,0,0) (31,31,31) (0,0,0)) 8" and its line break.
std::string fab_header_text(const Hierarchy& hierarchy, const Box& box);
// Header and values of a FAB.
int64_t fab_bytes(const Hierarchy& hierarchy, const Box& box);
// Writes header and values of one box at `place` of the open file `fd`; `name` is the file, for messages.
Status write_fab(int fd, const std::string& name, int64_t offset_bytes, const Hierarchy& hierarchy,
                 const Box& box, const BoxData& data);

// The same of a part: `count` elements of the box (component after component, x fastest) from `first` on. The
// header is written with the first one.
Status write_fab_run(int fd, const std::string& name, int64_t offset_bytes, const Hierarchy& hierarchy,
                     const Box& box, uint64_t first, uint64_t count, const std::byte* values);

// Smallest and largest value of each component of a box, as Cell_H lists them: NaN is passed over unless all
// is NaN.
struct FabExtremes {
  std::vector<double> min;
  std::vector<double> max;
};
FabExtremes fab_extremes(const Hierarchy& hierarchy, const Box& box, const BoxData& data);
// Takes more cells of a component into those of a box, which have no components before the first.
void merge_extremes(const Hierarchy& hierarchy, int component, uint64_t cells, const std::byte* values,
                    FabExtremes& extremes);

// Text of Header. Numbers have the fewest digits of 15 and 17, which AMReX codes use, that keep every value.
std::string plotfile_header_text(const Hierarchy& hierarchy);
// Text of Level_N/Cell_H; places and extremes by box.
std::string fab_array_header_text(const Hierarchy& hierarchy, int level, std::span<const FabPlace> places,
                                  std::span<const FabExtremes> extremes);

// A side file's name comes from a file of unknown origin: it must not lead out of the plotfile nor replace
// a piece of it. Usage error that names it.
Status check_side_file_name(const std::string& name);

}  // namespace neve::plotfile
