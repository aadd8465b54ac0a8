// SPDX-License-Identifier: BSD-3-Clause
// Values that come back bit for bit or not at all.
#pragma once

#include <cmath>
#include <optional>

namespace neve::mpi {

template <class T>
bool is_special(T value, const std::optional<double>& fill) {
  return !std::isfinite(value) || (value == 0 && std::signbit(value)) ||
         (fill && value == static_cast<T>(*fill));
}

}  // namespace neve::mpi
