// SPDX-License-Identifier: BSD-3-Clause
#include "bindings/c/box_memory.hpp"

#include <algorithm>
#include <utility>

#include "bindings/c/hierarchy.hpp"
#include "core/catalog/refusals.hpp"
#include "core/sections/copy_cells.hpp"
#include "core/threads/scratch.hpp"
#include "neve/limits.hpp"

namespace neve::capi {
namespace {

Extents size_with(const Box& box, const IntVect& ghosts) {
  Extents size{1, 1, 1, 1};
  for (size_t d = 0; d < max_dims; ++d) size[d] = box.size(static_cast<int>(d)) + 2 * int64_t{ghosts[d]};
  return size;
}

Status check(const BoxMemory& memory) {
  if (memory.values == nullptr) return usage_error("values is NULL");
  if (memory.ghosts < 0 || memory.ghosts > max_ghosts) {
    return out_of_range("ghosts", memory.ghosts, 0, max_ghosts);
  }
  for (const auto& [name, stride] : {std::pair("stride_y", memory.stride_y), {"stride_z", memory.stride_z}}) {
    if (stride < 0) return usage_error(fmt::format("{} is {}; at least 0 is needed", name, stride));
  }
  return {};
}

}  // namespace

Status fill_box(const Hierarchy& hierarchy, int level, int box, const IntVect& stored,
                const BoxMemory& memory, const std::function<Status(std::byte*)>& read) {
  NEVE_ASSIGN(const Box* const cells, box_of(hierarchy, level, box));
  NEVE_TRY(check(memory));
  IntVect held{0, 0, 0}, common{0, 0, 0};
  for (size_t d = 0; d < static_cast<size_t>(hierarchy.dims); ++d) {
    held[d] = memory.ghosts;
    common[d] = std::min(held[d], stored[d]);
  }
  const Extents stored_size = size_with(*cells, stored);
  const Strides from = dense_strides(stored_size);
  Strides to = dense_strides(size_with(*cells, held));
  if (memory.stride_y != 0) to[2] = memory.stride_y * (to[2] / to[1]);
  if (memory.stride_y != 0) to[1] = memory.stride_y;
  if (memory.stride_z != 0) to[2] = memory.stride_z;
  auto* const values = static_cast<std::byte*>(memory.values);
  const bool lies_alike = held == stored && with_joined_rows(stored_size, from, to)[0] == from[3];
  if (lies_alike) return read(values);
  const auto value_bytes = static_cast<int64_t>(dtype_bytes(hierarchy.dtype));
  RawVector<std::byte> buffer(static_cast<size_t>(from[3] * value_bytes));
  NEVE_TRY(read(buffer.data()));
  const auto first = [&](const IntVect& layers, const Strides& stride) {
    int64_t at = 0;
    for (size_t d = 0; d < max_dims; ++d) at += (layers[d] - common[d]) * stride[d];
    return at * value_bytes;
  };
  copy_cells(buffer.data() + first(stored, from), from, values + first(held, to), to,
             size_with(*cells, common), static_cast<size_t>(value_bytes));
  return {};
}

}  // namespace neve::capi
