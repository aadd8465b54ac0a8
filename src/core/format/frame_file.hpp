// SPDX-License-Identifier: BSD-3-Clause
// A frame file: a line of bytes, as a program would have written it, in pieces that any number of ranks
// wrote. The header stands at the file's beginning and leads to the index, which leads to the pieces.
// docs/format.md is the contract for the bytes; this is their arithmetic, without a file.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/bits/bytes.hpp"
#include "core/format/file_place.hpp"
#include "neve/status.hpp"
#include "neve/types.hpp"

namespace neve {

inline constexpr uint64_t frame_file_header_bytes = 64;
inline constexpr uint32_t frame_file_layout = 3;  // that is written
// Values of one piece: what a reader may have to hold besides what it was asked for.
inline constexpr uint64_t max_frame_value_bytes = uint64_t{1} << 30;

// frame: values of a type, as a frame. raw: bytes, packed (stages/lossless/byte_pack.hpp). zeros: nothing is
// stored for it; what earlier pieces hold there counts no more.
enum class PieceKind : uint8_t { frame, raw, zeros };

struct FramePiece {
  PieceKind kind = PieceKind::frame;
  DType dtype = DType::f32;  // of a frame's values
  uint64_t at = 0;           // of its first stored byte in the frame file
  uint64_t bytes = 0;        // stored
  uint64_t checksum = 0;     // of what is stored, where it is raw: a frame has its own
  Bytes head;                // of a frame whose header the index holds (take_head): without its checksum
  FilePlace place;           // of its values in the logical file
};

// What the index lists, in the order in which it was written: where pieces overlap the later one counts.
// Bytes that no piece holds are 0.
struct FrameFileIndex {
  uint64_t bytes = 0;  // of the logical file; pieces may end behind it, after it was made shorter
  std::vector<FramePiece> pieces;
};

// The one type of a file that is a line of values of it: of frames alone, whose values begin at multiples of
// their size, as its end is. Nothing where it is no such line, or has no frames.
std::optional<DType> line_dtype(const FrameFileIndex& index);
bool is_in_line(const FramePiece& piece);

// Leaves out pieces that count no more: those that a later one replaces, box by box, and those that begin
// behind the end, `bytes`, of the logical file.
void drop_idle(std::vector<FramePiece>& pieces, uint64_t bytes);

struct FrameFileHeader {
  uint32_t layout = frame_file_layout;
  DType dtype = DType::f32;  // layout 1: of all frames
  uint64_t bytes = 0;        // of the logical file
  uint64_t index_at = frame_file_header_bytes;
  uint64_t index_bytes = 0;
  uint64_t pieces = 0;
  uint64_t index_checksum = 0;
};

// Whether a file that begins like this is a frame file.
bool is_frame_file(ByteSpan beginning);

// The headers of small frames of a file are much alike, and take little room in the index, which is packed:
// for such a frame `piece.head` is set, and what is to be stored in its place is the rest of it; else all of
// it.
ByteSpan take_head(ByteSpan frame, FramePiece& piece);
// The whole frame again. `room` holds it where it is in two parts.
ByteSpan with_head(const FramePiece& piece, ByteSpan stored, Bytes& room);

// One after another; as the written layout has them in its index, before that is packed.
void write_piece(const FramePiece& piece, ByteWriter& out);
Bytes index_bytes(const FrameFileIndex& index);
// The header that leads to the index's bytes where they stand at `index_at`.
Bytes header_bytes(const FrameFileIndex& index, uint64_t index_at, ByteSpan index_bytes);

// Errors: corrupt. `file_bytes`: length of the file.
Result<FrameFileHeader> parse_header(ByteSpan bytes, uint64_t file_bytes);
Result<FrameFileIndex> parse_index(const FrameFileHeader& header, ByteSpan bytes, uint64_t file_bytes);
Result<FramePiece> read_piece(ByteReader& in, uint64_t file_bytes, uint32_t layout = frame_file_layout);

}  // namespace neve
