// SPDX-License-Identifier: BSD-3-Clause
// How a rank's values are cut into blocks: runs of whole layers, all of the same size but for the last.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/format/frame_file.hpp"
#include "neve/status.hpp"

namespace neve::mpi {

// An MPI count is an int: with the little that a frame of incompressible values takes more, a block of this
// size still moves as one message and one write.
inline constexpr uint64_t max_block_bytes = max_frame_value_bytes;
inline constexpr uint64_t default_block_bytes = uint64_t{1} << 22;
// Of an option whose 0 asks for the default.
inline uint64_t block_bytes_of(uint64_t asked) { return asked == 0 ? default_block_bytes : asked; }

struct BlockPlan {
  uint64_t count = 0;         // values
  uint64_t block_values = 1;  // of each block but the last

  size_t blocks() const { return static_cast<size_t>((count + block_values - 1) / block_values); }
  uint64_t first(size_t block) const { return block * block_values; }
  uint64_t values(size_t block) const { return std::min(block_values, count - first(block)); }
};

// As many layers a block as block_bytes hold, at least one. Usage error where the values are no whole layers,
// or where block_bytes or a layer is out of range.
Result<BlockPlan> plan_blocks(uint64_t count, size_t value_bytes, uint64_t block_bytes,
                              std::span<const uint64_t> layer_shape);

}  // namespace neve::mpi
