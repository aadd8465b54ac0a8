// SPDX-License-Identifier: BSD-3-Clause
// The variables by which models describe their grids and clocks without saying so in CF's words.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace neve::datafile {

// What a group of a file shows of the model that wrote it: the variables in it, and the text of an attribute
// of the group or the groups around it (empty where there is none).
struct GroupSigns {
  std::function<bool(const std::string& name)> has_variable;
  std::function<std::string(const std::string& name)> attribute;
};

// The models whose signs the group shows, by name: "WRF", "NEMO", ... A name such as `f` or `h` means a grid
// only in a file that a model which calls its grid so has written.
std::vector<std::string> models_of(const GroupSigns& group);

// Whether that model has a variable of that name which describes the grid.
bool is_grid_name(const std::string& model, const std::string& name);

}  // namespace neve::datafile
