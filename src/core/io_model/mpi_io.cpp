// SPDX-License-Identifier: BSD-3-Clause
#include "core/io_model/mpi_io.hpp"

#include <fmt/format.h>

namespace neve::io_model {

Result<MpiIo> parse_mpi_io(const std::string& name) {
  for (const Named<MpiIo>& row : mpi_io_names) {
    if (row.name == name) return row.value;
  }
  return usage_error(fmt::format("unknown MPI-IO \"{}\"; allowed are {}", name, joined(mpi_io_names)));
}

}  // namespace neve::io_model
