// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/transfer/said_values.hpp"

#include "core/options/value_text.hpp"
#include "parallel/transfer/block_plan.hpp"

namespace neve::mpi {

Status read_min_bytes(std::string_view what, std::string_view text, uint64_t& bytes) {
  return options::read_whole(what, text, 0, UINT64_MAX, bytes);
}

Status read_layer(std::string_view what, const std::vector<std::string>& sizes,
                  std::vector<uint64_t>& shape) {
  for (const std::string& size : sizes) {
    NEVE_TRY(options::read_whole(what, size, 1, max_block_bytes, shape.emplace_back()));
  }
  return {};
}

}  // namespace neve::mpi
