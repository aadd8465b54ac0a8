// SPDX-License-Identifier: BSD-3-Clause
// Rectangles of values in a file that is a line of bytes: where a frame's values lie. Geometry alone.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "neve/status.hpp"

namespace neve {

inline constexpr int max_file_directions = 4;
// The end of the furthest byte of a file: an offset of it is a positive int64_t, and sums of two do not wrap.
inline constexpr uint64_t max_file_bytes = uint64_t{1} << 62;

// A direction of a box: how many values or slices, and the bytes from one's beginning to the next one's.
struct FileDirection {
  uint64_t count = 1;
  uint64_t stride = 0;

  bool operator==(const FileDirection&) const = default;
};

// Value (i, j, k) lies at first + i * stride[0] + j * stride[1] + k * stride[2]; slowest direction first, so
// that the order of the values is their order in the file: each stride is at least the span of what it
// repeats. Without directions it is one value. The members below ask for a box that check_file_box accepts.
struct FileBox {
  uint64_t first = 0;
  uint32_t value_bytes = 1;
  int ndim = 0;
  std::array<FileDirection, max_file_directions> directions = {};

  bool operator==(const FileBox&) const = default;

  std::span<const FileDirection> used() const { return {directions.data(), static_cast<size_t>(ndim)}; }
  uint64_t values() const {
    uint64_t product = 1;
    for (const FileDirection& direction : used()) product *= direction.count;
    return product;
  }
  // Of its values, packed.
  uint64_t bytes() const { return values() * value_bytes; }
  // From its first byte to one behind its last.
  uint64_t span_bytes() const {
    uint64_t bytes = value_bytes;
    for (const FileDirection& direction : used()) bytes += (direction.count - 1) * direction.stride;
    return bytes;
  }
  // One behind its last byte.
  uint64_t end() const { return first + span_bytes(); }
  bool is_contiguous() const { return span_bytes() == bytes(); }
};

// `count` values, at least one, that follow each other.
FileBox line_box(uint64_t first, uint32_t value_bytes, uint64_t count);

// Usage error where value_bytes or a count is 0, ndim is not 0 to max_file_directions, a stride is less than
// the span of what it repeats, or the box ends behind max_file_bytes.
Status check_file_box(const FileBox& box);

// The same values in the same order: directions of one value dropped, those that adjoin made one. Two boxes
// of the same values are equal afterwards, unless one lists them in more directions than it needs to.
FileBox merged(const FileBox& box);

// Values [begin, end) of the box, in its order: at most 2 * ndim - 1 boxes (1 without directions), each
// behind the one before. Whole slices along the slowest direction stay one box, with all its directions. end
// <= box.values().
void append_slice(const FileBox& box, uint64_t begin, uint64_t end, std::vector<FileBox>& out);

// Bytes [begin, end) of the box's values, packed, likewise: values that the range cuts become boxes whose
// value_bytes are what is left of them. At most 2 * ndim + 1 boxes. end <= box.bytes().
void append_byte_slice(const FileBox& box, uint64_t begin, uint64_t end, std::vector<FileBox>& out);

namespace detail {

// The contiguous runs of one slice: directions[0] and on of a box, whose innermost run has run_bytes.
template <class Visit>
class FileRuns {
 public:
  FileRuns(uint64_t at, uint64_t end, uint64_t run_bytes, const Visit& visit)
      : at_(at), end_(end), run_bytes_(run_bytes), visit_(visit) {}

  void walk(std::span<const FileDirection> directions, uint64_t first, uint64_t packed) const {
    if (directions.empty()) return run(first, packed);
    uint64_t span = run_bytes_;
    uint64_t slice_bytes = run_bytes_;
    for (const FileDirection& inner : directions.subspan(1)) {
      span += (inner.count - 1) * inner.stride;
      slice_bytes *= inner.count;
    }
    const auto [count, stride] = directions[0];
    uint64_t i = at_ >= first + span ? (at_ - first - span) / stride + 1 : 0;
    for (; i < count && first + i * stride < end_; ++i) {
      walk(directions.subspan(1), first + i * stride, packed + i * slice_bytes);
    }
  }

 private:
  void run(uint64_t first, uint64_t packed) const {
    const uint64_t begin = std::max(first, at_);
    const uint64_t end = std::min(first + run_bytes_, end_);
    if (begin < end) visit_(packed + (begin - first), begin, end - begin);
  }

  uint64_t at_;
  uint64_t end_;
  uint64_t run_bytes_;
  const Visit& visit_;
};

}  // namespace detail

// Calls visit(byte among the box's packed values, byte in the file, bytes) for the contiguous runs of the box
// that meet bytes [at, at + bytes) of the file, in order, each cut to that range. Takes time for the runs
// that it visits, not for those of the box.
template <class Visit>
void visit_runs(const FileBox& box, uint64_t at, uint64_t bytes, const Visit& visit) {
  const FileBox least = merged(box);
  std::span<const FileDirection> directions = least.used();
  uint64_t run_bytes = least.value_bytes;
  if (!directions.empty() && directions.back().stride == run_bytes) {
    run_bytes *= directions.back().count;
    directions = directions.first(directions.size() - 1);
  }
  const uint64_t end = bytes > max_file_bytes || at > max_file_bytes ? max_file_bytes : at + bytes;
  detail::FileRuns<Visit>(at, end, run_bytes, visit).walk(directions, least.first, 0);
}

}  // namespace neve
