// SPDX-License-Identifier: BSD-3-Clause
// The way from bytes to what a header says. Records are unpacked as they are read; what is kept of them is
// paid for by bytes or by values (header_limits).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/bits/checksum.hpp"
#include "core/catalog/codecs.hpp"
#include "core/format/array_shape.hpp"
#include "core/format/frame_header.hpp"
#include "core/format/frame_prefix.hpp"
#include "core/format/header_limits.hpp"
#include "core/stages/lossless/byte_pack.hpp"

namespace neve {

namespace {

// Codec, at least one byte of size, checksum.
constexpr uint64_t section_entry_min_bytes = 10;
// No record is longer: 33 varints of an array's shape.
constexpr size_t record_max_bytes = 512;

// A number of cells; one that no box can have becomes one that CoveredCheck refuses.
int64_t get_cells(ByteReader& in) {
  return static_cast<int64_t>(std::min(in.get_varint(), max_elements + 1));
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

Result<FramePrefix> read_prefix(ByteSpan frame) {
  FramePrefix prefix;
  if (frame.size() < sizeof prefix) {
    return corrupt(fmt::format("frame: {} bytes, a frame has at least {}", frame.size(), sizeof prefix));
  }
  std::memcpy(&prefix, frame.data(), sizeof prefix);
  if (prefix.magic != frame_magic) return corrupt("frame: does not start with \"NEVE\"");
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
  const bool may_lack_boxes = (prefix.flags & flag_array) != 0 && prefix.element_count == 0;
  if (prefix.boxes == 0 && !may_lack_boxes) return corrupt("frame header: no boxes");
  if ((prefix.flags & flag_split) != 0 && prefix.boxes != 1) {
    return corrupt(fmt::format("frame header: split with {} boxes", prefix.boxes));
  }
  return prefix;
}

class HeaderReader {
 public:
  HeaderReader(const FramePrefix& prefix, PackedReader&& body, KeepBoxes keep)
      : prefix_(prefix), body_(std::move(body)), keeps_boxes_(keep == KeepBoxes::yes) {}

  Result<ParsedHeader> run();

 private:
  // Calls read(ByteReader&) with the bytes of the next record.
  template <class Read>
  Status read_record(const Read& read) {
    NEVE_ASSIGN(const ByteSpan ahead, body_.ahead(record_max_bytes));
    ByteReader in(ahead);
    NEVE_TRY(read(in));
    body_.advance(in.position());
    return {};
  }
  HeaderPayment paid() const { return {prefix_.header_bytes - checksum_bytes, header_.held_elements}; }

  void take_prefix();
  Status read_first_fields(ByteReader& in);
  Status read_array_shape(ByteReader& in);
  Status read_boxes();
  Status read_place(ByteReader& in, uint32_t number, Rect& box, uint64_t& covered) const;
  Status read_covered(const Rect& box, uint32_t number, uint64_t total);
  Status take_box(const Rect& box, uint32_t number);
  Status check_range(const Rect& box) const;
  Status check_records() const;
  Status read_codebooks();
  Status read_sections();
  Status read_section(ByteReader& in, uint32_t number);

  FramePrefix prefix_;
  PackedReader body_;
  bool keeps_boxes_;
  ParsedHeader header_;
  Extents before_{0, 0, 0, 0};  // of the box before
  uint64_t section_bytes_left_ = 0;
};

void HeaderReader::take_prefix() {
  header_.dtype = static_cast<DType>(prefix_.dtype);
  header_.header_bytes = prefix_.header_bytes;
  header_.frame_bytes = prefix_.frame_bytes;
  header_.has_arrangements = prefix_.arrangement == arrangement_per_section;
  header_.boxes = prefix_.boxes;
  FrameShape& shape = header_.shape;
  shape.ndim = prefix_.ndim;
  shape.components = prefix_.components;
  shape.element_count = prefix_.element_count;
  shape.is_split = (prefix_.flags & flag_split) != 0;
  shape.is_array = (prefix_.flags & flag_array) != 0;
}

Status HeaderReader::read_array_shape(ByteReader& in) {
  FrameShape& shape = header_.shape;
  const uint64_t rank = in.get_varint();
  if (in.failed() || rank > max_array_rank) {
    return corrupt(fmt::format("frame header: array of {} dimensions, at most {}", rank, max_array_rank));
  }
  for (uint64_t d = 0; d < rank; ++d) shape.array_shape.push_back(in.get_varint());
  const Result<uint64_t> elements = count_values(shape.array_shape);
  if (!elements.ok()) return corrupt("frame header: " + elements.status().message());
  if (in.failed() || *elements != shape.element_count) {
    return corrupt(fmt::format("frame header: array shape of {} elements, the frame {}", *elements,
                               shape.element_count));
  }
  return {};
}

Status HeaderReader::read_first_fields(ByteReader& in) {
  if (header_.shape.is_array) NEVE_TRY(read_array_shape(in));
  if (header_.shape.is_split) {
    header_.shape.split_begin = in.get_varint();
    header_.shape.split_count = in.get_varint();
  }
  if ((prefix_.flags & flag_nested) != 0) {
    NEVE_ASSIGN(header_.coarser_ratio, read_coarser_ratio(in, header_.shape.ndim));
  }
  return in.failed() ? corrupt("frame header: ends inside its first fields") : Status();
}

Status HeaderReader::read_place(ByteReader& in, uint32_t number, Rect& box, uint64_t& covered) const {
  const int ndim = header_.shape.ndim;
  for (int d = 0; d < ndim; ++d) {
    const int64_t step = in.get_signed_varint();
    const bool is_near = step >= -2 * max_box_position && step <= 2 * max_box_position;
    box.lo[d] = is_near ? before_[d] + step : step;
    if (!is_near || !is_box_position(box.lo[d])) {
      return corrupt(fmt::format("frame header: box {} lies at {} in direction {}, must be within +-{}",
                                 number, box.lo[d], d, max_box_position));
    }
  }
  uint64_t cells = 1;
  for (int d = 0; d < ndim; ++d) {
    const uint64_t size = in.get_varint();
    if (in.failed() || size == 0 || size > max_elements || cells > max_elements / size) {
      return corrupt(fmt::format(
          "frame header: box {}: size {} in direction {}, must be 1 to {} with all sides multiplied", number,
          size, d, max_elements));
    }
    cells *= size;
    box.size[d] = static_cast<int64_t>(size);
  }
  covered = in.get_varint();
  return in.failed() ? corrupt(fmt::format("frame header: ends inside box {}", number)) : Status();
}

// What a split frame holds lies inside its box, and is all that it holds.
Status HeaderReader::check_range(const Rect& box) const {
  const FrameShape& shape = header_.shape;
  const uint64_t elements = static_cast<uint64_t>(box.cells()) * static_cast<uint64_t>(shape.components);
  if (shape.split_begin > elements || shape.split_count > elements - shape.split_begin ||
      shape.split_count == 0) {
    return corrupt(fmt::format("frame: {} elements from {} of a box with {}", shape.split_count,
                               shape.split_begin, elements));
  }
  if (elements > max_elements) return corrupt(fmt::format("frame: more than {} elements", max_elements));
  if (shape.split_count > shape.element_count) {
    return corrupt(fmt::format("frame: element count {}, must be {} to {}", shape.element_count,
                               shape.split_count, max_elements));
  }
  return {};
}

Status HeaderReader::take_box(const Rect& box, uint32_t number) {
  const FrameShape& shape = header_.shape;
  if (shape.is_split) {
    NEVE_TRY(check_range(box));
    header_.held_elements = shape.split_count;
    NEVE_TRY(check_records());
  } else {
    header_.held_elements += static_cast<uint64_t>(box.cells()) * static_cast<uint64_t>(shape.components);
    if (header_.held_elements > shape.element_count) {
      return corrupt(fmt::format("frame header: boxes hold {} elements by box {}, the frame {}",
                                 header_.held_elements, number, shape.element_count));
    }
  }
  // Each section is paid for by its entry in the body; only so far may their cells be listed.
  if (header_.held_elements / tile_max_cells > prefix_.sections) {
    return corrupt(fmt::format("frame header: {} elements in {} sections of at most {}",
                               header_.held_elements, prefix_.sections, tile_max_cells));
  }
  header_.tiles.add(box.size);
  if (keeps_boxes_) header_.box_table.add(box);
  return {};
}

Status HeaderReader::read_covered(const Rect& box, uint32_t number, uint64_t total) {
  CoveredCheck check(box.size, number);
  const auto read_rect = [&](ByteReader& in) -> Status {
    Rect rect;
    for (int d = 0; d < header_.shape.ndim; ++d) rect.lo[d] = get_cells(in);
    for (int d = 0; d < header_.shape.ndim; ++d) rect.size[d] = get_cells(in);
    if (in.failed()) {
      return corrupt(fmt::format("frame header: ends inside the covered cells of box {}", number));
    }
    NEVE_TRY(check.add(rect));
    if (keeps_boxes_) header_.box_table.add_covered(rect);
    return {};
  };
  for (uint64_t r = 0; r < total; ++r) NEVE_TRY(read_record(read_rect));
  return {};
}

Status HeaderReader::read_boxes() {
  header_.tiles = TileSpans(header_.shape, header_.has_arrangements ? TileRule::large : TileRule::small);
  header_.box_table = BoxTable(header_.shape.ndim, header_.shape.components);
  uint64_t rects = 0;
  for (uint32_t b = 0; b < prefix_.boxes; ++b) {
    Rect box;
    uint64_t covered = 0;
    NEVE_TRY(read_record([&](ByteReader& in) { return read_place(in, b, box, covered); }));
    NEVE_TRY(take_box(box, b));
    NEVE_TRY(read_covered(box, b, covered));
    rects += covered;
    before_ = box.lo;
  }
  header_.tiles.finish();
  header_.box_table.finish();
  const uint64_t most = max_arranged_boxes(header_.held_elements);
  if (header_.has_arrangements && prefix_.boxes + rects > most) {
    return corrupt(
        fmt::format("frame header: {} boxes with {} covered rectangles in an arranged frame, at most {} "
                    "together for {} values",
                    prefix_.boxes, rects, most, header_.held_elements));
  }
  return {};
}

Status HeaderReader::check_records() const {
  const uint64_t records = uint64_t{prefix_.components} + prefix_.sections;
  if (records <= max_records(paid())) return {};
  return corrupt(
      fmt::format("frame header: {} components and {} sections, at most {} together for {} values in a "
                  "header of {} bytes",
                  prefix_.components, prefix_.sections, max_records(paid()), header_.held_elements,
                  prefix_.header_bytes));
}

Status HeaderReader::read_codebooks() {
  uint64_t codebooks = 0;
  const auto read_count = [&](ByteReader& in) {
    codebooks = in.get_varint();
    return in.failed() ? corrupt("frame header: ends before its codebooks") : Status();
  };
  const auto read_one = [&](ByteReader& in) -> Status {
    NEVE_ASSIGN(const Codebook codebook, read_codebook(in));
    if (keeps_boxes_) header_.codebooks.add(codebook);
    return {};
  };
  NEVE_TRY(read_record(read_count));
  const uint64_t begin = body_.left();
  for (uint64_t b = 0; b < codebooks; ++b) {
    NEVE_TRY(read_record(read_one));
    if (begin - body_.left() > max_codebook_bytes(paid())) {
      return corrupt(fmt::format("frame header: {} codebooks of more than {} bytes for {} bytes of header",
                                 codebooks, max_codebook_bytes(paid()), prefix_.header_bytes));
    }
  }
  return {};
}

Status HeaderReader::read_section(ByteReader& in, uint32_t number) {
  SectionEntry entry;
  entry.codec = static_cast<Codec>(in.get<uint8_t>());
  if (header_.has_arrangements) {
    entry.arrangement.arrangement = static_cast<Arrangement>(in.get<uint8_t>());
    entry.arrangement.unit_cells = in.get<uint8_t>();
    if (const Status status = check_arrangement(entry.arrangement); !status.ok()) {
      return status.in(fmt::format("frame header: section {}", number));
    }
    const bool can_nest = traits_of(entry.codec).can_nest;
    if (entry.arrangement.arrangement == Arrangement::nested && !(can_nest && header_.coarser_ratio)) {
      return corrupt(
          fmt::format("frame header: section {} is nested, its codec is {} and the frame {} a coarser level",
                      number, codec_name(entry.codec), header_.coarser_ratio ? "has" : "names no"));
    }
  }
  // A codec of a later version leaves the other sections readable: whoever decodes its own names it.
  if (is_integer(header_.dtype) && is_codec(entry.codec) && !keeps_integers(entry.codec)) {
    return corrupt(fmt::format("frame header: section {} of {} by codec {}, which does not support integers",
                               number, dtype_name(header_.dtype), codec_name(entry.codec)));
  }
  entry.bytes = in.get_varint();
  entry.checksum = in.get<uint64_t>();
  if (in.failed() || entry.bytes > section_bytes_left_) {
    return corrupt(fmt::format("frame header: section {} has {} bytes, {} are left", number, entry.bytes,
                               section_bytes_left_));
  }
  section_bytes_left_ -= entry.bytes;
  header_.sections.push_back(entry);
  return {};
}

Status HeaderReader::read_sections() {
  if (prefix_.sections > body_.left() / section_entry_min_bytes) {
    return corrupt(fmt::format("frame header: {} sections in {} bytes", prefix_.sections, body_.left()));
  }
  if (prefix_.sections != header_.tiles.sections()) {
    return corrupt(fmt::format("frame header: {} sections, its boxes make {}", prefix_.sections,
                               header_.tiles.sections()));
  }
  header_.sections.reserve(prefix_.sections);
  section_bytes_left_ = prefix_.frame_bytes - prefix_.header_bytes;
  for (uint32_t s = 0; s < prefix_.sections; ++s) {
    NEVE_TRY(read_record([&](ByteReader& in) { return read_section(in, s); }));
  }
  if (body_.left() != 0 || section_bytes_left_ != 0) {
    return corrupt(fmt::format("frame header: {} bytes of header and {} of sections left over", body_.left(),
                               section_bytes_left_));
  }
  return {};
}

Result<ParsedHeader> HeaderReader::run() {
  take_prefix();
  NEVE_TRY(read_record([&](ByteReader& in) { return read_first_fields(in); }));
  NEVE_TRY(read_boxes());
  NEVE_TRY(check_records());
  header_.components.reserve(prefix_.components);
  const auto read_next_component = [&](ByteReader& in) -> Status {
    const auto number = static_cast<int>(header_.components.size());
    NEVE_ASSIGN(const ComponentInfo info, read_component(header_.dtype, in, number));
    header_.components.push_back(info);
    return {};
  };
  for (int c = 0; c < header_.shape.components; ++c) NEVE_TRY(read_record(read_next_component));
  NEVE_TRY(read_codebooks());
  NEVE_TRY(read_sections());
  return std::move(header_);
}

Result<PackedReader> open_body(const FramePrefix& prefix, ByteSpan covered) {
  ByteReader outer(covered.subspan(sizeof prefix));
  NEVE_ASSIGN(PackedReader body,
              PackedReader::open(outer, body_limit({covered.size(), prefix.element_count})));
  if (outer.remaining() != 0) {
    return corrupt(fmt::format("frame header: {} bytes left over", outer.remaining()));
  }
  return body;
}

}  // namespace

Result<ParsedHeader> parse_header(ByteSpan frame, KeepBoxes keep) {
  NEVE_ASSIGN(const FramePrefix prefix, read_prefix(frame));
  const ByteSpan covered = frame.first(prefix.header_bytes - checksum_bytes);
  NEVE_ASSIGN(PackedReader body, open_body(prefix, covered));
  const uint64_t body_bytes = body.left();
  const auto check_paid = [&](const ParsedHeader& header) -> Status {
    const uint64_t most = body_limit({covered.size(), header.held_elements});
    if (body_bytes <= most) return {};
    return corrupt(fmt::format("frame header: unpacks to {} bytes, at most {} for {} values in {} bytes",
                               body_bytes, most, header.held_elements, prefix.header_bytes));
  };
  // The prefix may lie about the number of values: what only they would pay for is walked before it is kept.
  const bool is_paid_by_bytes = body_bytes <= body_limit({covered.size(), 0});
  if (keep == KeepBoxes::yes && !is_paid_by_bytes) {
    NEVE_ASSIGN(const ParsedHeader walked, HeaderReader(prefix, std::move(body), KeepBoxes::no).run());
    NEVE_TRY(check_paid(walked));
    NEVE_ASSIGN(body, open_body(prefix, covered));
  }
  NEVE_ASSIGN(ParsedHeader header, HeaderReader(prefix, std::move(body), keep).run());
  NEVE_TRY(check_paid(header));
  return header;
}

}  // namespace neve
