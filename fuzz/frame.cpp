// SPDX-License-Identifier: BSD-3-Clause
// libFuzzer target: any bytes through every reading function of a frame. Checksums are taken for right
// (FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION), so mutations reach the decoders behind them.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "neve/frame.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::span bytes(reinterpret_cast<const std::byte*>(data), size);
  const auto frame = neve::Frame::parse(bytes);
  if (!frame.ok()) {
    if (frame.status().code() != neve::Code::corrupt) std::abort();
    return 0;
  }
  constexpr uint64_t most_elements = uint64_t{1} << 22;
  const auto& layout = frame->layout();
  if (layout.element_count > most_elements) return 0;
  std::vector<std::byte> out(layout.element_count * neve::dtype_bytes(frame->dtype()));
  if (const auto s = frame->decode(out.data(), out.size()); !s.ok() && s.code() != neve::Code::corrupt)
    std::abort();
  if (!layout.boxes.empty()) {
    const auto box_bytes = static_cast<uint64_t>(layout.boxes[0].cells()) * neve::dtype_bytes(frame->dtype());
    if (box_bytes > out.size() + (uint64_t{1} << 24)) return 0;  // a split frame of a large box
    std::vector<std::byte> box(box_bytes);
    (void)frame->decode_box(0, layout.components - 1, box.data(), box.size());
    (void)frame->left_out(0, layout.components - 1);
  }
  return 0;
}
