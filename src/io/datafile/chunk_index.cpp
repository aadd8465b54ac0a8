// SPDX-License-Identifier: BSD-3-Clause
#include "io/datafile/chunk_index.hpp"

#include "io/datafile/plan.hpp"

namespace neve::datafile {

uint64_t index_bytes(const Extent& dims, const Extent& chunk, uint64_t half_rank) {
  constexpr uint64_t head_bytes = 24, address_bytes = 8, key_head_bytes = 8, offset_bytes = 8;
  if (chunk.empty()) return 0;
  const uint64_t key_bytes = key_head_bytes + offset_bytes * (chunk.size() + 1);
  const uint64_t node_bytes = head_bytes + 2 * half_rank * address_bytes + (2 * half_rank + 1) * key_bytes;
  uint64_t total = 0;
  for (uint64_t entries = ChunkGrid{dims, chunk}.count(); entries > 0;) {
    const uint64_t nodes = (entries + 2 * half_rank - 1) / (2 * half_rank);
    total += nodes * node_bytes;
    entries = nodes > 1 ? nodes : 0;
  }
  return total;
}

// HDF5 allots whole nodes, so the usual 64 entries are mostly air for variables of one chunk.
unsigned best_half_rank(const CopyPlan& plan) {
  // HDF5 1.10.8 splits nodes of up to 2 entries so unevenly that the tree has no end; from 4 on it grows as
  // it should, also when a user appends later.
  constexpr unsigned least = 4, usual = 32;
  const auto total = [&](unsigned half_rank) {
    uint64_t bytes = 0;
    for (const VariablePlan& plan_of : plan.variables) {
      const Variable& variable = plan_of.variable;
      bytes += index_bytes(variable.dims, plan_of.is_coded ? plan_of.chunk : variable.chunk, half_rank);
    }
    return bytes;
  };
  unsigned best = usual;
  for (unsigned half_rank = least; half_rank < usual; ++half_rank) {
    if (total(half_rank) < total(best)) best = half_rank;
  }
  return best;
}

}  // namespace neve::datafile
