// SPDX-License-Identifier: BSD-3-Clause
// A frame file (format/frame_file.hpp) read by any number of ranks.
#pragma once

#include <mpi.h>

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "core/format/piece_finder.hpp"
#include "io/plotfile/file.hpp"
#include "parallel/comm/agree.hpp"
#include "parallel/transfer/send_blocks.hpp"

namespace neve::mpi {

// Not collective: header and index of a frame file of either layout.
Result<FrameFileIndex> read_index(const std::string& path, uint64_t& file_bytes);

class FrameFileReader {
 public:
  // Collective: one rank reads the index, all have it.
  static Result<std::unique_ptr<FrameFileReader>> open(MPI_Comm comm, std::string_view path);

  const Comm& comm() const { return comm_; }
  const FrameFileIndex& index() const { return index_; }
  // Of the logical file.
  uint64_t bytes() const { return index_.bytes; }

  // Not collective, and of several threads at a time. The bytes of the boxes, packed, in the order of the
  // list, which may be any: `out` has room for the sum of their bytes(). A piece is decoded once for each
  // stretch of boxes in file order; what no piece holds is 0. `threads` decode. Usage error where a box is
  // none (check_file_box) or ends behind bytes(); corrupt, and failures of the system.
  Status read(std::span<const FileBox> boxes, std::byte* out, int threads, Moved& moved) const;
  // Of bytes `at` and on.
  Status read(uint64_t at, uint64_t bytes, std::byte* out, int threads, Moved& moved) const;

  // Collective.
  Status close();

 private:
  FrameFileReader(Comm comm, std::string path) : comm_(std::move(comm)), path_(std::move(path)) {}

  Comm comm_;
  std::string path_;
  FrameFileIndex index_;
  PieceFinder finder_;
  std::shared_ptr<plotfile::File> file_;
};

}  // namespace neve::mpi
