// SPDX-License-Identifier: BSD-3-Clause
// The recipe of a file that exists (support/hdf5_recipe.hpp), without what recipes do not know.
#pragma once

#include <cstdint>
#include <string>

#include "neve/status.hpp"
#include "tests/fuzz/support/hdf5_recipe.hpp"

namespace neve::fuzz {

struct DumpOptions {
  // Values beyond these along a dimension are cut off.
  uint64_t longest_side = UINT64_MAX;
  // Datasets whose values take more bytes keep their extent and have none.
  uint64_t max_value_bytes = 4096;
  // Chunks of Neve's frames as they are stored, instead of their values.
  uint64_t max_chunk_bytes = 16384;
};

Result<Recipe> dump_hdf5_file(const std::string& path, const DumpOptions& options);

}  // namespace neve::fuzz
