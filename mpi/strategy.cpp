// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/strategy.hpp"

namespace neve::mpi {

Result<Strategy> parse_strategy(const std::string& name) {
  if (name == "skeleton") return Strategy::skeleton;
  if (name == "filtered") return Strategy::filtered;
  if (name == "amrex-1d") return Strategy::amrex_1d;
  return usage_error("unknown strategy \"" + name + "\"; allowed are skeleton, filtered, amrex-1d");
}

}  // namespace neve::mpi
