// SPDX-License-Identifier: BSD-3-Clause
#include "core/format/frame_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "core/bits/checksum.hpp"
#include "core/format/frame_header.hpp"
#include "core/format/frame_prefix.hpp"
#include "core/format/last_of_place.hpp"
#include "core/stages/lossless/byte_pack.hpp"

namespace neve {
namespace {

constexpr std::string_view magic = "NEVEFILE";
constexpr uint64_t line_entry_bytes = 32;  // of layout 1
// Kinds that are no type of a frame.
constexpr uint8_t raw_kind = 254, zeros_kind = 255;
// The shortest piece: zeros, in a box without directions.
constexpr uint64_t least_piece_bytes = 5;
// Of the index of layout 3 once it is unpacked: what a reader may have to hold.
constexpr uint64_t index_expansion_limit = 16, index_free_bytes = uint64_t{1} << 16;
// A larger frame would be less than a hundredth smaller.
constexpr uint64_t small_frame_bytes = uint64_t{1} << 15;

uint64_t max_listed_bytes(uint64_t index_bytes) {
  return index_bytes > (UINT64_MAX - index_free_bytes) / index_expansion_limit
             ? UINT64_MAX
             : index_free_bytes + index_expansion_limit * index_bytes;
}

uint8_t kind_number(const FramePiece& piece) {
  switch (piece.kind) {
    case PieceKind::frame:
      return static_cast<uint8_t>(piece.dtype);
    case PieceKind::raw:
      return raw_kind;
    case PieceKind::zeros:
      return zeros_kind;
  }
  return zeros_kind;
}

Status check_stored(const FramePiece& piece, uint64_t file_bytes) {
  if (piece.at < frame_file_header_bytes || piece.at > file_bytes || piece.bytes > file_bytes - piece.at) {
    return corrupt(fmt::format("{} bytes at byte {} lie outside the file's {} bytes", piece.bytes, piece.at,
                               file_bytes));
  }
  return {};
}

Status check_values(const FramePiece& piece) {
  if (piece.kind == PieceKind::zeros) return {};
  const FilePlace& place = piece.place;
  if (place.bytes() > max_frame_value_bytes) {
    return corrupt(
        fmt::format("{} bytes of values; at most {} are allowed", place.bytes(), max_frame_value_bytes));
  }
  if (piece.kind == PieceKind::frame && place.value_bytes() != dtype_bytes(piece.dtype)) {
    return corrupt(fmt::format("boxes of values of {} bytes for a frame of {}", place.value_bytes(),
                               dtype_name(piece.dtype)));
  }
  return {};
}

Status read_kind(uint8_t kind, FramePiece& piece) {
  piece.kind = kind == raw_kind ? PieceKind::raw : kind == zeros_kind ? PieceKind::zeros : PieceKind::frame;
  if (piece.kind != PieceKind::frame) return {};
  if (kind >= dtypes) return corrupt(fmt::format("its kind is {}", kind));
  piece.dtype = static_cast<DType>(kind);
  return {};
}

Result<Bytes> read_head(ByteReader& in) {
  const uint64_t bytes = in.get_varint();
  if (bytes > in.remaining()) {
    return corrupt(
        fmt::format("a frame's header of {} bytes, and the index ends after {}", bytes, in.remaining()));
  }
  const ByteSpan head = in.get_bytes(bytes);
  return Bytes(head.begin(), head.end());
}

// Layout 1: an entry is a run of values of the file's type.
Result<FramePiece> read_line_entry(ByteReader& in, const FrameFileHeader& header, uint64_t file_bytes) {
  const auto first = in.get<uint64_t>();
  const auto count = in.get<uint64_t>();
  FramePiece piece;
  piece.dtype = header.dtype;
  piece.at = in.get<uint64_t>();
  piece.bytes = in.get<uint64_t>();
  const uint64_t value_bytes = dtype_bytes(header.dtype);
  const uint64_t values = header.bytes / value_bytes, most = max_frame_value_bytes / value_bytes;
  if (count == 0 || count > most || first > values || count > values - first) {
    return corrupt(fmt::format("{} values from {} on, of {} in the file; 1 to {} are allowed", count, first,
                               values, most));
  }
  NEVE_TRY(check_stored(piece, file_bytes));
  piece.place = FilePlace(line_box(first * value_bytes, static_cast<uint32_t>(value_bytes), count));
  return piece;
}

Status read_layout_1(ByteReader& in, FrameFileHeader& header, uint32_t dtype) {
  const auto values = in.get<uint64_t>();
  header.index_at = in.get<uint64_t>();
  header.pieces = in.get<uint64_t>();
  header.index_checksum = in.get<uint64_t>();
  if (dtype >= static_cast<uint32_t>(dtypes)) return corrupt(fmt::format("dtype is {}", dtype));
  header.dtype = static_cast<DType>(dtype);
  if (values > max_elements) {
    return corrupt(fmt::format("{} values; at most {} are allowed", values, max_elements));
  }
  header.bytes = values * dtype_bytes(header.dtype);
  if (header.pieces > UINT64_MAX / line_entry_bytes) return corrupt(fmt::format("{} entries", header.pieces));
  header.index_bytes = header.pieces * line_entry_bytes;
  if (in.get<uint64_t>() != 0) return corrupt("reserved bytes of the header are not 0");
  return {};
}

// And 3.
Status read_layout_2(ByteReader& in, FrameFileHeader& header, uint32_t flags) {
  header.bytes = in.get<uint64_t>();
  header.index_at = in.get<uint64_t>();
  header.index_bytes = in.get<uint64_t>();
  header.index_checksum = in.get<uint64_t>();
  header.pieces = in.get<uint64_t>();
  if (flags != 0) return corrupt(fmt::format("flags are {}; 0 is allowed", flags));
  if (header.bytes > max_file_bytes) {
    return corrupt(fmt::format("{} bytes; at most {} are allowed", header.bytes, max_file_bytes));
  }
  const uint64_t listed = header.layout == 2 ? header.index_bytes : max_listed_bytes(header.index_bytes);
  if (header.pieces > listed / least_piece_bytes) {
    return corrupt(fmt::format("{} pieces in an index of {} bytes", header.pieces, header.index_bytes));
  }
  return {};
}

Result<Bytes> unpack_index(ByteSpan bytes) {
  ByteReader in(bytes);
  NEVE_ASSIGN(Bytes listed, read_packed(in, max_listed_bytes(bytes.size())));
  const ByteSpan padding = in.get_bytes(in.remaining());
  if (std::ranges::all_of(padding, [](std::byte byte) { return byte == std::byte{0}; })) return listed;
  return corrupt(fmt::format("{} bytes behind the packed index that are not all 0", padding.size()));
}

}  // namespace

bool is_in_line(const FramePiece& piece) {
  if (piece.kind != PieceKind::frame) return false;
  const uint64_t value_bytes = dtype_bytes(piece.dtype);
  for (const FileBox& box : piece.place.unpacked()) {
    if (box.first % value_bytes != 0) return false;
    for (const FileDirection& direction : box.used()) {
      if (direction.stride % value_bytes != 0) return false;
    }
  }
  return true;
}

std::optional<DType> line_dtype(const FrameFileIndex& index) {
  if (index.pieces.empty()) return {};
  const DType dtype = index.pieces.front().dtype;
  const bool is_line = std::ranges::all_of(
      index.pieces, [&](const FramePiece& piece) { return is_in_line(piece) && piece.dtype == dtype; });
  if (!is_line || index.bytes % dtype_bytes(dtype) != 0) return {};
  return dtype;
}

void drop_idle(std::vector<FramePiece>& pieces, uint64_t bytes) {
  keep_last_of_place(pieces, [](const FramePiece& piece) -> const FilePlace& { return piece.place; });
  uint64_t furthest = 0;  // of those that stay
  std::erase_if(pieces, [&](const FramePiece& piece) {
    // Zeros hide what earlier ones have behind the end, should the file grow again.
    const bool hides = piece.kind == PieceKind::zeros && furthest > piece.place.first();
    if (piece.place.first() >= bytes && !hides) return true;
    if (piece.kind != PieceKind::zeros) furthest = std::max(furthest, piece.place.end());
    return false;
  });
}

bool is_frame_file(ByteSpan beginning) {
  return beginning.size() >= magic.size() && std::memcmp(beginning.data(), magic.data(), magic.size()) == 0;
}

ByteSpan take_head(ByteSpan frame, FramePiece& piece) {
  if (frame.size() > small_frame_bytes) return frame;
  uint32_t header = 0;
  std::memcpy(&header, frame.data() + offsetof(FramePrefix, header_bytes), sizeof header);
  piece.head.assign(frame.begin(), frame.begin() + static_cast<ptrdiff_t>(header - checksum_bytes));
  return frame.subspan(header);
}

ByteSpan with_head(const FramePiece& piece, ByteSpan stored, Bytes& room) {
  if (piece.head.empty()) return stored;
  room = piece.head;
  ByteWriter out(room);
  out.put(checksum(piece.head));
  out.put_bytes(stored);
  return room;
}

void write_piece(const FramePiece& piece, ByteWriter& out) {
  out.put(kind_number(piece));
  if (piece.kind != PieceKind::zeros) {
    out.put_varint(piece.at);
    out.put_varint(piece.bytes);
  }
  if (piece.kind == PieceKind::frame) {
    out.put_varint(piece.head.size());
    out.put_bytes(piece.head);
  }
  if (piece.kind == PieceKind::raw) out.put(piece.checksum);
  out.put_varint(piece.place.boxes());
  piece.place.write(out);
}

Bytes index_bytes(const FrameFileIndex& index) {
  Bytes listed, packed;
  ByteWriter out(listed);
  for (const FramePiece& piece : index.pieces) write_piece(piece, out);
  ByteWriter packer(packed);
  write_packed(listed, packer);
  const uint64_t above = listed.size() - std::min<uint64_t>(listed.size(), index_free_bytes);
  const uint64_t least = (above + index_expansion_limit - 1) / index_expansion_limit;
  if (packed.size() < least) packed.resize(least);  // a reader would refuse fewer
  return packed;
}

Bytes header_bytes(const FrameFileIndex& index, uint64_t index_at, ByteSpan index_bytes) {
  Bytes bytes;
  bytes.reserve(frame_file_header_bytes);
  ByteWriter out(bytes);
  out.put_bytes(magic.data(), magic.size());
  out.put(frame_file_layout);
  out.put(uint32_t{0});
  out.put(index.bytes);
  out.put(index_at);
  out.put(static_cast<uint64_t>(index_bytes.size()));
  out.put(checksum(index_bytes));
  out.put(static_cast<uint64_t>(index.pieces.size()));
  out.put(checksum(bytes));
  return bytes;
}

Result<FrameFileHeader> parse_header(ByteSpan bytes, uint64_t file_bytes) {
  if (!is_frame_file(bytes)) return corrupt("not a frame file: it does not begin with NEVEFILE");
  if (bytes.size() < frame_file_header_bytes) {
    return corrupt(fmt::format("the file ends after {} of its header's {} bytes", bytes.size(),
                               frame_file_header_bytes));
  }
  ByteReader in(bytes.first(frame_file_header_bytes));
  in.get_bytes(magic.size());
  FrameFileHeader header;
  header.layout = in.get<uint32_t>();
  const auto dtype_or_flags = in.get<uint32_t>();
  constexpr size_t checked_bytes = frame_file_header_bytes - checksum_bytes;
  ByteReader last(bytes.subspan(checked_bytes));
  if (!checksum_matches(bytes.first(checked_bytes), last.get<uint64_t>())) {
    return corrupt("the frame file's header does not match its checksum");
  }
  if (header.layout == 0 || header.layout > frame_file_layout) {
    return corrupt(
        fmt::format("frame file of version {}; this neve reads 1 to {}", header.layout, frame_file_layout));
  }
  NEVE_TRY(header.layout == 1 ? read_layout_1(in, header, dtype_or_flags)
                              : read_layout_2(in, header, dtype_or_flags));
  if (header.index_at < frame_file_header_bytes || header.index_at > file_bytes ||
      header.index_bytes > file_bytes - header.index_at) {
    return corrupt(fmt::format("an index of {} bytes at byte {} lies outside the file's {} bytes",
                               header.index_bytes, header.index_at, file_bytes));
  }
  return header;
}

Result<FramePiece> read_piece(ByteReader& in, uint64_t file_bytes, uint32_t layout) {
  FramePiece piece;
  NEVE_TRY(read_kind(in.get<uint8_t>(), piece));
  if (piece.kind != PieceKind::zeros) {
    piece.at = in.get_varint();
    piece.bytes = in.get_varint();
    NEVE_TRY(check_stored(piece, file_bytes));
  }
  if (piece.kind == PieceKind::frame && layout > 2) {
    NEVE_ASSIGN(piece.head, read_head(in));
  }
  if (piece.kind == PieceKind::raw) piece.checksum = in.get<uint64_t>();
  const uint64_t boxes = in.get_varint();
  if (boxes == 0) return corrupt("it has no box, or the index ends before");
  NEVE_ASSIGN(piece.place, FilePlace::read(in, boxes));
  NEVE_TRY(check_values(piece));
  return piece;
}

Result<FrameFileIndex> parse_index(const FrameFileHeader& header, ByteSpan bytes, uint64_t file_bytes) {
  if (bytes.size() != header.index_bytes || !checksum_matches(bytes, header.index_checksum)) {
    return corrupt("the frame file's index does not match its checksum");
  }
  Bytes unpacked;
  if (header.layout > 2) {
    NEVE_ASSIGN(unpacked, unpack_index(bytes));
    bytes = unpacked;
  }
  FrameFileIndex index{header.bytes, {}};
  ByteReader in(bytes);
  uint64_t stored = 0;
  for (uint64_t i = 0; i < header.pieces; ++i) {
    auto piece = header.layout == 1 ? read_line_entry(in, header, file_bytes)
                                    : read_piece(in, file_bytes, header.layout);
    if (!piece.ok()) return piece.status().in(fmt::format("piece {}", i));
    // Each has bytes of its own: what is decoded is paid for.
    if (header.layout > 1 && piece->bytes > file_bytes - stored) {
      return corrupt(fmt::format("pieces 0 to {} have more bytes than the file's {}", i, file_bytes));
    }
    stored += piece->bytes;
    index.pieces.push_back(std::move(*piece));
  }
  if (in.remaining() != 0)
    return corrupt(fmt::format("{} bytes behind the index's last piece", in.remaining()));
  return index;
}

}  // namespace neve
