// SPDX-License-Identifier: BSD-3-Clause
#include "core/sections/copy_cells.hpp"

#include <cstring>

#include "core/sections/visit_cells.hpp"

namespace neve {
namespace {

struct RowPlaces {
  const std::byte* from;
  std::byte* to;
  Strides from_bytes;
  Strides to_bytes;
  ptrdiff_t next;  // from `from` to what is copied after it
};

constexpr size_t line_bytes = 64;
// Longer rows a processor sees coming by itself.
constexpr size_t max_fetched_bytes = 256;

// `row_bytes` a constant: rows of small boxes are a few moves of registers, which a call would cost more
// than.
template <class RowBytes>
void copy_rows(const RowPlaces& places, const Extents& size, RowBytes row_bytes) {
  for (int64_t w = 0; w < size[3]; ++w) {
    for (int64_t z = 0; z < size[2]; ++z) {
      const std::byte* from = places.from + z * places.from_bytes[2] + w * places.from_bytes[3];
      std::byte* to = places.to + z * places.to_bytes[2] + w * places.to_bytes[3];
      for (int64_t y = 0; y < size[1]; ++y) {
        if (row_bytes <= max_fetched_bytes) {
          for (size_t at = 0; at < row_bytes; at += line_bytes) __builtin_prefetch(from + places.next + at);
        }
        std::memcpy(to, from, row_bytes);
        from += places.from_bytes[1];
        to += places.to_bytes[1];
      }
    }
  }
}

template <size_t bytes>
using Constant = std::integral_constant<size_t, bytes>;

}  // namespace

void copy_cells(const std::byte* from, const Strides& from_stride, std::byte* to, const Strides& to_stride,
                const Extents& size, size_t value_bytes, const std::byte* next) {
  const Extents rows = with_joined_rows(size, from_stride, to_stride);
  RowPlaces places{from, to, from_stride, to_stride, next == nullptr ? 0 : next - from};
  for (size_t d = 0; d < max_frame_dims; ++d) {
    places.from_bytes[d] *= static_cast<int64_t>(value_bytes);
    places.to_bytes[d] *= static_cast<int64_t>(value_bytes);
  }
  const size_t row_bytes = static_cast<size_t>(rows[0]) * value_bytes;
  switch (row_bytes) {
    case 32:
      return copy_rows(places, rows, Constant<32>{});
    case 64:
      return copy_rows(places, rows, Constant<64>{});
    case 128:
      return copy_rows(places, rows, Constant<128>{});
    default:
      return copy_rows(places, rows, row_bytes);
  }
}

}  // namespace neve
