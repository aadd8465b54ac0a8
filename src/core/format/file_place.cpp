// SPDX-License-Identifier: BSD-3-Clause
#include "core/format/file_place.hpp"

#include <fmt/format.h>

namespace neve {
namespace {

void put_box(const FileBox& box, uint64_t end_before, ByteWriter& out) {
  out.put_varint(box.first - end_before);
  out.put_varint(box.value_bytes);
  out.put(static_cast<uint8_t>(box.ndim));
  uint64_t span = box.value_bytes;
  for (int d = box.ndim - 1; d >= 0; --d) {
    const auto [count, stride] = box.directions[d];
    out.put_varint(count);
    out.put_varint(stride - span);
    span += (count - 1) * stride;
  }
}

// Sums that pass max_file_bytes are cut there, and check_file_box refuses them.
uint64_t limited_sum(uint64_t a, uint64_t b) { return a + std::min(b, 2 * max_file_bytes - a); }

// A box that is not checked yet; its strides are at least what they repeat, or beyond every limit.
FileBox get_box(ByteReader& in, uint64_t end_before) {
  FileBox box;
  box.first = limited_sum(end_before, in.get_varint());
  const uint64_t value_bytes = in.get_varint();
  box.value_bytes = value_bytes > UINT32_MAX ? 0 : static_cast<uint32_t>(value_bytes);
  box.ndim = in.get<uint8_t>();
  uint64_t span = box.value_bytes;
  for (int d = std::min(box.ndim, max_file_directions) - 1; d >= 0; --d) {
    FileDirection& direction = box.directions[d];
    direction.count = in.get_varint();
    direction.stride = limited_sum(span, in.get_varint());
    if (direction.count <= 1) continue;
    // A stride of 0 is that of values of 0 bytes.
    const bool is_too_long =
        direction.stride == 0 || direction.count - 1 > (max_file_bytes - span) / direction.stride;
    span = is_too_long ? max_file_bytes : span + (direction.count - 1) * direction.stride;
  }
  return box;
}

}  // namespace

FilePlace::FilePlace(std::span<const FileBox> boxes) {
  ByteWriter out(packed_);
  for (const FileBox& box : boxes) {
    put_box(box, end_, out);
    count(box);
  }
}

void FilePlace::count(const FileBox& box) {
  if (boxes_ == 0) first_ = box.first;
  value_bytes_ = boxes_ == 0 || value_bytes_ == box.value_bytes ? box.value_bytes : 0;
  ++boxes_;
  end_ = box.end();
  bytes_ += box.bytes();
}

Result<FilePlace> FilePlace::read(ByteReader& in, uint64_t boxes) {
  FilePlace place;
  ByteReader start = in;
  const size_t begin = in.position();
  for (uint64_t i = 0; i < boxes; ++i) {
    const FileBox box = get_box(in, place.end_);
    if (in.failed()) return corrupt(fmt::format("the index ends within box {} of {}", i, boxes));
    const Status sound = check_file_box(box);
    if (!sound.ok()) return corrupt(fmt::format("box {}: {}", i, sound.message()));
    place.count(box);
  }
  const ByteSpan packed = start.get_bytes(in.position() - begin);
  place.packed_.assign(packed.begin(), packed.end());
  return place;
}

std::vector<FileBox> FilePlace::unpacked() const {
  std::vector<FileBox> boxes;
  boxes.reserve(boxes_);
  ByteReader in(packed_);
  uint64_t end = 0;
  for (uint64_t i = 0; i < boxes_; ++i) {
    boxes.push_back(get_box(in, end));
    end = boxes.back().end();
  }
  return boxes;
}

}  // namespace neve
