// SPDX-License-Identifier: BSD-3-Clause
#include "io/hdf5/stand_in.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace neve::hdf5 {

Result<MallocBytes> allocate(size_t bytes) {
  MallocBytes memory(static_cast<std::byte*>(std::malloc(bytes)));
  if (memory == nullptr) return failure(fmt::format("no memory for {} bytes", bytes));
  return memory;
}

Result<PreparedFrame> PreparedFrame::copy_of(std::span<const std::byte> frame) {
  NEVE_ASSIGN(MallocBytes memory, allocate(frame.size()));
  std::memcpy(memory.get(), frame.data(), frame.size());
  return PreparedFrame{std::move(memory), frame.size()};
}

size_t StandIn::decode(size_t chunk_bytes, size_t* buffer_bytes, void** buffer) {
  if (*buffer_bytes >= chunk_bytes) return chunk_bytes;
  void* const memory = std::malloc(chunk_bytes);
  if (memory == nullptr) return 0;
  std::free(*buffer);
  *buffer = memory;
  *buffer_bytes = chunk_bytes;
  return chunk_bytes;
}

size_t StandIn::encode(size_t bytes, size_t* buffer_bytes, void** buffer) {
  if (frame_ == nullptr) return std::min(bytes, placeholder_bytes);
  if (frame_->memory == nullptr) return 0;
  std::free(*buffer);
  *buffer = frame_->memory.release();
  *buffer_bytes = frame_->bytes;
  return frame_->bytes;
}

}  // namespace neve::hdf5
