// SPDX-License-Identifier: BSD-3-Clause
// Frame files of boxes, of several types and of raw bytes, against the file that MPI would have written.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "neve/frame.hpp"
#include "parallel/transfer/frame_file_reader.hpp"
#include "parallel/transfer/frame_file_writer.hpp"
#include "tests/mpi/generated.hpp"
#include "tests/support/any_boxes.hpp"

namespace neve::mpi {
namespace {

using test::AnyBoxes;
using test::file_bytes_of;
using test::world_rank;
using test::world_size;

Transfer lossless(DType dtype) {
  Transfer transfer;
  transfer.dtype = dtype;
  transfer.values.bound = {BoundMode::lossless, 0};
  transfer.block_bytes = 256;
  return transfer;
}

// What a rank writes in a call, the same on all ranks that ask for it.
struct Write {
  Transfer transfer;
  std::vector<FileBox> boxes;
  bool is_raw = false;
  Bytes data;

  FileValues values() const { return {boxes, is_raw, data.data()}; }
};

Write any_write(AnyBoxes& any) {
  Write write;
  const uint64_t kind = any.upto(3);
  const DType dtype = kind == 0 ? DType::f32 : kind == 1 ? DType::f64 : DType::i16;
  write.transfer = lossless(dtype);
  write.is_raw = kind == 3;
  if (any.upto(5) == 0) return write;
  write.boxes = any.list(4, write.is_raw ? 0 : static_cast<uint32_t>(dtype_bytes(dtype)));
  const uint64_t shift = any.upto(1500);
  for (FileBox& box : write.boxes) box.first += shift;
  for (const FileBox& box : write.boxes) write.data.resize(write.data.size() + box.bytes());
  // Any bits: those of signalling NaNs, too.
  for (std::byte& byte : write.data) byte = static_cast<std::byte>(any.upto(255));
  return write;
}

// The file as MPI would have it.
struct Plain {
  std::vector<std::byte> bytes;

  void add(const Write& write) {
    const std::vector<uint64_t> places = file_bytes_of(write.boxes);
    for (size_t i = 0; i < places.size(); ++i) {
      if (places[i] >= bytes.size()) bytes.resize(places[i] + 1);
      bytes[places[i]] = write.data[i];
    }
  }
  Bytes at(const std::vector<FileBox>& boxes) const {
    Bytes found;
    for (const uint64_t place : file_bytes_of(boxes)) found.push_back(bytes[place]);
    return found;
  }
};

// Boxes in any order that lie within the file.
std::vector<FileBox> any_asked(AnyBoxes& any, uint64_t bytes) {
  std::vector<FileBox> asked;
  for (uint64_t n = any.upto(3); n > 0; --n) {
    FileBox box = any.box();
    if (box.span_bytes() > bytes) continue;
    box.first = any.upto(bytes - box.span_bytes());
    asked.push_back(box);
  }
  return asked;
}

template <class File>
void expect_reads(File& file, const Plain& plain, AnyBoxes& any) {
  Moved moved;
  ASSERT_EQ(file.bytes(), plain.bytes.size());
  for (int i = 0; i < 8; ++i) {
    const std::vector<FileBox> asked = any_asked(any, plain.bytes.size());
    const Bytes wanted = plain.at(asked);
    Bytes got(wanted.size(), std::byte{0x5a});
    const Status read = file.read(asked, got.data(), 1, moved);
    ASSERT_TRUE(read.ok()) << read.message();
    ASSERT_EQ(got, wanted);
  }
  Bytes all(plain.bytes.size());
  ASSERT_TRUE(file.read(0, all.size(), all.data(), 2, moved).ok());
  ASSERT_EQ(all, plain.bytes);
}

class FramePieces : public testing::Test {
 protected:
  FramePieces() : directory_(test::make_directory("frame_pieces")), path_(directory_ + "/file.neve") {}
  ~FramePieces() override { test::remove_directory(directory_); }

  std::unique_ptr<FrameFileWriter> open(FrameFileWriter::Begin begin) {
    auto writer = FrameFileWriter::open(MPI_COMM_WORLD, path_, begin);
    EXPECT_TRUE(writer.ok()) << writer.status().message();
    return writer.ok() ? std::move(*writer) : nullptr;
  }

  std::string directory_, path_;
};

// Every rank makes the same choices; `any` is theirs in common.
void write_somehow(FrameFileWriter& writer, Plain& plain, AnyBoxes& any) {
  std::vector<Write> alone, together;
  for (int rank = 0; rank < world_size(); ++rank) {
    for (uint64_t n = any.upto(2); n > 0; --n) {
      alone.push_back(any_write(any));
      Moved moved;
      if (rank != world_rank()) continue;
      ASSERT_TRUE(writer.write(alone.back().transfer, alone.back().values(), moved).ok());
    }
    together.push_back(any_write(any));
  }
  Moved moved;
  const Write& mine = together[static_cast<size_t>(world_rank())];
  const Status written = writer.write_all(mine.transfer, mine.values(), moved);
  ASSERT_TRUE(written.ok()) << written.message();
  for (const Write& write : alone) plain.add(write);
  for (const Write& write : together) plain.add(write);
  if (any.upto(3) == 0) {
    const uint64_t bytes = any.upto(plain.bytes.size() + 100);
    ASSERT_TRUE(writer.set_size(bytes).ok());
    plain.bytes.resize(bytes);
  }
}

TEST_F(FramePieces, HoldWhatAPlainFileWould) {
  AnyBoxes any(40);
  for (int trial = 0; trial < 12; ++trial) {
    Plain plain;
    for (const auto begin : {FrameFileWriter::Begin::anew, FrameFileWriter::Begin::from_existing}) {
      auto writer = open(begin);
      ASSERT_NE(writer, nullptr);
      for (uint64_t step = any.upto(4); step > 0; --step) {
        write_somehow(*writer, plain, any);
        if (any.upto(2) == 0) {
          ASSERT_TRUE(writer->sync().ok());
        }
        if (any.upto(1) == 0) continue;
        ASSERT_TRUE(writer->share_index().ok());
        AnyBoxes own(any.upto(1000) + static_cast<uint64_t>(world_rank()));
        expect_reads(*writer, plain, own);
      }
      ASSERT_TRUE(writer->close().ok());
      auto reader = FrameFileReader::open(MPI_COMM_WORLD, path_);
      ASSERT_TRUE(reader.ok()) << reader.status().message();
      AnyBoxes own(any.upto(1000) + static_cast<uint64_t>(world_rank()));
      expect_reads(**reader, plain, own);
      ASSERT_TRUE((*reader)->close().ok());
    }
  }
}

TEST_F(FramePieces, OfThisRankAreReadBeforeTheyAreInTheFile) {
  auto writer = open(FrameFileWriter::Begin::anew);
  AnyBoxes any(50 + static_cast<uint64_t>(world_rank()));
  Plain plain;
  for (int i = 0; i < 30; ++i) {
    const Write write = any_write(any);
    Moved moved;
    ASSERT_TRUE(writer->write(write.transfer, write.values(), moved).ok());
    plain.add(write);
    expect_reads(*writer, plain, any);
  }
  EXPECT_TRUE(writer->close().ok());
}

TEST_F(FramePieces, ThatAreReplacedLeaveTheIndex) {
  auto writer = open(FrameFileWriter::Begin::anew);
  const std::vector<double> values(1000, 2.5);
  const FileBox mine = line_box(static_cast<uint64_t>(world_rank()) * 8000, 8, 1000);
  Transfer transfer = lossless(DType::f64);
  transfer.block_bytes = 0;
  Moved moved;
  for (int step = 0; step < 300; ++step) {
    ASSERT_TRUE(writer->write_all(transfer, {{&mine, 1}, false, values.data()}, moved).ok());
    if (step % 2 == 0) {
      ASSERT_TRUE(writer->share_index().ok());
    }
  }
  ASSERT_TRUE(writer->close().ok());
  auto reader = FrameFileReader::open(MPI_COMM_WORLD, path_);
  ASSERT_TRUE(reader.ok());
  EXPECT_EQ((*reader)->index().pieces.size(), static_cast<size_t>(world_size()));
  EXPECT_TRUE((*reader)->close().ok());
}

double wave(uint64_t x, uint64_t y, uint64_t z) {
  return std::sin(0.11 * static_cast<double>(x)) * std::cos(0.07 * static_cast<double>(y)) +
         std::sin(0.05 * static_cast<double>(z + x));
}

// Slabs of a cube along its fastest direction, so that each rank's rows lie between those of the others.
TEST_F(FramePieces, OfAFieldAreCodedAsOne) {
  constexpr uint64_t side = 64;
  const auto ranks = static_cast<uint64_t>(world_size()), rank = static_cast<uint64_t>(world_rank());
  const uint64_t begin = side * rank / ranks, width = side * (rank + 1) / ranks - begin;
  std::vector<float> values;
  for (uint64_t z = 0; z < side; ++z) {
    for (uint64_t y = 0; y < side; ++y) {
      for (uint64_t x = begin; x < begin + width; ++x) values.push_back(static_cast<float>(wave(x, y, z)));
    }
  }
  FileBox box{512 + begin * 4, 4, 3, {}};
  box.directions = {{{side, side * side * 4}, {side, side * 4}, {width, 4}, {}}};
  Transfer transfer;
  transfer.values.bound = {BoundMode::rel, 1e-3};
  Moved moved;
  auto writer = open(FrameFileWriter::Begin::anew);
  ASSERT_TRUE(writer->write_all(transfer, {{&box, 1}, false, values.data()}, moved).ok());
  ASSERT_TRUE(writer->close().ok());
  EXPECT_EQ(moved.blocks, 1u);
  const std::vector<uint64_t> shape = {side, side, width};
  ArrayOptions alone;
  alone.bound = {BoundMode::abs, 1e-3 * 4};
  const auto as_array = encode_array(DType::f32, shape, values.data(), alone);
  EXPECT_LT(moved.frame_bytes, 3 * as_array->size());

  auto reader = FrameFileReader::open(MPI_COMM_WORLD, path_);
  ASSERT_TRUE(reader.ok());
  std::vector<float> line(side * side * side);
  ASSERT_TRUE(
      (*reader)->read(512, line.size() * 4, reinterpret_cast<std::byte*>(line.data()), 1, moved).ok());
  for (uint64_t i = 0; i < line.size(); ++i) {
    ASSERT_NEAR(line[i], wave(i % side, i / side % side, i / side / side), 4.1e-3) << i;
  }
  EXPECT_TRUE((*reader)->close().ok());
}

TEST_F(FramePieces, RefuseBoxesThatAreNone) {
  const std::vector<float> values(100);
  const auto refused = [&](const std::vector<FileBox>& boxes, const char* words) {
    for (const bool is_collective : {true, false}) {
      auto writer = open(FrameFileWriter::Begin::anew);
      Moved moved;
      const bool is_last = world_rank() == world_size() - 1;
      const std::vector<FileBox> good = {line_box(0, 4, 10)};
      const FileValues given{is_last ? boxes : good, false, values.data()};
      const Status status = is_collective ? writer->write_all(lossless(DType::f32), given, moved)
                                          : writer->write(lossless(DType::f32), given, moved);
      EXPECT_EQ(status.code(), is_last || is_collective ? Code::usage : Code::ok);
      EXPECT_TRUE(status.ok() || status.message().find(words) != std::string::npos) << status.message();
      EXPECT_EQ(writer->close().code(), Code::usage);
    }
  };
  refused({line_box(0, 4, 10), line_box(39, 4, 10)}, "begins at byte 39, and the one before ends at 40");
  refused({line_box(0, 8, 10)}, "values of 8 bytes; those of f32 have 4");
  refused({FileBox{0, 4, 1, {{{2, 3}}}}}, "repeats 4 bytes every 3");

  auto writer = open(FrameFileWriter::Begin::anew);
  EXPECT_EQ(writer->set_size(max_file_bytes + 1).code(), Code::usage);
  EXPECT_EQ(writer->abandon().code(), Code::ok);
}

}  // namespace
}  // namespace neve::mpi
