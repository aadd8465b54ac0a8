// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/transfer/block_plan.hpp"

#include <fmt/format.h>

#include "core/catalog/refusals.hpp"
#include "core/format/frame_header.hpp"

namespace neve::mpi {

Result<BlockPlan> plan_blocks(uint64_t count, size_t value_bytes, uint64_t block_bytes,
                              std::span<const uint64_t> layer_shape) {
  if (count > max_elements) {
    return usage_error(fmt::format("{} values; at most {} are allowed", count, max_elements));
  }
  if (block_bytes > max_block_bytes) {
    return out_of_range("block_bytes", block_bytes, 0, max_block_bytes);
  }
  block_bytes = block_bytes_of(block_bytes);
  const uint64_t max_values = max_block_bytes / value_bytes;
  uint64_t layer_values = 1;
  for (const uint64_t size : layer_shape) {
    if (size == 0 || size > max_values / layer_values) {
      return usage_error(
          fmt::format("layer_shape holds {}; sizes are at least 1, and a layer has at most {} bytes", size,
                      max_block_bytes));
    }
    layer_values *= size;
  }
  if (count % layer_values != 0) {
    return usage_error(
        fmt::format("{} values are no whole number of layers of {} values", count, layer_values));
  }
  BlockPlan plan;
  plan.count = count;
  plan.block_values = std::max<uint64_t>(1, block_bytes / value_bytes / layer_values) * layer_values;
  return plan;
}

}  // namespace neve::mpi
