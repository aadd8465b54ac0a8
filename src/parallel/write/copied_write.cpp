// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/write/copied_write.hpp"

#include "core/threads/without_signals.hpp"
#include "parallel/write/box_values.hpp"

namespace neve::mpi {

Status CopiedWrite::start() {
  const WithoutSignals of_thread;
  return guarded("write behind", [&]() -> Status {
    thread_ = std::thread([this] { encode(); });
    return {};
  });
}

void CopiedWrite::wait() noexcept {
  if (thread_.joinable()) thread_.join();
}

Result<HeldBoxes> copy_boxes(const Hierarchy& hierarchy, std::span<const LocalBox> boxes) {
  HeldBoxes held;
  const size_t value_bytes = dtype_bytes(hierarchy.dtype), components = hierarchy.components.size();
  held.boxes.reserve(boxes.size());
  held.storage.reserve(boxes.size());
  for (const LocalBox& local : boxes) {
    const Box& box = hierarchy.levels[static_cast<size_t>(local.level)].boxes[static_cast<size_t>(local.box)];
    const size_t component_bytes = static_cast<size_t>(box.cells()) * value_bytes;
    // Not value-initialised: every byte is copied next.
    std::unique_ptr<std::byte[]> bytes(new std::byte[component_bytes * components]);
    for (size_t c = 0; c < components; ++c) {
      gather_region(box, box, local.data, static_cast<int>(c), value_bytes,
                    bytes.get() + c * component_bytes);
    }
    LocalBox& copy = held.boxes.emplace_back(local);
    copy.data = dense_box_data(bytes.get(), plain_frame_box(box));
    copy.ghosts = {0, 0, 0};
    held.storage.push_back(std::move(bytes));
  }
  return held;
}

}  // namespace neve::mpi
