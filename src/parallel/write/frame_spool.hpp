// SPDX-License-Identifier: BSD-3-Clause
// Frames put aside in a scratch file: together they may be as large as the values, and where they belong is
// known only when the last of them is made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <utility>

#include "io/files/scratch_file.hpp"
#include "neve/status.hpp"

namespace neve::mpi {

class FrameSpool {
 public:
  // `temporary_path`: of the file that is being made, in a private folder; beside it this rank's scratch
  // file.
  static Result<FrameSpool> beside(const std::string& temporary_path, int rank);
  explicit FrameSpool(files::ScratchFile file) : file_(std::move(file)) {}
  FrameSpool(FrameSpool&& other) noexcept : file_(std::move(other.file_)), end_(other.end_) {}

  // Where the frame lies from now on. Safe in several threads.
  Result<uint64_t> put(std::span<const std::byte> frame);
  // Any run of what was put. Safe in several threads.
  Status get(uint64_t offset, std::span<std::byte> out) const { return file_.read(offset, out); }
  Status clear();

 private:
  files::ScratchFile file_;
  std::mutex mutex_;
  uint64_t end_ = 0;
};

}  // namespace neve::mpi
