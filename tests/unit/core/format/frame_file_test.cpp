// SPDX-License-Identifier: BSD-3-Clause
// Header and index of frame files: what is written is read, and every field that is wrong is refused.
#include "core/format/frame_file.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "core/bits/checksum.hpp"
#include "core/codecs/frame_values.hpp"
#include "core/format/frame_header.hpp"
#include "core/format/piece_finder.hpp"
#include "core/stages/lossless/byte_pack.hpp"
#include "tests/support/any_boxes.hpp"

namespace neve {
namespace {

constexpr uint64_t file_bytes = 5000;

FramePiece piece_of(PieceKind kind, const std::vector<FileBox>& boxes, DType dtype = DType::f32) {
  FramePiece piece;
  piece.kind = kind;
  if (kind == PieceKind::frame) piece.dtype = dtype;
  if (kind != PieceKind::zeros) {
    piece.at = 64;
    piece.bytes = 100;
  }
  if (kind == PieceKind::raw) piece.checksum = 77;
  piece.place = FilePlace(boxes);
  return piece;
}

FileBox rows(uint64_t first, uint32_t value_bytes = 4) {
  FileBox box{first, value_bytes, 2, {}};
  box.directions[0] = {3, 100};
  box.directions[1] = {5, value_bytes};
  return box;
}

FrameFileIndex three_pieces() {
  return {
      2000,
      {piece_of(PieceKind::frame, {rows(40)}), piece_of(PieceKind::raw, {line_box(3, 1, 20), rows(50, 7)}),
       piece_of(PieceKind::zeros, {line_box(1000, 1, 1000)})}};
}

Result<FrameFileIndex> parsed(ByteSpan header, ByteSpan index) {
  NEVE_ASSIGN(const FrameFileHeader head, parse_header(header, file_bytes));
  return parse_index(head, index, file_bytes);
}

void expect_same(const FramePiece& a, const FramePiece& b) {
  EXPECT_EQ(a.kind, b.kind);
  EXPECT_EQ(a.dtype, b.dtype);
  EXPECT_EQ(a.at, b.at);
  EXPECT_EQ(a.bytes, b.bytes);
  EXPECT_EQ(a.checksum, b.checksum);
  EXPECT_EQ(a.head, b.head);
  EXPECT_EQ(a.place, b.place);
  EXPECT_EQ(a.place.unpacked(), b.place.unpacked());
  EXPECT_EQ(a.place.bytes(), b.place.bytes());
  EXPECT_EQ(a.place.first(), b.place.first());
  EXPECT_EQ(a.place.end(), b.place.end());
}

TEST(FrameFile, ReadsWhatItWrote) {
  FrameFileIndex index = three_pieces();
  index.pieces[0].head = Bytes(90, std::byte{5});
  const Bytes listed = index_bytes(index);
  const Bytes header = header_bytes(index, 900, listed);
  EXPECT_EQ(header.size(), frame_file_header_bytes);
  const auto read = parsed(header, listed);
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(read->bytes, 2000u);
  ASSERT_EQ(read->pieces.size(), 3u);
  for (size_t i = 0; i < 3; ++i) expect_same(read->pieces[i], index.pieces[i]);
}

TEST(FrameFile, PlacesAreReadAsTheyWereWritten) {
  test::AnyBoxes any(11);
  for (int trial = 0; trial < 2000; ++trial) {
    const std::vector<FileBox> boxes = any.list(6);
    const FilePlace place(boxes);
    ASSERT_EQ(place.unpacked(), boxes);
    Bytes bytes;
    ByteWriter out(bytes);
    place.write(out);
    ByteReader in(bytes);
    const auto read = FilePlace::read(in, boxes.size());
    ASSERT_TRUE(read.ok()) << read.status().message();
    ASSERT_EQ(read->unpacked(), boxes);
    ASSERT_EQ(in.remaining(), 0u);
    // Without its end it is none.
    ByteReader cut(ByteSpan(bytes).first(any.upto(bytes.size() - 1)));
    ASSERT_EQ(FilePlace::read(cut, boxes.size()).status().code(), Code::corrupt);
  }
}

// A header of layout 2 or 3 out of its fields, with a checksum that matches.
struct HeaderFields {
  std::string magic = "NEVEFILE";
  uint32_t layout = 3, flags = 0;
  uint64_t bytes = 2000, index_at = 64, index_bytes = 0, index_checksum = 0, pieces = 0;

  Bytes made() const {
    Bytes made;
    ByteWriter out(made);
    out.put_bytes(magic.data(), magic.size());
    out.put(layout);
    out.put(flags);
    for (const uint64_t field : {bytes, index_at, index_bytes, index_checksum, pieces}) out.put(field);
    out.put(checksum(made));
    return made;
  }
};

void expect_refused(const Status& status, const std::string& words) {
  EXPECT_EQ(status.code(), Code::corrupt) << words;
  EXPECT_NE(status.message().find(words), std::string::npos) << status.message();
}

TEST(FrameFile, RefusesEveryFieldOfAHeaderThatIsWrong) {
  ASSERT_TRUE(parse_header(HeaderFields().made(), file_bytes).ok());
  const auto refused = [](const std::function<void(HeaderFields&)>& change, const std::string& words) {
    HeaderFields fields;
    change(fields);
    expect_refused(parse_header(fields.made(), file_bytes).status(), words);
  };
  refused([](auto& f) { f.magic = "NEVEFILX"; }, "does not begin with NEVEFILE");
  refused([](auto& f) { f.layout = 0; }, "version 0; this neve reads 1 to 3");
  refused([](auto& f) { f.layout = 4; }, "version 4");
  refused([](auto& f) { f.flags = 1; }, "flags are 1");
  refused([](auto& f) { f.bytes = max_file_bytes + 1; }, "at most 4611686018427387904");
  refused([](auto& f) { f.index_at = 63; }, "at byte 63");
  refused([](auto& f) { f.index_at = file_bytes + 1; }, "lies outside the file's 5000 bytes");
  refused([](auto& f) { f.index_bytes = file_bytes - 63; }, "lies outside");
  refused([](auto& f) { f.index_bytes = UINT64_MAX; }, "lies outside");
  refused([](auto& f) { f.layout = 2, f.index_bytes = 10, f.pieces = 3; },
          "3 pieces in an index of 10 bytes");
  // One that unpacks to 16 times its bytes, and 2^16 more.
  refused([](auto& f) { f.index_bytes = 10, f.pieces = 13140; }, "13140 pieces in an index of 10 bytes");
  refused([](auto& f) { f.pieces = UINT64_MAX; }, "pieces in an index of 0 bytes");
  // Layout 1 has a type in the place of the flags, and entries in that of the index's bytes.
  refused([](auto& f) { f.layout = 1, f.flags = 10; }, "dtype is 10");
  refused([](auto& f) { f.layout = 1, f.bytes = max_elements + 1; }, "at most");
  refused([](auto& f) { f.layout = 1, f.index_bytes = 155; }, "lies outside");
  refused([](auto& f) { f.layout = 1, f.index_bytes = UINT64_MAX / 32 + 1; }, "entries");
  refused([](auto& f) { f.layout = 1, f.pieces = 1; }, "reserved");

  Bytes damaged = HeaderFields().made();
  damaged[20] ^= std::byte{1};
  expect_refused(parse_header(damaged, file_bytes).status(), "does not match its checksum");
  damaged = HeaderFields().made();
  damaged.resize(63);
  expect_refused(parse_header(damaged, file_bytes).status(), "after 63 of its header's 64 bytes");
}

// A piece of layout 2 or 3 out of its fields.
struct BoxFields {
  uint64_t gap = 40, value_bytes = 4;
  uint8_t ndim = 1;
  std::vector<uint64_t> directions = {5, 0};  // fastest first: how many, and what is between them
};
struct PieceFields {
  uint8_t kind = 0;
  uint64_t at = 64, bytes = 100;
  uint64_t boxes = 1;
  uint64_t head_bytes = 3;
  std::string head = "abc";
  BoxFields box;

  Bytes made(uint32_t layout = 3) const {
    Bytes made;
    ByteWriter out(made);
    out.put(kind);
    if (kind != 255) {
      out.put_varint(at);
      out.put_varint(bytes);
    }
    if (layout == 3 && kind < 254) {
      out.put_varint(head_bytes);
      out.put_bytes(head.data(), head.size());
    }
    if (kind == 254) out.put(uint64_t{0});
    out.put_varint(boxes);
    out.put_varint(box.gap);
    out.put_varint(box.value_bytes);
    out.put(box.ndim);
    for (const uint64_t number : box.directions) out.put_varint(number);
    return made;
  }
};

// An index of any bytes.
Status parse_any(const Bytes& index, uint64_t pieces, uint32_t layout = 3) {
  HeaderFields header;
  header.layout = layout;
  header.index_bytes = index.size();
  header.index_checksum = checksum(index);
  header.pieces = pieces;
  return parsed(header.made(), index).status();
}
Status parse_pieces(const Bytes& listed, uint64_t pieces, uint32_t layout = 3) {
  if (layout == 2) return parse_any(listed, pieces, layout);
  Bytes index;
  ByteWriter out(index);
  write_raw(listed, out);
  return parse_any(index, pieces);
}

class FrameFileOfLayout : public testing::TestWithParam<uint32_t> {};
INSTANTIATE_TEST_SUITE_P(Layouts, FrameFileOfLayout, testing::Values(2u, 3u));

TEST_P(FrameFileOfLayout, RefusesEveryFieldOfAPieceThatIsWrong) {
  const uint32_t layout = GetParam();
  ASSERT_TRUE(parse_pieces(PieceFields().made(layout), 1, layout).ok());
  const auto refused = [&](const std::function<void(PieceFields&)>& change, const std::string& words) {
    PieceFields fields;
    change(fields);
    expect_refused(parse_pieces(fields.made(layout), 1, layout), words);
    expect_refused(parse_pieces(fields.made(layout), 1, layout), "piece 0");
  };
  refused([](auto& f) { f.kind = 10; }, "its kind is 10");
  refused([](auto& f) { f.kind = 253; }, "its kind is 253");
  refused([](auto& f) { f.at = 63; }, "100 bytes at byte 63 lie outside");
  refused([](auto& f) { f.at = file_bytes - 99; }, "lie outside");
  refused([](auto& f) { f.bytes = UINT64_MAX; }, "lie outside");
  refused([](auto& f) { f.boxes = 0; }, "has no box");
  refused([](auto& f) { f.boxes = 2; }, "ends within box 1 of 2");
  refused([](auto& f) { f.boxes = UINT64_MAX; }, "ends within box 1");
  refused([](auto& f) { f.box.gap = max_file_bytes; }, "ends behind");
  refused([](auto& f) { f.box.gap = UINT64_MAX; }, "at most");
  refused([](auto& f) { f.box.value_bytes = 0; }, "0 bytes");
  refused([](auto& f) { f.box.value_bytes = uint64_t{1} << 32; }, "0 bytes");
  refused([](auto& f) { f.box.value_bytes = 8; }, "values of 8 bytes for a frame of f32");
  refused([](auto& f) { f.kind = 1; }, "values of 4 bytes for a frame of f64");
  refused([](auto& f) { f.box.ndim = 5; }, "ends within box 0");
  refused([](auto& f) { f.box.ndim = 5, f.box.directions = {1, 0, 1, 0, 1, 0, 1, 0}; }, "5 directions");
  refused([](auto& f) { f.box.directions = {0, 0}; }, "has no values");
  refused([](auto& f) { f.box.directions = {max_file_bytes, 0}; }, "ends behind");
  refused([](auto& f) { f.box.directions = {UINT64_MAX, UINT64_MAX}; }, "ends behind");
  refused([](auto& f) { f.box.directions = {2, max_file_bytes}; }, "ends behind");
  refused(
      [](auto& f) {
        f.box.directions = {(max_frame_value_bytes >> 2) + 1, 0};
      },
      "bytes of values; at most");
  refused([](auto& f) { f.kind = 254, f.box.directions = {(max_frame_value_bytes >> 2) + 1, 0}; }, "at most");
  refused([](auto& f) { f.box.directions = {5}; }, "ends within box 0");

  // Zeros may be as many as they are, and raw values of any size.
  PieceFields fields;
  fields.kind = 255;
  fields.box.directions = {uint64_t{1} << 50, 0};
  EXPECT_TRUE(parse_pieces(fields.made(layout), 1, layout).ok());
  fields = {};
  fields.kind = 254;
  fields.box.value_bytes = 13;
  EXPECT_TRUE(parse_pieces(fields.made(layout), 1, layout).ok());
}

TEST(FrameFile, RefusesHeadsThatTheIndexDoesNotHold) {
  PieceFields fields;
  for (const uint64_t bytes : {uint64_t{100}, UINT64_MAX}) {
    fields.head_bytes = bytes;
    expect_refused(parse_pieces(fields.made(), 1), "and the index ends after");
  }
  fields.head_bytes = 4;  // one of what follows
  EXPECT_EQ(parse_pieces(fields.made(), 1).code(), Code::corrupt);
}

TEST(FrameFile, RefusesAPackedIndexThatIsNone) {
  const Bytes one = PieceFields().made();
  Bytes packed;
  ByteWriter out(packed);
  write_raw(one, out);
  EXPECT_TRUE(parse_any(packed, 1).ok());
  out.put(uint8_t{0});
  EXPECT_TRUE(parse_any(packed, 1).ok());
  out.put(uint8_t{7});
  expect_refused(parse_any(packed, 1), "2 bytes behind the packed index that are not all 0");
  EXPECT_EQ(parse_any({}, 0).code(), Code::corrupt);
  // More than such an index may unpack to.
  Bytes large(uint64_t{1} << 20), small;
  ByteWriter packer(small);
  write_packed(large, packer);
  ASSERT_LT(small.size(), 1000u);
  expect_refused(parse_any(small, 1), "above the");
}

TEST(FrameFile, AnIndexOfManyLikePiecesIsReadAsWritten) {
  FrameFileIndex index{uint64_t{1} << 40, {}};
  for (int i = 0; i < 30000; ++i) {
    index.pieces.push_back(piece_of(PieceKind::zeros, {line_box(1 << 20, 1, 1000)}));
  }
  const Bytes listed = index_bytes(index);
  Bytes unpacked;
  ByteWriter out(unpacked);
  for (const FramePiece& piece : index.pieces) write_piece(piece, out);
  EXPECT_LT(listed.size(), unpacked.size() / 16);
  const uint64_t long_file = 64 + listed.size();
  const auto header = parse_header(header_bytes(index, 64, listed), long_file);
  ASSERT_TRUE(header.ok()) << header.status().message();
  const auto read = parse_index(*header, listed, long_file);
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(read->pieces.size(), index.pieces.size());
}

Bytes frame_of(uint64_t side) {
  std::vector<float> values(side * side);
  uint32_t noise = 1;
  for (float& value : values) {
    noise = noise * 1664525u + 1013904223u;
    value = static_cast<float>(noise >> 8);
  }
  ArrayOptions options;
  options.bound = {BoundMode::abs, 1e-3};
  const uint64_t shape[] = {side, side};
  auto frame = encode_array(DType::f32, shape, values.data(), options);
  EXPECT_TRUE(frame.ok()) << frame.status().message();
  return frame.ok() ? std::move(*frame) : Bytes();
}

TEST(FrameFile, TheIndexHoldsTheHeadersOfSmallFrames) {
  const Bytes small = frame_of(20), large = frame_of(200);
  FramePiece piece = piece_of(PieceKind::frame, {line_box(0, 4, 400)});
  const ByteSpan stored = take_head(small, piece);
  EXPECT_EQ(piece.head.size() + checksum_bytes + stored.size(), small.size());
  EXPECT_GT(piece.head.size(), frame_prefix_bytes);
  Bytes room;
  EXPECT_TRUE(std::ranges::equal(with_head(piece, stored, room), small));
  FramePiece of_large = piece_of(PieceKind::frame, {line_box(0, 4, 40000)});
  ASSERT_GT(large.size(), 32768u);
  EXPECT_EQ(take_head(large, of_large).data(), large.data());
  EXPECT_TRUE(of_large.head.empty());
  EXPECT_EQ(with_head(of_large, large, room).data(), large.data());

  std::vector<std::byte> out(1600);
  const FileBox asked = line_box(0, 4, 400);
  EXPECT_TRUE(put_piece(piece, stored, {&asked, 1}, out.data()).ok());
  // Nothing is held for more values than the frame has.
  FramePiece lying = piece;
  lying.place = FilePlace(line_box(0, 4, uint64_t{1} << 28));
  const FileBox part = line_box(4, 4, 1);
  const Status refused = put_piece(lying, stored, {&part, 1}, out.data());
  expect_refused(refused, "the frame holds 400 f32 values; 268435456 f32 values are expected");
  // A head that says another length, or is cut, is no frame's.
  for (const int change : {1, -1}) {
    FramePiece wrong = piece;
    wrong.head[8] = static_cast<std::byte>(static_cast<int>(wrong.head[8]) + change);
    EXPECT_EQ(put_piece(wrong, stored, {&asked, 1}, out.data()).code(), Code::corrupt);
    wrong = piece;
    wrong.head.resize(piece.head.size() + static_cast<size_t>(change));
    EXPECT_EQ(put_piece(wrong, stored, {&asked, 1}, out.data()).code(), Code::corrupt);
  }
}

TEST(FrameFile, RefusesAnIndexThatIsNotItsPieces) {
  PieceFields fields;
  fields.at = 300;
  const Bytes one = fields.made();
  Bytes two = one;
  two.insert(two.end(), one.begin(), one.end());
  EXPECT_TRUE(parse_pieces(two, 2).ok());
  expect_refused(parse_pieces(two, 1), "bytes behind the index's last piece");
  expect_refused(parse_pieces(one, 2), "piece 1");
  // Together they would be read more than once.
  PieceFields large;
  large.bytes = file_bytes - 64;
  two = large.made();
  two.insert(two.end(), one.begin(), one.end());
  EXPECT_TRUE(parse_pieces(large.made(), 1).ok());
  expect_refused(parse_pieces(two, 2), "have more bytes than the file's");

  HeaderFields header;
  header.layout = 2;
  header.index_bytes = one.size();
  header.pieces = 1;
  header.index_checksum = checksum(one) + 1;
  expect_refused(parsed(header.made(), one).status(), "index does not match its checksum");
}

TEST(FrameFile, RefusesEveryFieldOfAnEntryOfLayout1ThatIsWrong) {
  const auto parse = [](uint64_t first, uint64_t count, uint64_t at, uint64_t bytes) {
    Bytes entry;
    ByteWriter out(entry);
    for (const uint64_t field : {first, count, at, bytes}) out.put(field);
    HeaderFields header;
    header.layout = 1;
    header.index_bytes = 1;  // entries
    header.index_checksum = checksum(entry);
    return parsed(header.made(), entry);
  };
  const auto read = parse(10, 1990, 64, 100);
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(read->bytes, 8000u);
  EXPECT_EQ(line_dtype(*read), DType::f32);
  EXPECT_EQ(read->pieces[0].place.unpacked(), std::vector<FileBox>{line_box(40, 4, 1990)});
  expect_refused(parse(0, 0, 64, 100).status(), "0 values from 0 on, of 2000");
  expect_refused(parse(2001, 1, 64, 100).status(), "from 2001 on");
  expect_refused(parse(10, 1991, 64, 100).status(), "1991 values");
  expect_refused(parse(UINT64_MAX, 2, 64, 100).status(), "2 values");
  expect_refused(parse(0, 1, 63, 100).status(), "at byte 63");
  expect_refused(parse(0, 1, 64, file_bytes).status(), "lie outside");
}

TEST(FrameFile, IsALineOfOneTypeWhereItIsOne) {
  const auto dtype = [](const std::vector<FramePiece>& pieces, uint64_t bytes) {
    return line_dtype({bytes, pieces});
  };
  const FramePiece floats = piece_of(PieceKind::frame, {rows(40)});
  const FramePiece doubles = piece_of(PieceKind::frame, {rows(400, 8)}, DType::f64);
  EXPECT_EQ(dtype({floats, floats}, 2000), DType::f32);
  EXPECT_EQ(dtype({floats}, 2001), std::nullopt);
  EXPECT_EQ(dtype({floats, doubles}, 2000), std::nullopt);
  EXPECT_EQ(dtype({floats, piece_of(PieceKind::raw, {line_box(0, 4, 1)})}, 2000), std::nullopt);
  EXPECT_EQ(dtype({piece_of(PieceKind::frame, {rows(42)})}, 2000), std::nullopt);
  EXPECT_EQ(dtype({}, 2000), std::nullopt);
  // Rows of doubles that begin every 100 bytes.
  EXPECT_EQ(dtype({doubles}, 2000), std::nullopt);
}

TEST(FrameFile, DropsPiecesThatCountNoMore) {
  const auto firsts = [](std::vector<FramePiece> pieces, uint64_t bytes) {
    drop_idle(pieces, bytes);
    std::vector<uint64_t> ats;
    for (const FramePiece& piece : pieces) ats.push_back(piece.at);
    return ats;
  };
  const auto at = [](uint64_t number, uint64_t first, uint64_t count, PieceKind kind = PieceKind::frame) {
    FramePiece piece = piece_of(kind, {line_box(first, 4, count)});
    piece.at = number;
    return piece;
  };
  EXPECT_EQ(firsts({at(1, 0, 10), at(2, 0, 11), at(3, 0, 10), at(4, 4, 9)}, 100),
            (std::vector<uint64_t>{2, 3, 4}));
  EXPECT_EQ(firsts({at(1, 0, 10), at(2, 80, 5), at(3, 100, 5)}, 100), (std::vector<uint64_t>{1, 2}));
  // Zeros behind the end stay where they hide something.
  EXPECT_EQ(firsts({at(1, 0, 30), at(2, 100, 9, PieceKind::zeros)}, 100), (std::vector<uint64_t>{1, 2}));
  EXPECT_EQ(firsts({at(1, 0, 25), at(2, 100, 9, PieceKind::zeros)}, 100), (std::vector<uint64_t>{1}));
  EXPECT_EQ(firsts({at(1, 100, 9, PieceKind::zeros), at(2, 0, 30)}, 100), (std::vector<uint64_t>{2}));
}

TEST(PieceFinder, FindsThePiecesThatHoldSomeOfTheBoxes) {
  test::AnyBoxes any(12);
  for (int trial = 0; trial < 400; ++trial) {
    std::vector<FramePiece> pieces;
    std::vector<std::vector<uint64_t>> held;
    for (uint64_t n = any.upto(20); n > 0; --n) {
      std::vector<FileBox> boxes = any.list(3);
      const uint64_t shift = any.upto(300);
      for (FileBox& box : boxes) box.first += shift;
      held.push_back(test::file_bytes_of(boxes));
      pieces.push_back(piece_of(PieceKind::raw, boxes));
    }
    const PieceFinder finder(pieces);
    for (int ask = 0; ask < 20; ++ask) {
      const std::vector<FileBox> asked = ask < 10 ? any.list(2) : std::vector{line_box(any.upto(400), 1, 5)};
      const std::vector<uint64_t> bytes = test::file_bytes_of(asked);
      std::vector<size_t> wanted;
      for (size_t i = 0; i < pieces.size(); ++i) {
        const bool is_met = std::ranges::any_of(
            held[i], [&](uint64_t byte) { return std::ranges::binary_search(bytes, byte); });
        if (is_met) wanted.push_back(i);
      }
      ASSERT_EQ(finder.find(pieces, asked), wanted);
    }
  }
}

}  // namespace
}  // namespace neve
