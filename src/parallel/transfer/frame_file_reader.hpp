// SPDX-License-Identifier: BSD-3-Clause
// A frame file (format/frame_file.hpp) read by any number of ranks.
#pragma once

#include <mpi.h>

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "core/format/frame_file.hpp"
#include "io/plotfile/file.hpp"
#include "parallel/comm/agree.hpp"
#include "parallel/transfer/send_blocks.hpp"

namespace neve::mpi {

// Not collective: header and index of a frame file.
Result<FrameFileIndex> read_index(const std::string& path, uint64_t& file_bytes);

// Collective: rank 0's entries to the others, which have room for as many.
Status broadcast_entries(const Comm& comm, std::span<FrameFileEntry> entries);

class FrameFileReader {
 public:
  // Collective: one rank reads the index, all have it.
  static Result<std::unique_ptr<FrameFileReader>> open(MPI_Comm comm, std::string_view path);

  const Comm& comm() const { return comm_; }
  const FrameFileIndex& index() const { return index_; }

  // Not collective: `count` values from number `first` on. While one frame is decoded the next is read.
  Status read(uint64_t first, uint64_t count, std::byte* out, int threads, Moved& moved) const;

  // Collective.
  Status close();

 private:
  FrameFileReader(Comm comm, std::string path) : comm_(std::move(comm)), path_(std::move(path)) {}

  Comm comm_;
  std::string path_;
  FrameFileIndex index_;
  std::shared_ptr<plotfile::File> file_;
};

}  // namespace neve::mpi
