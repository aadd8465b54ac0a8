// SPDX-License-Identifier: BSD-3-Clause
// Values of compressed transfers as people write them, in a variable or in a flag alike.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "neve/status.hpp"

namespace neve::mpi {

// `what`: who says it, for messages. "--min-bytes", "NEVE_MPI_MIN_BYTES".
Status read_min_bytes(std::string_view what, std::string_view text, uint64_t& bytes);
Status read_layer(std::string_view what, const std::vector<std::string>& sizes, std::vector<uint64_t>& shape);

}  // namespace neve::mpi
