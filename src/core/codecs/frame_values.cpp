// SPDX-License-Identifier: BSD-3-Clause
#include "core/codecs/frame_values.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/bits/checksum.hpp"
#include "core/format/file_runs.hpp"
#include "core/stages/lossless/byte_pack.hpp"

namespace neve {
namespace {

Status check_holds(const Frame& frame, DType dtype, uint64_t values) {
  if (frame.dtype() == dtype && frame.shape().element_count == values) return {};
  return corrupt(fmt::format("the frame holds {} {} values; {} {} values are expected",
                             frame.shape().element_count, dtype_name(frame.dtype()), values,
                             dtype_name(dtype)));
}

Status wrong_raw(uint64_t found, uint64_t expected) {
  return corrupt(fmt::format("raw bytes of {}; {} are expected, and nothing behind them", found, expected));
}

// All of a piece, packed.
Status decode_piece(const FramePiece& piece, ByteSpan stored, std::byte* out, int threads) {
  const uint64_t bytes = piece.place.bytes();
  if (piece.kind == PieceKind::frame) {
    return decode_values(stored, piece.dtype, bytes / dtype_bytes(piece.dtype), out, threads);
  }
  ByteReader in(stored);
  NEVE_ASSIGN(const Bytes raw, read_packed(in, bytes));
  if (raw.size() != bytes || in.remaining() != 0) return wrong_raw(raw.size(), bytes);
  std::ranges::copy(raw, out);
  return {};
}

// Values of a file may begin at any byte of it, and so at any address of what was asked for.
bool is_aligned_to(DType dtype, const std::byte* place) {
  return reinterpret_cast<uintptr_t>(place) % dtype_bytes(dtype) == 0;
}

// Nothing is held for a piece that cannot be what the index says.
Status check_stored(const FramePiece& piece, ByteSpan stored) {
  const uint64_t bytes = piece.place.bytes();
  if (piece.kind == PieceKind::frame) {
    NEVE_ASSIGN(const Frame frame, Frame::parse(stored));
    return check_holds(frame, piece.dtype, bytes / dtype_bytes(piece.dtype));
  }
  if (!checksum_matches(stored, piece.checksum)) return corrupt("raw bytes do not match their checksum");
  ByteReader in(stored);
  in.get<uint8_t>();  // how they are packed
  const uint64_t declared = in.get_varint();
  return declared == bytes ? Status() : wrong_raw(declared, bytes);
}

}  // namespace

Status decode_values(ByteSpan bytes, DType dtype, uint64_t values, std::byte* out, int threads) {
  NEVE_ASSIGN(const Frame frame, Frame::parse(bytes));
  NEVE_TRY(check_holds(frame, dtype, values));
  const uint64_t out_bytes = values * dtype_bytes(dtype);
  if (is_aligned_to(dtype, out)) return frame.decode(out, out_bytes, threads);
  Bytes aligned(out_bytes);
  NEVE_TRY(frame.decode(aligned.data(), out_bytes, threads));
  std::ranges::copy(aligned, out);
  return {};
}

Bytes pack_raw(ByteSpan bytes) {
  Bytes packed;
  ByteWriter out(packed);
  write_packed(bytes, out);
  return packed;
}

Status put_piece(const FramePiece& piece, ByteSpan stored, std::span<const FileBox> asked, std::byte* out,
                 int threads) {
  const std::vector<FileBox> boxes = piece.place.unpacked();
  if (piece.kind == PieceKind::zeros) {
    visit_common(asked, boxes,
                 [&](uint64_t at, uint64_t, uint64_t bytes) { std::fill_n(out + at, bytes, std::byte{0}); });
    return {};
  }
  Bytes room;
  stored = with_head(piece, stored, room);
  NEVE_TRY(check_stored(piece, stored));
  const FileBox& first = asked.front();
  const bool is_inside = asked.size() == 1 && first.is_contiguous() && piece.place.is_contiguous() &&
                         piece.place.first() >= first.first && piece.place.end() <= first.end();
  if (is_inside) return decode_piece(piece, stored, out + (piece.place.first() - first.first), threads);
  Bytes all(piece.place.bytes());
  NEVE_TRY(decode_piece(piece, stored, all.data(), threads));
  visit_common(asked, boxes, [&](uint64_t at, uint64_t among, uint64_t bytes) {
    std::copy_n(all.data() + among, bytes, out + at);
  });
  return {};
}

}  // namespace neve
