// SPDX-License-Identifier: BSD-3-Clause
// What a file holds against the values in memory.
#pragma once

#include <cstdint>
#include <string>

#include "bench/apps/layouts/write_way.hpp"

namespace neve::layouts {

// Not collective. What the file holds of values, without the structure around them.
Result<uint64_t> dataset_bytes(const std::string& path, const Written& written);

struct Compared {
  uint64_t values = 0, violations = 0;
};

// Not collective. Opens the file without MPI, decodes what this rank wrote, and compares the cells that the
// way holds: all, or those that no finer level covers. Bit for bit where the bound is 0.
Result<Compared> read_back(const std::string& path, const Way& way, const Input& input,
                           const Written& written);

}  // namespace neve::layouts
