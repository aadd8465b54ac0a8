// SPDX-License-Identifier: BSD-3-Clause
#include "core/format/file_box.hpp"

#include <fmt/format.h>

namespace neve {
namespace {

uint64_t slice_values(const FileBox& box) {
  uint64_t product = 1;
  for (const FileDirection& inner : box.used().subspan(1)) product *= inner.count;
  return product;
}

// Slice i along the slowest direction.
FileBox slice_of(const FileBox& box, uint64_t i) {
  FileBox slice = box;
  slice.first += i * box.directions[0].stride;
  slice.ndim = box.ndim - 1;
  std::copy(box.directions.begin() + 1, box.directions.end(), slice.directions.begin());
  slice.directions.back() = {};
  return slice;
}

FileBox part_of_value(const FileBox& box, uint64_t value, uint64_t begin, uint64_t end) {
  FileBox part = box;
  while (part.ndim > 0) {
    const uint64_t inner = slice_values(part);
    part = slice_of(part, value / inner);
    value %= inner;
  }
  part.first += begin;
  part.value_bytes = static_cast<uint32_t>(end - begin);
  return part;
}

}  // namespace

FileBox line_box(uint64_t first, uint32_t value_bytes, uint64_t count) {
  FileBox box{first, value_bytes, 1, {}};
  box.directions[0] = {count, value_bytes};
  return box;
}

Status check_file_box(const FileBox& box) {
  if (box.ndim < 0 || box.ndim > max_file_directions) {
    return usage_error(
        fmt::format("a box of {} directions; 0 to {} are allowed", box.ndim, max_file_directions));
  }
  if (box.value_bytes == 0) return usage_error("a box of values of 0 bytes; at least 1 is allowed");
  if (box.first > max_file_bytes) {
    return usage_error(fmt::format("a box at byte {}; at most {} is allowed", box.first, max_file_bytes));
  }
  const uint64_t room = max_file_bytes - box.first;
  uint64_t span = box.value_bytes;
  for (int d = box.ndim - 1; d >= 0; --d) {
    const auto [count, stride] = box.directions[d];
    if (count == 0) return usage_error(fmt::format("direction {} of a box has no values", d));
    if (stride < span) {
      return usage_error(
          fmt::format("direction {} of a box repeats {} bytes every {} bytes", d, span, stride));
    }
    if (count > 1 && (span > room || count - 1 > (room - span) / stride)) {
      return usage_error(fmt::format("a box ends behind byte {}", max_file_bytes));
    }
    span += (count - 1) * stride;
  }
  if (span > room) return usage_error(fmt::format("a box ends behind byte {}", max_file_bytes));
  return {};
}

FileBox merged(const FileBox& box) {
  FileBox least{box.first, box.value_bytes, 0, {}};
  for (const FileDirection& direction : box.used()) {
    if (direction.count == 1) continue;
    if (least.ndim > 0) {
      FileDirection& outer = least.directions[least.ndim - 1];
      if (outer.stride == direction.count * direction.stride) {
        outer = {outer.count * direction.count, direction.stride};
        continue;
      }
    }
    least.directions[least.ndim++] = direction;
  }
  return least;
}

void append_slice(const FileBox& box, uint64_t begin, uint64_t end, std::vector<FileBox>& out) {
  if (begin == end) return;
  if (box.ndim == 0) return out.push_back(box);
  const uint64_t inner = slice_values(box);
  uint64_t slice = begin / inner;
  const uint64_t last = end / inner;
  if (begin % inner != 0) {
    const uint64_t until = std::min((slice + 1) * inner, end);
    append_slice(slice_of(box, slice), begin - slice * inner, until - slice * inner, out);
    ++slice;
  }
  if (slice < last) {
    FileBox whole = box;
    whole.first += slice * box.directions[0].stride;
    whole.directions[0].count = last - slice;
    out.push_back(whole);
    slice = last;
  }
  if (slice * inner < end) append_slice(slice_of(box, slice), 0, end - slice * inner, out);
}

void append_byte_slice(const FileBox& box, uint64_t begin, uint64_t end, std::vector<FileBox>& out) {
  if (begin >= end) return;
  uint64_t value = begin / box.value_bytes;
  const uint64_t last = end / box.value_bytes;
  if (begin % box.value_bytes != 0) {
    const uint64_t until = std::min<uint64_t>(end - value * box.value_bytes, box.value_bytes);
    out.push_back(part_of_value(box, value, begin % box.value_bytes, until));
    ++value;
  }
  if (value < last) append_slice(box, value, last, out);
  if (value <= last && end % box.value_bytes != 0) {
    out.push_back(part_of_value(box, last, 0, end % box.value_bytes));
  }
}

}  // namespace neve
