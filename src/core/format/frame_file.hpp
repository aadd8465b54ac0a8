// SPDX-License-Identifier: BSD-3-Clause
// A frame file: values of one type in a line, in frames that were written by any number of ranks. The header
// stands at the file's beginning and leads to the index, which leads to the frames. docs/format.md is the
// contract for the bytes; this is their arithmetic, without a file.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/bits/bytes.hpp"
#include "neve/status.hpp"
#include "neve/types.hpp"

namespace neve {

inline constexpr uint64_t frame_file_header_bytes = 64;
inline constexpr uint64_t frame_file_entry_bytes = 32;
// Values of one frame: what a reader may have to hold besides what it was asked for.
inline constexpr uint64_t max_frame_value_bytes = uint64_t{1} << 30;

struct FrameFileHeader {
  DType dtype = DType::f32;
  uint64_t values = 0;  // one more than the number of the last value
  uint64_t index_at = frame_file_header_bytes;
  uint64_t entries = 0;
  uint64_t index_checksum = 0;

  uint64_t index_bytes() const { return entries * frame_file_entry_bytes; }
};

// A frame, an array of `values` values that are number `first` and on in the file.
struct FrameFileEntry {
  uint64_t first = 0;
  uint64_t values = 0;
  uint64_t at = 0;     // of the frame's first byte in the file
  uint64_t bytes = 0;  // of the frame
};

// What the index lists, in the order in which it was written: where frames overlap the later one counts.
// Values that no frame holds are 0.
struct FrameFileIndex {
  DType dtype = DType::f32;
  uint64_t values = 0;
  std::vector<FrameFileEntry> entries;
};

// Whether a file that begins like this is a frame file.
bool is_frame_file(ByteSpan beginning);

// The index's bytes, and the header that leads to them where they stand at `index_at`.
Bytes index_bytes(const FrameFileIndex& index);
Bytes header_bytes(const FrameFileIndex& index, uint64_t index_at, ByteSpan index_bytes);

// Errors: corrupt. `file_bytes`: length of the file.
Result<FrameFileHeader> parse_header(ByteSpan bytes, uint64_t file_bytes);
Result<FrameFileIndex> parse_index(const FrameFileHeader& header, ByteSpan bytes, uint64_t file_bytes);

}  // namespace neve
