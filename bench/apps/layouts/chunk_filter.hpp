// SPDX-License-Identifier: BSD-3-Clause
// Neve's filter as HDF5 calls it during one write: each call is counted, timed, and encodes what the layout
// says its chunk holds.
#pragma once

#include <hdf5.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "neve/status.hpp"

namespace neve::layouts {

// The frame that stands for a chunk. HDF5's buffer holds all of the chunk only where all of it was selected.
using ChunkEncoder = std::function<Result<std::vector<std::byte>>(std::span<const std::byte> chunk)>;

// While one lives, HDF5 calls it for every chunk of this process's. Where no encoder is set it does what
// hdf5::StandIn does without a frame: HDF5 1.10 runs the filter over a new dataset's fill values.
//
// HDF5 calls a filter inside its collective write, and ranks that failed there alone would leave the others
// waiting: an error is kept for status(), and HDF5 gets a few bytes in place of the frame.
class ChunkFilter {
 public:
  ChunkFilter();
  ~ChunkFilter();
  ChunkFilter(const ChunkFilter&) = delete;
  ChunkFilter& operator=(const ChunkFilter&) = delete;

  // For the chunks of the next write; null: none.
  void set(const ChunkEncoder* encoder) { encoder_ = encoder; }

  uint64_t calls() const { return calls_; }  // with an encoder
  double encode_seconds() const { return encode_seconds_; }
  const Status& status() const { return status_; }

 private:
  static size_t call(unsigned flags, size_t word_count, const unsigned* words, size_t bytes,
                     size_t* buffer_bytes, void** buffer) noexcept;
  static const H5Z_class2_t& description();
  size_t encode(size_t bytes, size_t* buffer_bytes, void** buffer);

  inline static ChunkFilter* current_ = nullptr;
  const ChunkEncoder* encoder_ = nullptr;
  uint64_t calls_ = 0;
  double encode_seconds_ = 0;
  Status status_;
};

}  // namespace neve::layouts
