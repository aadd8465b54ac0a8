// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/write/held_boxes.hpp"

#include "parallel/file/rows.hpp"
#include "parallel/write/plan.hpp"

namespace neve::mpi {

Result<HeldBoxes> hold_all(const Comm& comm, const LocalValues& values, const Hierarchy& stored,
                           const IntVect& ghosts) {
  HeldBoxes held;
  const size_t value_bytes = dtype_bytes(stored.dtype);
  const Status read = guarded("read", [&]() -> Status {
    for (size_t i = 0; i < values.size(); ++i) {
      const uint64_t elements = values.elements(i);
      // Not value-initialised: every byte is read into next.
      std::unique_ptr<std::byte[]> bytes(new std::byte[elements * value_bytes]);
      NEVE_TRY(values.read(i, 0, elements, bytes.get()));
      LocalBox& local = held.boxes.emplace_back(values[i]);
      const Box& box = stored.levels[static_cast<size_t>(local.level)].boxes[static_cast<size_t>(local.box)];
      local.data = dense_box_data(bytes.get(), plain_frame_box(box));
      local.data.data = first_valid(local.data, ghosts, value_bytes);
      local.ghosts = ghosts;
      held.storage.push_back(std::move(bytes));
    }
    return {};
  });
  NEVE_TRY(agree(comm, read));
  return held;
}

}  // namespace neve::mpi
