// SPDX-License-Identifier: BSD-3-Clause
#include "bindings/c/box_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
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
  return {};
}

// Whether the values of a box each have a place of their own: sorted by stride, each stride is beyond what
// the smaller ones reach.
Status check_apart(const Extents& size, const Strides& strides) {
  std::array<std::pair<int64_t, int64_t>, max_dims> steps;  // stride, times
  for (size_t d = 0; d < max_dims; ++d) steps[d] = {size[d] > 1 ? strides[d] : 0, size[d] - 1};
  std::ranges::sort(steps);
  int64_t reach = 0;
  for (const auto& [stride, times] : steps) {
    if (times <= 0) continue;
    if (stride <= reach) {
      return usage_error(
          fmt::format("stride_y {} and stride_z {}: values of a box of {} x {} x {}, ghosts included, would "
                      "overlap",
                      strides[1], strides[2], size[0], size[1], size[2]));
    }
    int64_t more = 0;
    if (__builtin_mul_overflow(stride, times, &more) || __builtin_add_overflow(reach, more, &reach) ||
        reach > std::numeric_limits<int64_t>::max() / 8) {
      return usage_error(
          fmt::format("stride_y {} and stride_z {} reach further than memory does", strides[1], strides[2]));
    }
  }
  return {};
}

}  // namespace

Result<Strides> strides_in_memory(const Extents& size, long long stride_y, long long stride_z) {
  for (const auto& [name, stride] : {std::pair("stride_y", stride_y), {"stride_z", stride_z}}) {
    if (stride < 0) return usage_error(fmt::format("{} is {}; at least 0 is needed", name, stride));
  }
  int64_t values = 1;
  for (size_t d = 0; d < max_dims; ++d) {
    if (__builtin_mul_overflow(values, size[d], &values) ||
        values > std::numeric_limits<int64_t>::max() / 8) {
      return usage_error("a box has more values than memory can hold");
    }
  }
  Strides strides = dense_strides(size);
  if (stride_y != 0) strides[1] = stride_y;
  if (stride_z != 0) {
    strides[2] = stride_z;
  } else if (__builtin_mul_overflow(strides[1], size[1], &strides[2])) {
    return usage_error(fmt::format("stride_y {} reaches further than memory does", stride_y));
  }
  NEVE_TRY(check_apart(size, strides));
  if (__builtin_mul_overflow(strides[2], size[2], &strides[3])) {
    return usage_error(fmt::format("stride_z {} reaches further than memory does", strides[2]));
  }
  return strides;
}

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
  NEVE_ASSIGN(const Strides to, strides_in_memory(size_with(*cells, held), memory.stride_y, memory.stride_z));
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
