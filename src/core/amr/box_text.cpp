// SPDX-License-Identifier: BSD-3-Clause
#include "core/amr/box_text.hpp"

#include <fmt/format.h>

namespace neve::amr {

std::string to_string(const Box& box, int dims) {
  const auto corner = [dims](const IntVect& v) {
    return fmt::format("({})", fmt::join(v.begin(), v.begin() + dims, ","));
  };
  return fmt::format("({} {} {})", corner(box.lo), corner(box.hi), corner(IntVect{}));
}

}  // namespace neve::amr
