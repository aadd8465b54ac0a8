// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/write/names.hpp"

#include <string>

#include "core/bits/utf8.hpp"

namespace neve::mpi {

Status check_names(const Hierarchy& hierarchy) {
  for (size_t c = 0; c < hierarchy.components.size(); ++c) {
    NEVE_TRY(check_utf8("component " + std::to_string(c), hierarchy.components[c]));
  }
  for (const auto& [name, text] : hierarchy.side_files) NEVE_TRY(check_utf8("a side file", name));
  return {};
}

}  // namespace neve::mpi
