// SPDX-License-Identifier: BSD-3-Clause
// A frame file, as neve/transfer.h and programs under `neve mpi run` write it, without MPI.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/format/piece_finder.hpp"
#include "io/plotfile/file.hpp"
#include "io/plotfile/npy.hpp"
#include "neve/frame.hpp"

namespace neve::cli {

// By its first bytes.
Result<bool> is_frame_file_at(const std::string& path);

// The pieces of a kind, or of a type.
struct PiecesOfType {
  std::string type;  // of values, or "raw"
  uint64_t pieces = 0;
  uint64_t value_bytes = 0;
  uint64_t stored_bytes = 0;
  // Of the frames: the bound that the first was made with, the largest absolute one and the largest error.
  Bound bound;
  double bound_abs = 0;
  double max_abs_error = 0;
};

struct FrameFileContents {
  FrameFileIndex index;
  uint64_t file_bytes = 0;
  std::vector<PiecesOfType> types;
};
// Reads every frame's header.
Result<FrameFileContents> describe_frame_file_at(const std::string& path);

class OpenFrameFile {
 public:
  static Result<OpenFrameFile> open(const std::string& path);

  const FrameFileIndex& index() const { return index_; }
  // Bytes `at` and on of the logical file, which has them.
  Status read(uint64_t at, std::span<std::byte> out, int threads) const;

 private:
  FrameFileIndex index_;
  PieceFinder finder_;
  std::shared_ptr<plotfile::File> file_;
};

// All values of a file that is a line of values of one type, as an array of one dimension. Usage error of
// others.
Result<plotfile::NpyArray> read_frame_file(const std::string& path, int threads);

}  // namespace neve::cli
