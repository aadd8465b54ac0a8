// SPDX-License-Identifier: BSD-3-Clause
#include "core/format/frame_header.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/bits/checksum.hpp"
#include "core/format/frame_prefix.hpp"
#include "core/format/header_limits.hpp"
#include "core/stages/lossless/byte_pack.hpp"

namespace neve {

namespace {

void write_boxes(const FrameLayout& layout, ByteWriter& out) {
  Extents before{0, 0, 0, 0};
  for (const FrameBox& box : layout.boxes) {
    for (int d = 0; d < layout.ndim; ++d) out.put_signed_varint(box.lo[d] - before[d]);
    for (int d = 0; d < layout.ndim; ++d) out.put_varint(static_cast<uint64_t>(box.size[d]));
    out.put_varint(box.covered.size());
    for (const Rect& rect : box.covered) {
      for (int d = 0; d < layout.ndim; ++d) out.put_varint(static_cast<uint64_t>(rect.lo[d]));
      for (int d = 0; d < layout.ndim; ++d) out.put_varint(static_cast<uint64_t>(rect.size[d]));
    }
    before = box.lo;
  }
}

void write_component(DType dtype, const ComponentInfo& info, ByteWriter& out) {
  const bool has_fill = is_integer(dtype) ? info.integer_fill.has_value() : info.fill.has_value();
  out.put(info.asked.mode);
  uint8_t flags = has_fill ? component_has_fill : 0;
  if (info.drops_covered) flags |= component_drops_covered;
  out.put(flags);
  out.put(info.asked.value);
  out.put(info.bound_abs);
  out.put(info.center);
  out.put(info.step);
  out.put(info.max_abs_error);
  if (!has_fill) return;
  if (is_integer(dtype)) {
    out.put(*info.integer_fill);
  } else {
    out.put(*info.fill);
  }
}

}  // namespace

Status CoveredCheck::add(const Rect& rect) {
  for (size_t d = 0; d < max_frame_dims; ++d) {
    if (rect.lo[d] < 0 || rect.size[d] < 1 || rect.size[d] > size_[d] ||
        rect.lo[d] > size_[d] - rect.size[d]) {
      return corrupt(
          fmt::format("box {}: covered rectangle of {} cells from {} in direction {} leaves its {} cells",
                      box_, rect.size[d], rect.lo[d], d, size_[d]));
    }
  }
  if (rect.cells() > left_) {
    return corrupt(fmt::format("box {}: its covered rectangles hold more cells than its {}, so they overlap",
                               box_, Rect{{0, 0, 0, 0}, size_}.cells()));
  }
  left_ -= rect.cells();
  return {};
}

namespace {

// Box number b alone. Counts its cells.
Status check_box(const FrameLayout& layout, size_t b, uint64_t& cells) {
  const FrameBox& box = layout.boxes[b];
  cells = 1;
  for (int d = 0; d < max_frame_dims; ++d) {
    const int64_t size = box.size[d];
    if (size < 1 || (d >= layout.ndim && size != 1) || static_cast<uint64_t>(size) > max_elements / cells) {
      return usage_error(
          fmt::format("frame: box {} has size {} in direction {}, must be 1 to {} with all sides multiplied",
                      b, size, d, max_elements));
    }
    if (!is_box_position(box.lo[d])) {
      return usage_error(fmt::format("frame: box {} lies at {} in direction {}, must be within +-{}", b,
                                     box.lo[d], d, max_box_position));
    }
    cells *= static_cast<uint64_t>(size);
  }
  CoveredCheck covered(box.size, b);
  for (const Rect& rect : box.covered) {
    if (const Status s = covered.add(rect); !s.ok()) return usage_error(s.message());
  }
  return {};
}

// `elements`: those of the one box.
Status check_split(const FrameLayout& layout, uint64_t elements) {
  if (layout.boxes.size() != 1) {
    return usage_error(fmt::format("frame: split with {} boxes, must have 1", layout.boxes.size()));
  }
  if (layout.split_begin > elements || layout.split_count > elements - layout.split_begin ||
      layout.split_count == 0) {
    return usage_error(fmt::format("frame: {} elements from {} of a box with {}", layout.split_count,
                                   layout.split_begin, elements));
  }
  return {};
}

}  // namespace

Status check_layout(const FrameLayout& layout) {
  if (layout.ndim < 1 || layout.ndim > max_frame_dims) {
    return usage_error(fmt::format("frame: {} dimensions, must be 1 to {}", layout.ndim, max_frame_dims));
  }
  if (layout.components < 1 || layout.components > UINT16_MAX) {
    return usage_error(fmt::format("frame: {} components, must be 1 to {}", layout.components, UINT16_MAX));
  }
  if (layout.boxes.empty() && !layout.is_array) return usage_error("frame: no boxes, must have at least one");
  if (layout.array_shape.size() > max_array_rank) {
    return usage_error(
        fmt::format("array: {} dimensions, at most {}", layout.array_shape.size(), max_array_rank));
  }
  uint64_t elements = 0;
  for (size_t b = 0; b < layout.boxes.size(); ++b) {
    uint64_t cells = 0;
    NEVE_TRY(check_box(layout, b, cells));
    elements += cells * static_cast<uint64_t>(layout.components);
    if (elements > max_elements)
      return usage_error(fmt::format("frame: more than {} elements", max_elements));
  }
  if (layout.is_split) {
    NEVE_TRY(check_split(layout, elements));
    elements = layout.split_count;
  }
  if (layout.element_count < elements || layout.element_count > max_elements) {
    return usage_error(fmt::format("frame: element count {}, must be {} to {}", layout.element_count,
                                   elements, max_elements));
  }
  return {};
}

namespace {

// What follows the prefix, as it is before it is packed.
struct HeaderBody {
  Bytes bytes;
  uint64_t codebook_bytes = 0;  // of the shared codebooks
};

HeaderBody write_body(const FrameHeader& header) {
  const FrameLayout& layout = header.layout;
  HeaderBody body;
  ByteWriter out(body.bytes);
  if (layout.is_array) {
    out.put_varint(layout.array_shape.size());
    for (const uint64_t size : layout.array_shape) out.put_varint(size);
  }
  if (layout.is_split) {
    out.put_varint(layout.split_begin);
    out.put_varint(layout.split_count);
  }
  if (header.coarser_ratio) {
    for (int d = 0; d < layout.ndim; ++d) out.put_varint(static_cast<uint64_t>((*header.coarser_ratio)[d]));
  }
  write_boxes(layout, out);
  for (const ComponentInfo& info : header.components) write_component(header.dtype, info, out);
  out.put_varint(header.codebooks.size());
  const size_t codebooks_begin = body.bytes.size();
  for (const Codebook& codebook : header.codebooks) write_codebook(codebook, out);
  body.codebook_bytes = body.bytes.size() - codebooks_begin;
  for (const SectionEntry& entry : header.sections) {
    out.put(entry.codec);
    if (header.has_arrangements) {
      out.put(entry.arrangement.arrangement);
      out.put(static_cast<uint8_t>(entry.arrangement.unit_cells));
    }
    out.put_varint(entry.bytes);
    out.put(entry.checksum);
  }
  return body;
}

// All but the sizes of header and frame.
FramePrefix make_prefix(const FrameHeader& header) {
  const FrameLayout& layout = header.layout;
  FramePrefix prefix{};
  prefix.magic = frame_magic;
  prefix.version = frame_version;
  prefix.dtype = static_cast<uint8_t>(header.dtype);
  prefix.ndim = static_cast<uint8_t>(layout.ndim);
  prefix.arrangement = header.has_arrangements ? arrangement_per_section : arrangement_linear;
  prefix.flags = layout.is_split ? flag_split : 0;
  if (layout.is_array) prefix.flags |= flag_array;
  if (header.coarser_ratio) prefix.flags |= flag_nested;
  prefix.components = static_cast<uint16_t>(layout.components);
  prefix.element_count = layout.element_count;
  prefix.boxes = static_cast<uint32_t>(layout.boxes.size());
  prefix.sections = static_cast<uint32_t>(header.sections.size());
  return prefix;
}

}  // namespace

Result<Bytes> serialize_header(const FrameHeader& header) {
  const HeaderBody body = write_body(header);
  Bytes bytes(frame_prefix_bytes);
  ByteWriter whole(bytes);
  write_packed(body.bytes, whole);
  const HeaderPayment paid{bytes.size(), header.layout.held_elements()};
  if (body.bytes.size() > body_limit(paid) || body.codebook_bytes > max_codebook_bytes(paid) ||
      header.components.size() + header.sections.size() > max_records(paid)) {
    bytes.resize(frame_prefix_bytes);  // shrinks further than a reader would believe
    write_raw(body.bytes, whole);
  }
  const uint64_t header_bytes = bytes.size() + checksum_bytes;
  if (header_bytes > UINT32_MAX) {
    return failure(
        fmt::format("frame: header of {} bytes, at most {}: use smaller frames", header_bytes, UINT32_MAX));
  }
  FramePrefix prefix = make_prefix(header);
  prefix.header_bytes = static_cast<uint32_t>(header_bytes);
  prefix.frame_bytes = header_bytes;
  for (const SectionEntry& entry : header.sections) prefix.frame_bytes += entry.bytes;
  std::memcpy(bytes.data(), &prefix, sizeof prefix);
  whole.put(checksum(bytes));
  return bytes;
}

}  // namespace neve
