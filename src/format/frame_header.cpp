// SPDX-License-Identifier: BSD-3-Clause
#include "format/frame_header.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "format/checksum.hpp"
#include "format/tiling.hpp"
#include "stages/lossless/byte_pack.hpp"

namespace neve {

namespace {

constexpr std::array<char, 4> magic{'N', 'E', 'V', 'E'};
constexpr uint8_t arrangement_linear = 0;
constexpr uint8_t arrangement_per_section = 1;
constexpr uint8_t flag_split = 1;
constexpr uint8_t flag_array = 2;
constexpr uint8_t flag_nested = 4;
constexpr uint8_t component_has_fill = 1;
constexpr uint8_t component_drops_covered = 2;
// A body may claim this many times its packed size, and a little more for tiny ones.
constexpr uint64_t body_expansion_limit = 64;
constexpr uint64_t body_free_bytes = uint64_t{1} << 20;
// Codec, at least one byte of size, checksum.
constexpr uint64_t section_entry_min_bytes = 10;

struct Prefix {
  std::array<char, 4> magic;
  uint16_t version;
  uint8_t dtype;
  uint8_t ndim;
  uint32_t header_bytes;
  uint8_t arrangement;
  uint8_t flags;
  uint16_t components;
  uint64_t frame_bytes;
  uint64_t element_count;
  uint32_t boxes;
  uint32_t sections;
};
static_assert(sizeof(Prefix) == frame_prefix_bytes);

// What an honest header's body of `packed_bytes` may unpack to.
uint64_t body_limit(uint64_t packed_bytes) { return packed_bytes * body_expansion_limit + body_free_bytes; }

bool is_box_position(int64_t lo) { return lo >= -max_box_position && lo <= max_box_position; }

// A number of cells; one that no box can have becomes one that check_rect refuses.
int64_t get_cells(ByteReader& in) {
  return static_cast<int64_t>(std::min(in.get_varint(), max_elements + 1));
}

Status check_rect(const Rect& rect, const Extents& size, size_t box) {
  for (size_t d = 0; d < max_frame_dims; ++d) {
    if (rect.lo[d] < 0 || rect.size[d] < 1 || rect.size[d] > size[d] || rect.lo[d] > size[d] - rect.size[d]) {
      return corrupt(
          fmt::format("box {}: covered rectangle of {} cells from {} in direction {} leaves its {} cells",
                      box, rect.size[d], rect.lo[d], d, size[d]));
    }
  }
  return {};
}

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

Status read_boxes(ByteReader& in, uint32_t total, FrameLayout& layout) {
  Extents before{0, 0, 0, 0};
  uint64_t elements = 0;
  for (uint32_t b = 0; b < total; ++b) {
    FrameBox box;
    for (int d = 0; d < layout.ndim; ++d) {
      const int64_t step = in.get_signed_varint();
      const bool is_near = step >= -2 * max_box_position && step <= 2 * max_box_position;
      box.lo[d] = is_near ? before[d] + step : step;
      if (!is_near || !is_box_position(box.lo[d])) {
        return corrupt(fmt::format("frame header: box {} lies at {} in direction {}, must be within +-{}", b,
                                   box.lo[d], d, max_box_position));
      }
    }
    uint64_t cells = 1;
    for (int d = 0; d < layout.ndim; ++d) {
      const uint64_t size = in.get_varint();
      if (in.failed() || size == 0 || size > max_elements || cells > max_elements / size) {
        return corrupt(fmt::format(
            "frame header: box {}: size {} in direction {}, must be 1 to {} with all sides multiplied", b,
            size, d, max_elements));
      }
      cells *= size;
      box.size[d] = static_cast<int64_t>(size);
    }
    elements += cells * static_cast<uint64_t>(layout.components);
    if (!layout.is_split && elements > layout.element_count) {
      return corrupt(fmt::format("frame header: boxes hold {} elements by box {}, the frame {}", elements, b,
                                 layout.element_count));
    }
    const uint64_t covered = in.get_varint();
    for (uint64_t r = 0; r < covered; ++r) {
      Rect rect;
      for (int d = 0; d < layout.ndim; ++d) rect.lo[d] = get_cells(in);
      for (int d = 0; d < layout.ndim; ++d) rect.size[d] = get_cells(in);
      if (in.failed())
        return corrupt(fmt::format("frame header: ends inside the covered cells of box {}", b));
      NEVE_TRY(check_rect(rect, box.size, b));
      box.covered.push_back(rect);
    }
    before = box.lo;
    layout.boxes.push_back(std::move(box));
  }
  return {};
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

Result<ComponentInfo> read_component(DType dtype, ByteReader& in, int number) {
  ComponentInfo info;
  const auto mode = in.get<uint8_t>();
  const auto flags = in.get<uint8_t>();
  info.asked.mode = static_cast<BoundMode>(mode);
  info.asked.value = in.get<double>();
  info.bound_abs = in.get<double>();
  info.center = in.get<double>();
  info.step = in.get<double>();
  info.max_abs_error = in.get<double>();
  if ((flags & component_has_fill) != 0) {
    if (is_integer(dtype)) {
      info.integer_fill = in.get<uint64_t>();
    } else {
      info.fill = in.get<double>();
    }
  }
  info.drops_covered = (flags & component_drops_covered) != 0;
  if (in.failed()) return corrupt(fmt::format("frame header: ends inside component {}", number));
  if (!is_known_bound_mode(mode) || (flags & ~(component_has_fill | component_drops_covered)) != 0) {
    return corrupt(fmt::format("frame header: component {}: bound mode {} or flags 0x{:02x} unknown", number,
                               mode, flags));
  }
  if (!(info.bound_abs >= 0) || !std::isfinite(info.bound_abs)) {
    return corrupt(fmt::format("frame header: component {}: bound {}, must be finite and not negative",
                               number, info.bound_abs));
  }
  if (is_integer(dtype) && info.bound_abs != 0) {
    return corrupt(
        fmt::format("frame header: component {}: bound {} of integers, must be 0", number, info.bound_abs));
  }
  if (info.integer_fill && !holds_integer(dtype, *info.integer_fill)) {
    return corrupt(fmt::format("frame header: component {}: fill value 0x{:x} is no {}", number,
                               *info.integer_fill, dtype_name(dtype)));
  }
  return info;
}

Result<Extents> read_coarser_ratio(ByteReader& in, int ndim) {
  Extents ratio{1, 1, 1, 1};
  for (int d = 0; d < ndim; ++d) {
    const uint64_t found = in.get_varint();
    if (in.failed() || found < 1 || found > max_coarser_ratio) {
      return corrupt(fmt::format("frame header: refinement by {} in direction {}, must be 1 to {}", found, d,
                                 max_coarser_ratio));
    }
    ratio[d] = static_cast<int64_t>(found);
  }
  return ratio;
}

Status read_shape(ByteReader& in, FrameLayout& layout) {
  const uint64_t rank = in.get_varint();
  if (in.failed() || rank > max_array_rank) {
    return corrupt(fmt::format("frame header: array of {} dimensions, at most {}", rank, max_array_rank));
  }
  uint64_t elements = 1;
  for (uint64_t d = 0; d < rank; ++d) {
    const uint64_t size = in.get_varint();
    if (size > max_elements || (size > 0 && elements > max_elements / size)) {
      return corrupt(fmt::format("frame header: array dimension {} of size {}", d, size));
    }
    elements *= size;
    layout.array_shape.push_back(size);
  }
  if (in.failed() || elements != layout.element_count) {
    return corrupt(fmt::format("frame header: array shape of {} elements, the frame {}", elements,
                               layout.element_count));
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
    uint64_t cells = 1;
    for (int d = 0; d < max_frame_dims; ++d) {
      const int64_t size = layout.boxes[b].size[d];
      if (size < 1 || (d >= layout.ndim && size != 1) || static_cast<uint64_t>(size) > max_elements / cells) {
        return usage_error(fmt::format(
            "frame: box {} has size {} in direction {}, must be 1 to {} with all sides multiplied", b, size,
            d, max_elements));
      }
      if (!is_box_position(layout.boxes[b].lo[d])) {
        return usage_error(fmt::format("frame: box {} lies at {} in direction {}, must be within +-{}", b,
                                       layout.boxes[b].lo[d], d, max_box_position));
      }
      cells *= static_cast<uint64_t>(size);
    }
    for (const Rect& rect : layout.boxes[b].covered) {
      if (const Status s = check_rect(rect, layout.boxes[b].size, b); !s.ok())
        return usage_error(s.message());
    }
    elements += cells * static_cast<uint64_t>(layout.components);
    if (elements > max_elements)
      return usage_error(fmt::format("frame: more than {} elements", max_elements));
  }
  if (layout.is_split) {
    if (layout.boxes.size() != 1) {
      return usage_error(fmt::format("frame: split with {} boxes, must have 1", layout.boxes.size()));
    }
    if (layout.stream_begin > elements || layout.stream_count > elements - layout.stream_begin ||
        layout.stream_count == 0) {
      return usage_error(fmt::format("frame: {} elements from {} of a box with {}", layout.stream_count,
                                     layout.stream_begin, elements));
    }
    elements = layout.stream_count;
  }
  if (layout.element_count < elements || layout.element_count > max_elements) {
    return usage_error(fmt::format("frame: element count {}, must be {} to {}", layout.element_count,
                                   elements, max_elements));
  }
  return {};
}

Result<Bytes> serialize_header(const FrameHeader& header) {
  const FrameLayout& layout = header.layout;
  Bytes body;
  ByteWriter out(body);
  if (layout.is_array) {
    out.put_varint(layout.array_shape.size());
    for (const uint64_t size : layout.array_shape) out.put_varint(size);
  }
  if (layout.is_split) {
    out.put_varint(layout.stream_begin);
    out.put_varint(layout.stream_count);
  }
  if (header.coarser_ratio) {
    for (int d = 0; d < layout.ndim; ++d) out.put_varint(static_cast<uint64_t>((*header.coarser_ratio)[d]));
  }
  write_boxes(layout, out);
  for (const ComponentInfo& info : header.components) write_component(header.dtype, info, out);
  out.put_varint(header.books.size());
  for (const Codebook& book : header.books) write_codebook(book, out);
  uint64_t section_bytes = 0;
  for (const SectionEntry& entry : header.sections) {
    out.put(entry.codec);
    if (header.has_arrangements) {
      out.put(entry.arrangement.arrangement);
      out.put(static_cast<uint8_t>(entry.arrangement.unit_cells));
    }
    out.put_varint(entry.bytes);
    out.put(entry.checksum);
    section_bytes += entry.bytes;
  }

  Bytes bytes(frame_prefix_bytes);
  ByteWriter whole(bytes);
  write_packed(body, whole);
  if (body.size() > body_limit(bytes.size())) {  // shrinks further than a reader would believe
    bytes.resize(frame_prefix_bytes);
    write_raw(body, whole);
  }
  const uint64_t header_bytes = bytes.size() + checksum_bytes;
  if (header_bytes > UINT32_MAX) {
    return failure(
        fmt::format("frame: header of {} bytes, at most {}: use smaller frames", header_bytes, UINT32_MAX));
  }
  Prefix prefix{};
  prefix.magic = magic;
  prefix.version = frame_version;
  prefix.dtype = static_cast<uint8_t>(header.dtype);
  prefix.ndim = static_cast<uint8_t>(layout.ndim);
  prefix.header_bytes = static_cast<uint32_t>(header_bytes);
  prefix.arrangement = header.has_arrangements ? arrangement_per_section : arrangement_linear;
  prefix.flags = layout.is_split ? flag_split : 0;
  if (layout.is_array) prefix.flags |= flag_array;
  if (header.coarser_ratio) prefix.flags |= flag_nested;
  prefix.components = static_cast<uint16_t>(layout.components);
  prefix.frame_bytes = header_bytes + section_bytes;
  prefix.element_count = layout.element_count;
  prefix.boxes = static_cast<uint32_t>(layout.boxes.size());
  prefix.sections = static_cast<uint32_t>(header.sections.size());
  std::memcpy(bytes.data(), &prefix, sizeof prefix);
  whole.put(checksum(bytes));
  return bytes;
}

Result<FrameHeader> parse_header(ByteSpan frame) {
  Prefix prefix;
  if (frame.size() < sizeof prefix) {
    return corrupt(fmt::format("frame: {} bytes, a frame has at least {}", frame.size(), sizeof prefix));
  }
  std::memcpy(&prefix, frame.data(), sizeof prefix);
  if (prefix.magic != magic) return corrupt("frame: does not start with \"NEVE\"");
  if (prefix.version != frame_version) {
    return corrupt(
        fmt::format("frame: format version {}, this library reads {}", prefix.version, frame_version));
  }
  if (prefix.frame_bytes > frame.size()) {
    return corrupt(fmt::format("frame: declares {} bytes, {} are there", prefix.frame_bytes, frame.size()));
  }
  if (prefix.header_bytes < sizeof prefix + checksum_bytes || prefix.header_bytes > prefix.frame_bytes) {
    return corrupt(
        fmt::format("frame: header of {} bytes in a frame of {}", prefix.header_bytes, prefix.frame_bytes));
  }
  const ByteSpan covered = frame.first(prefix.header_bytes - checksum_bytes);
  uint64_t expected;
  std::memcpy(&expected, frame.data() + covered.size(), sizeof expected);
  if (!checksum_matches(covered, expected)) return corrupt("frame: header does not match its checksum");
  if (prefix.dtype >= dtypes || prefix.ndim < 1 || prefix.ndim > max_frame_dims || prefix.components < 1) {
    return corrupt(fmt::format("frame header: dtype {}, {} dimensions, {} components", prefix.dtype,
                               prefix.ndim, prefix.components));
  }
  if (prefix.arrangement > arrangement_per_section ||
      (prefix.flags & ~(flag_split | flag_array | flag_nested)) != 0) {
    return corrupt(fmt::format("frame header: arrangement {} or flags 0x{:02x} unknown to this version",
                               prefix.arrangement, prefix.flags));
  }
  if (prefix.element_count > max_elements) {
    return corrupt(fmt::format("frame header: {} elements, at most {}", prefix.element_count, max_elements));
  }

  FrameHeader header;
  header.dtype = static_cast<DType>(prefix.dtype);
  header.header_bytes = prefix.header_bytes;
  header.frame_bytes = prefix.frame_bytes;
  header.has_arrangements = prefix.arrangement == arrangement_per_section;
  FrameLayout& layout = header.layout;
  layout.ndim = prefix.ndim;
  layout.components = prefix.components;
  layout.element_count = prefix.element_count;
  layout.is_split = (prefix.flags & flag_split) != 0;
  layout.is_array = (prefix.flags & flag_array) != 0;

  ByteReader outer(covered.subspan(sizeof prefix));
  NEVE_ASSIGN(const Bytes body, read_packed(outer, body_limit(covered.size())));
  if (outer.remaining() != 0)
    return corrupt(fmt::format("frame header: {} bytes left over", outer.remaining()));
  ByteReader in(body);
  if (layout.is_array) NEVE_TRY(read_shape(in, layout));
  if (prefix.boxes == 0 && (!layout.is_array || layout.element_count != 0)) {
    return corrupt("frame header: no boxes");
  }
  if (layout.is_split) {
    layout.stream_begin = in.get_varint();
    layout.stream_count = in.get_varint();
    if (prefix.boxes != 1) return corrupt(fmt::format("frame header: split with {} boxes", prefix.boxes));
  }
  if ((prefix.flags & flag_nested) != 0) {
    NEVE_ASSIGN(header.coarser_ratio, read_coarser_ratio(in, layout.ndim));
  }
  NEVE_TRY(read_boxes(in, prefix.boxes, layout));
  for (int c = 0; c < layout.components; ++c) {
    NEVE_ASSIGN(ComponentInfo info, read_component(header.dtype, in, c));
    header.components.push_back(info);
  }
  if (!layout.boxes.empty()) {
    if (const Status s = check_layout(layout); !s.ok()) return corrupt(s.message());
  }
  const uint64_t books = in.get_varint();
  for (uint64_t b = 0; b < books; ++b) {
    NEVE_ASSIGN(const Codebook book, read_codebook(in));
    header.books.push_back(book);
  }
  if (prefix.sections > in.remaining() / section_entry_min_bytes) {
    return corrupt(fmt::format("frame header: {} sections in {} bytes", prefix.sections, in.remaining()));
  }
  uint64_t left = prefix.frame_bytes - prefix.header_bytes;
  for (uint32_t s = 0; s < prefix.sections; ++s) {
    SectionEntry entry;
    entry.codec = static_cast<Codec>(in.get<uint8_t>());
    if (header.has_arrangements) {
      entry.arrangement.arrangement = static_cast<Arrangement>(in.get<uint8_t>());
      entry.arrangement.unit_cells = in.get<uint8_t>();
      if (const Status status = check_arrangement(entry.arrangement); !status.ok()) {
        return status.in(fmt::format("frame header: section {}", s));
      }
      const bool can_nest = entry.codec == Codec::interpolation || entry.codec == Codec::context;
      if (entry.arrangement.arrangement == Arrangement::nested && !(can_nest && header.coarser_ratio)) {
        return corrupt(fmt::format(
            "frame header: section {} is nested, its codec is {} and the frame {} a coarser level", s,
            codec_name(entry.codec), header.coarser_ratio ? "has" : "names no"));
      }
    }
    if (is_integer(header.dtype) && !keeps_integers(entry.codec)) {
      return corrupt(fmt::format("frame header: section {} of {} by codec {}, which has no integers", s,
                                 dtype_name(header.dtype), codec_name(entry.codec)));
    }
    entry.bytes = in.get_varint();
    entry.checksum = in.get<uint64_t>();
    if (in.failed() || entry.bytes > left) {
      return corrupt(fmt::format("frame header: section {} has {} bytes, {} are left", s, entry.bytes, left));
    }
    left -= entry.bytes;
    header.sections.push_back(entry);
  }
  if (in.failed() || in.remaining() != 0 || left != 0) {
    return corrupt(
        fmt::format("frame header: {} bytes of header and {} of sections left over", in.remaining(), left));
  }
  // Each section was paid for by its entry above; only now may their cells be listed.
  if (layout.held_elements() / tile_max_cells > prefix.sections) {
    return corrupt(fmt::format("frame header: {} elements in {} sections of at most {}",
                               layout.held_elements(), prefix.sections, tile_max_cells));
  }
  return header;
}

}  // namespace neve
