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

// Of memory that can be addressed; so many of 8 bytes, and some arithmetic with them, are counted in int64_t.
constexpr int64_t most_values = std::numeric_limits<int64_t>::max() / 128;

Status check(const BoxMemory& memory) {
  if (memory.values == nullptr) return usage_error("values is NULL");
  if (memory.ghosts < 0 || memory.ghosts > max_ghosts) {
    return out_of_range("ghosts", memory.ghosts, 0, max_ghosts);
  }
  return {};
}

std::string named(const Strides& strides) {
  return fmt::format("stride_y {}, stride_z {} and component_stride {}", strides[1], strides[2], strides[3]);
}

// Whether the values each have a place of their own, within memory: in the order of their strides, each
// stride is beyond what the smaller ones reach. Directions of one value have no stride.
Status check_apart(const Extents& size, const Strides& strides) {
  std::array<std::pair<int64_t, int64_t>, max_frame_dims> steps;  // stride, times
  for (size_t d = 0; d < steps.size(); ++d) steps[d] = {size[d] > 1 ? strides[d] : 0, size[d] - 1};
  std::ranges::sort(steps);
  int64_t reach = 0;
  for (const auto& [stride, times] : steps) {
    if (times <= 0) continue;
    if (stride <= reach) {
      return usage_error(
          fmt::format("{}: values of a box of {} x {} x {}, ghosts included, with {} "
                      "components would overlap; neighbours in x lie side by side",
                      named(strides), size[0], size[1], size[2], size[3]));
    }
    int64_t more = 0;
    if (__builtin_mul_overflow(stride, times, &more) || __builtin_add_overflow(reach, more, &reach) ||
        reach > most_values) {
      return usage_error(named(strides) + " reach further than memory does");
    }
  }
  return {};
}

// What lies behind the directions before `d`: more than any of them takes.
int64_t next_stride(const Extents& size, const Strides& strides, size_t d) {
  int64_t next = size[0], reach = 1;
  for (size_t i = 0; i < d; ++i) {
    if (size[i] <= 1) continue;
    next = std::max(next, strides[i] * size[i]);
    reach += strides[i] * (size[i] - 1);
  }
  return std::max(next, reach);
}

}  // namespace

Result<Strides> strides_in_memory(const Extents& size, const std::array<int64_t, 3>& given) {
  for (size_t d = 0; d < given.size(); ++d) {
    constexpr std::array names{"stride_y", "stride_z", "component_stride"};
    if (given[d] >= 0 && given[d] <= most_values / std::max<int64_t>(1, size[d + 1])) continue;
    return usage_error(fmt::format("{} is {}; 0 to what memory can hold are allowed", names[d], given[d]));
  }
  int64_t values = 1;
  for (const int64_t n : size) {
    if (__builtin_mul_overflow(values, n, &values) || values > most_values) {
      return usage_error("a box has more values than memory can hold");
    }
  }
  Strides strides{1, 0, 0, 0};
  for (size_t d = 1; d < max_frame_dims; ++d) {
    strides[d] = given[d - 1] != 0 ? given[d - 1] : next_stride(size, strides, d);
  }
  NEVE_TRY(check_apart(size, strides));
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
  NEVE_ASSIGN(const Strides to,
              strides_in_memory(size_with(*cells, held), {memory.stride_y, memory.stride_z, 0}));
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
