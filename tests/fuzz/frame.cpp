// SPDX-License-Identifier: BSD-3-Clause
// Any bytes through every reading function of a frame, with and without a coarser level. Checksums are taken
// for right (FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION), so mutations reach the decoders behind them.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "neve/frame.hpp"
#include "tests/fuzz/support/codes.hpp"
#include "tests/fuzz/support/position_level.hpp"

namespace {

using neve::Code;
using neve::Frame;
using neve::fuzz::broken_promise;
using neve::fuzz::require_code;

constexpr uint64_t max_elements = uint64_t{1} << 22;

// A component decoded alone has the values it has in the whole frame.
void compare_component(const Frame& frame, int component, const std::vector<std::byte>& whole,
                       const neve::CoarserLevel& coarser) {
  const uint64_t value_bytes = neve::dtype_bytes(frame.dtype());
  std::vector<std::byte> alone(frame.component_values(component) * value_bytes);
  if (!frame.decode_component(component, alone.data(), alone.size(), 1, &coarser).ok()) {
    broken_promise("a component of a frame that decodes does not");
  }
  if (frame.shape().is_split) return;
  uint64_t from = 0;
  for (uint64_t b = 0; b < frame.box_count(); ++b) {
    const uint64_t bytes = static_cast<uint64_t>(frame.box(b).cells()) * value_bytes;
    const uint64_t at = frame.first_element(b) * value_bytes + static_cast<uint64_t>(component) * bytes;
    if (std::memcmp(alone.data() + from, whole.data() + at, bytes) != 0) {
      broken_promise("a component decodes to other values alone");
    }
    if (frame.find_box(frame.first_element(b)) != b)
      broken_promise("a box is not found by its first element");
    from += bytes;
  }
}

void decode_one_box(const Frame& frame, const neve::CoarserLevel& coarser) {
  const int component = frame.shape().components - 1;
  const auto box = static_cast<int>(frame.box_count() / 2);
  const uint64_t bytes =
      static_cast<uint64_t>(frame.box(static_cast<uint64_t>(box)).cells()) * neve::dtype_bytes(frame.dtype());
  if (bytes > max_elements * sizeof(double)) return;  // a split frame of a large box
  std::vector<std::byte> values(bytes);
  require_code(frame.decode_box(box, component, values.data(), values.size(), &coarser), {Code::corrupt});
  const auto marks = frame.left_out(box, component);
  require_code(marks.status(), {Code::corrupt});
  if (marks.ok() && !marks->empty() && marks->size() * neve::dtype_bytes(frame.dtype()) != bytes) {
    broken_promise("marks of left-out cells for another number of cells");
  }
}

template <class T>
void decode(const Frame& frame) {
  const neve::fuzz::PositionLevel<T> coarser;
  std::vector<std::byte> whole(frame.shape().element_count * neve::dtype_bytes(frame.dtype()));
  require_code(frame.decode(whole.data(), whole.size()), {Code::corrupt});
  const neve::Status status = frame.decode(whole.data(), whole.size(), 1, &coarser);
  require_code(status, {Code::corrupt});
  if (frame.box_count() == 0) return;
  decode_one_box(frame, coarser);
  if (status.ok()) compare_component(frame, frame.shape().components - 1, whole, coarser);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::span bytes(reinterpret_cast<const std::byte*>(data), size);
  const auto frame = Frame::parse(bytes);
  require_code(frame.status(), {Code::corrupt});
  const auto description = neve::describe_frame(bytes);
  if (description.status().code() != frame.status().code()) {
    broken_promise("a frame is described and not parsed, or the other way round");
  }
  if (!frame.ok() || frame->shape().element_count > max_elements) return 0;
  if (description->boxes != frame->box_count() || description->held_elements != frame->held_elements()) {
    broken_promise("a frame's description tells of other boxes");
  }
  if (frame->dtype() == neve::DType::f32) {
    decode<float>(*frame);
  } else {
    decode<double>(*frame);
  }
  return 0;
}
