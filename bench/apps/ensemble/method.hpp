// SPDX-License-Identifier: BSD-3-Clause
// Methods of storing the ensemble's files, by name.
#pragma once

#include <string>

#include "bench/apps/ensemble/field_file.hpp"

namespace neve::ensemble {

struct Method {
  std::string name;
  Storage storage;
  bool converts = false;  // the filter takes and gives flat binary files only
};
inline constexpr const char* method_choices =
    "netcdf, none, zlib, bzip2, lzo, speed, ratio, acomps-speed, acomps-ratio, ratio:METHOD+METHOD...";
// One of method_choices. A set is "acomps", "all" or names of lossless methods with + between them.
Result<Method> parse_method(const std::string& name);
// Whether it chooses among lossless methods.
bool is_chosen(const Method& method);
// What the names of its files begin with.
std::string file_prefix(const Method& method);

}  // namespace neve::ensemble
