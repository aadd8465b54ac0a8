// SPDX-License-Identifier: BSD-3-Clause
// How what a rank writes into a frame file is cut into pieces.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/format/file_place.hpp"
#include "parallel/transfer/block_encoder.hpp"

namespace neve::mpi {

// A frame for a box of fewer bytes would be mostly header: such boxes share one, as a line.
inline constexpr uint64_t few_box_bytes = uint64_t{1} << 15;

// What a rank writes in a call.
struct FileValues {
  // Where the values go: in file order, each box behind the end of the one before. None: nothing is written.
  std::span<const FileBox> boxes;
  // Bytes, which are kept as they are; else values of the transfer's type, of which each box has whole ones.
  bool is_raw = false;
  // Packed, in the order of the boxes. The caller's; read during the call.
  const void* data = nullptr;
};

// One of its pieces.
struct FileBlock {
  FilePlace place;
  std::vector<uint64_t> shape;  // of its values, slowest first
  uint64_t at = 0;              // of its first byte among the packed ones
};

// Usage error where a box is none (check_file_box), does not lie behind the one before or has values of
// another size than the type's, where block_bytes is out of range, and where the values are no whole layers:
// those count for a single box without gaps in one direction. A box of many values is cut into slabs along
// its slowest direction, as many to a piece as block_bytes hold; boxes of few values that follow each other
// become one piece, and a line.
Result<std::vector<FileBlock>> cut_into_blocks(const Transfer& transfer, const FileValues& values);

class FileBlockEncoder : public BlockSource {
 public:
  // The values' data and boxes, and the blocks, must outlive this. The rest is as for BlockEncoder.
  FileBlockEncoder(const Transfer& transfer, const FileValues& values, std::span<const FileBlock> blocks,
                   std::optional<ArrayMeasure> whole, int rank);

  // Frames of the same transfer, which need not be made again.
  void keep(std::vector<MadeFrame> made) { made_ = std::move(made); }

  size_t blocks() const override { return blocks_.size(); }
  int threads() const override { return threads_; }
  Result<Bytes> encode(size_t block) const override;

 private:
  DType dtype_;
  ArrayOptions options_;
  int threads_;
  bool is_raw_;
  const std::byte* data_;
  std::span<const FileBlock> blocks_;
  std::optional<ArrayMeasure> whole_;
  int rank_;
  std::vector<MadeFrame> made_;
};

}  // namespace neve::mpi
