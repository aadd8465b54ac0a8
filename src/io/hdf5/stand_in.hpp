// SPDX-License-Identifier: BSD-3-Clause
// A side channel into the filter of this process: HDF5 calls it in the middle of a collective write, and gets
// a frame that was made before.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <span>
#include <utility>

#include "neve/status.hpp"

namespace neve::hdf5 {

struct FreeDelete {
  void operator()(std::byte* p) const { std::free(p); }
};
// HDF5 frees what a filter returns with free().
using MallocBytes = std::unique_ptr<std::byte, FreeDelete>;

Result<MallocBytes> allocate(size_t bytes);

// A frame in memory that HDF5 will own, so that inside the collective call nothing is left to fail.
struct PreparedFrame {
  MallocBytes memory;  // null once HDF5 has it
  size_t bytes = 0;

  static Result<PreparedFrame> copy_of(std::span<const std::byte> frame);
};

// While one lives, the filter neither encodes nor decodes on this thread. Forward, it hands over the frame,
// or where there is none a few bytes of HDF5's own buffer: what 1.10 fills a new dataset with, to be
// replaced. In reverse it gives a buffer of a chunk's size, which HDF5 2.2 requires, and writes nothing into
// it: memory that nobody touches takes none.
class StandIn {
 public:
  explicit StandIn(PreparedFrame* frame) : frame_(frame), before_(std::exchange(current_, this)) {}
  ~StandIn() { current_ = before_; }
  StandIn(const StandIn&) = delete;
  StandIn& operator=(const StandIn&) = delete;

  static StandIn* current() { return current_; }

  // Largest value size: HDF5 puts one selected value into the buffer that these bytes came back in.
  static constexpr size_t placeholder_bytes = 8;

  // The filter's callback in each direction. The size of the result; 0 when the frame was taken before, or
  // there is no memory.
  size_t encode(size_t bytes, size_t* buffer_bytes, void** buffer);
  static size_t decode(size_t chunk_bytes, size_t* buffer_bytes, void** buffer);

 private:
  inline static thread_local StandIn* current_ = nullptr;
  PreparedFrame* frame_;
  StandIn* before_;
};

}  // namespace neve::hdf5
