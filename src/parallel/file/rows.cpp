// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/file/rows.hpp"

#include <algorithm>

namespace neve::mpi {
namespace {

// Adds a dimension of `count` steps outside of what `rows` has, into the run itself where there are no gaps.
void repeat(Rows& rows, size_t& used, uint64_t count, int64_t stride_bytes) {
  if (count == 1) return;
  if (used == 0 && stride_bytes == static_cast<int64_t>(rows.row_bytes)) {
    rows.row_bytes *= count;
    return;
  }
  if (used > 0) {
    uint64_t& inner = rows.count[used - 1];
    if (stride_bytes == rows.stride_bytes[used - 1] * static_cast<int64_t>(inner)) {
      inner *= count;
      return;
    }
  }
  rows.count[used] = count;
  rows.stride_bytes[used] = stride_bytes;
  ++used;
}

// `dims` outermost dimensions of `rows` are left to take apart.
void cut_dimension(const Rows& rows, size_t dims, uint64_t begin, uint64_t max_bytes,
                   const std::function<void(uint64_t, const Rows&)>& part) {
  if (rows.bytes() <= max_bytes) return part(begin, rows);
  if (dims == 0) {
    for (uint64_t at = 0; at < rows.row_bytes; at += max_bytes) {
      Rows piece = rows;
      if (piece.first != nullptr) piece.first += at;
      piece.row_bytes = std::min(max_bytes, rows.row_bytes - at);
      part(begin + at, piece);
    }
    return;
  }
  Rows step = rows;
  step.count[dims - 1] = 1;
  const uint64_t step_bytes = step.bytes();
  const uint64_t together = std::max<uint64_t>(max_bytes / step_bytes, 1);
  for (uint64_t i = 0; i < rows.count[dims - 1]; i += together) {
    Rows steps = rows;
    steps.first += static_cast<int64_t>(i) * rows.stride_bytes[dims - 1];
    steps.count[dims - 1] = std::min(together, rows.count[dims - 1] - i);
    if (together > 1) {
      part(begin + i * step_bytes, steps);
    } else {
      cut_dimension(steps, dims - 1, begin + i * step_bytes, max_bytes, part);
    }
  }
}

}  // namespace

Rows one_run(std::span<const std::byte> bytes) { return {bytes.data(), bytes.size(), {1, 1, 1}, {0, 0, 0}}; }

const std::byte* first_with_ghosts(const BoxData& data, const IntVect& ghosts, size_t value_bytes) {
  int64_t before = ghosts[0];  // elements from the first ghost cell to the first valid one
  for (size_t d = 1; d < max_dims; ++d) before += ghosts[d] * data.stride[d];
  return static_cast<const std::byte*>(data.data) - before * static_cast<int64_t>(value_bytes);
}

const std::byte* first_valid(const BoxData& data, const IntVect& ghosts, size_t value_bytes) {
  return first_with_ghosts(data, {-ghosts[0], -ghosts[1], -ghosts[2]}, value_bytes);
}

Rows rows_of_box(const Box& box, const IntVect& ghosts, const BoxData& data, size_t components,
                 size_t value_bytes) {
  const auto bytes = static_cast<int64_t>(value_bytes);
  std::array<uint64_t, max_dims> size{};
  for (size_t d = 0; d < max_dims; ++d) {
    size[d] = static_cast<uint64_t>(box.size(static_cast<int>(d)) + 2 * int64_t{ghosts[d]});
  }
  Rows rows;
  rows.first = first_with_ghosts(data, ghosts, value_bytes);
  rows.row_bytes = size[0] * value_bytes;
  size_t used = 0;
  repeat(rows, used, size[1], data.stride[1] * bytes);
  repeat(rows, used, size[2], data.stride[2] * bytes);
  repeat(rows, used, components, data.component_stride * bytes);
  return rows;
}

void cut_rows(const Rows& rows, uint64_t max_bytes,
              const std::function<void(uint64_t begin, const Rows&)>& part) {
  cut_dimension(rows, rows.count.size(), 0, max_bytes, part);
}

}  // namespace neve::mpi
