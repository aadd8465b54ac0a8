// SPDX-License-Identifier: BSD-3-Clause
// Bytes of the logical file out of pieces, against what they were made of.
#include "core/codecs/frame_values.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "core/bits/checksum.hpp"
#include "tests/support/any_boxes.hpp"

namespace neve {
namespace {

using test::AnyBoxes;
using test::file_bytes_of;

struct Stored {
  FramePiece piece;
  Bytes bytes;
  Bytes values;
};

Stored any_piece(AnyBoxes& any) {
  Stored stored;
  const uint64_t kind = any.upto(3);
  stored.piece.kind = kind == 0 ? PieceKind::raw : kind == 1 ? PieceKind::zeros : PieceKind::frame;
  if (kind == 3) stored.piece.dtype = DType::f64;
  const auto value_bytes = static_cast<uint32_t>(kind < 2 ? 0 : dtype_bytes(stored.piece.dtype));
  stored.piece.place = FilePlace(any.list(3, value_bytes));
  stored.values.resize(stored.piece.place.bytes());
  if (kind == 1) return stored;
  for (std::byte& byte : stored.values) byte = static_cast<std::byte>(any.upto(255));
  if (kind == 0) {
    stored.bytes = pack_raw(stored.values);
    stored.piece.checksum = checksum(stored.bytes);
  } else {
    ArrayOptions options;
    options.bound = {BoundMode::lossless, 0};
    const std::vector<uint64_t> shape = {stored.values.size() / value_bytes};
    stored.bytes = *encode_array(stored.piece.dtype, shape, stored.values.data(), options);
  }
  stored.piece.bytes = stored.bytes.size();
  return stored;
}

TEST(FrameValues, OfPiecesGoWhereTheyAreAskedFor) {
  AnyBoxes any(21);
  for (int trial = 0; trial < 1500; ++trial) {
    const Stored stored = any_piece(any);
    const auto places = file_bytes_of(stored.piece.place.unpacked());
    std::vector<FileBox> asked = any.list(3);
    if (trial % 3 == 0) asked = {line_box(any.upto(50), 1, 1 + any.upto(2000))};
    const auto wanted_places = file_bytes_of(asked);
    Bytes wanted(wanted_places.size(), std::byte{0x5a});
    Bytes got = wanted;
    for (size_t i = 0; i < wanted.size(); ++i) {
      const auto found = std::ranges::lower_bound(places, wanted_places[i]);
      if (found == places.end() || *found != wanted_places[i]) continue;
      wanted[i] = stored.values[static_cast<size_t>(found - places.begin())];
    }
    const Status put = put_piece(stored.piece, stored.bytes, asked, got.data());
    ASSERT_TRUE(put.ok()) << put.message();
    ASSERT_EQ(got, wanted);
  }
}

void expect_corrupt(const FramePiece& piece, const Bytes& stored, const char* words) {
  Bytes out(10000);
  const FileBox all = line_box(0, 1, out.size());
  const Status put = put_piece(piece, stored, {&all, 1}, out.data());
  EXPECT_EQ(put.code(), Code::corrupt);
  EXPECT_NE(put.message().find(words), std::string::npos) << put.message();
}

TEST(FrameValues, OfPiecesThatAreNotWhatTheIndexSaysAreRefused) {
  FramePiece piece;
  piece.kind = PieceKind::raw;
  piece.place = FilePlace(line_box(0, 1, 100));
  Bytes stored = pack_raw(Bytes(100, std::byte{7}));
  piece.checksum = checksum(stored);
  Bytes damaged = stored;
  damaged[1] ^= std::byte{1};
  expect_corrupt(piece, damaged, "do not match their checksum");
  const auto with_checksum = [&](const Bytes& bytes) {
    FramePiece of = piece;
    of.checksum = checksum(bytes);
    return of;
  };
  const Bytes fewer = pack_raw(Bytes(99, std::byte{7})), more = pack_raw(Bytes(101, std::byte{7}));
  expect_corrupt(with_checksum(fewer), fewer, "raw bytes of 99; 100 are expected");
  expect_corrupt(with_checksum(more), more, "");
  stored.push_back(std::byte{0});
  expect_corrupt(with_checksum(stored), stored, "nothing behind them");
  expect_corrupt(with_checksum({}), {}, "");

  const std::vector<float> values(25, 1.5f);
  const std::vector<uint64_t> shape = {25};
  const Bytes frame = *encode_array(DType::f32, shape, values.data(), {});
  FramePiece of_frame;
  of_frame.place = FilePlace(line_box(0, 4, 26));
  expect_corrupt(of_frame, frame, "holds 25 f32 values; 26 f32 values are expected");
  of_frame.dtype = DType::f64;
  of_frame.place = FilePlace(line_box(0, 8, 25));
  expect_corrupt(of_frame, frame, "25 f64 values are expected");
  expect_corrupt(of_frame, stored, "");
}

}  // namespace
}  // namespace neve
