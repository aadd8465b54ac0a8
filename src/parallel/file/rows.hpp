// SPDX-License-Identifier: BSD-3-Clause
// Where bytes of a file lie in memory, without a copy of them: runs of bytes repeated at fixed distances,
// such as the rows of a box inside an array with ghost cells.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "neve/box.hpp"
#include "neve/frame.hpp"

namespace neve::mpi {

// In the order of the file; `first` is null where the bytes are not in memory yet. A run of row_bytes,
// count[0] of them stride_bytes[0] apart, count[1] of those,
// ...
struct Rows {
  const std::byte* first = nullptr;
  uint64_t row_bytes = 0;
  std::array<uint64_t, 3> count{1, 1, 1};
  std::array<int64_t, 3> stride_bytes{0, 0, 0};

  uint64_t bytes() const { return row_bytes * count[0] * count[1] * count[2]; }
  bool is_one_run() const { return count == std::array<uint64_t, 3>{1, 1, 1}; }
};

Rows one_run(std::span<const std::byte> bytes);
// One that is not in memory yet.
inline Rows unloaded_run(uint64_t bytes) { return {nullptr, bytes, {1, 1, 1}, {0, 0, 0}}; }

// The first cell of `ghosts` layers around a box; and back from there.
const std::byte* first_with_ghosts(const BoxData& data, const IntVect& ghosts, size_t value_bytes);
const std::byte* first_valid(const BoxData& data, const IntVect& ghosts, size_t value_bytes);

// All components of `box`, component_stride apart, with `ghosts` layers around it, component after component,
// x fastest. Dimensions that follow each other without gaps are one.
Rows rows_of_box(const Box& box, const IntVect& ghosts, const BoxData& data, size_t components,
                 size_t value_bytes);

// Calls part(where it begins in `rows`, rows) for parts of at most `max_bytes` that make up `rows`, in
// order.
void cut_rows(const Rows& rows, uint64_t max_bytes,
              const std::function<void(uint64_t begin, const Rows&)>& part);

}  // namespace neve::mpi
