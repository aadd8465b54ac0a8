// SPDX-License-Identifier: BSD-3-Clause
// Where the values of a piece lie in a frame file: boxes in file order, packed as the index lists them, so
// that many small boxes take little memory.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/bits/bytes.hpp"
#include "core/format/file_box.hpp"

namespace neve {

class FilePlace {
 public:
  FilePlace() = default;
  // At least one box; each accepted by check_file_box, and behind the end of the one before.
  explicit FilePlace(std::span<const FileBox> boxes);
  explicit FilePlace(const FileBox& box) : FilePlace(std::span(&box, 1)) {}

  // Errors: corrupt. `boxes`: how many follow.
  static Result<FilePlace> read(ByteReader& in, uint64_t boxes);
  void write(ByteWriter& out) const { out.put_bytes(packed_); }

  uint64_t boxes() const { return boxes_; }
  std::vector<FileBox> unpacked() const;
  // The first byte in the file, and one behind the last.
  uint64_t first() const { return first_; }
  uint64_t end() const { return end_; }
  // Of the values; of every one, or 0 where boxes differ in it.
  uint64_t bytes() const { return bytes_; }
  uint32_t value_bytes() const { return value_bytes_; }
  // One box without gaps.
  bool is_contiguous() const { return bytes_ == end_ - first_; }

  // The same boxes, in as many directions.
  bool operator==(const FilePlace& other) const { return packed_ == other.packed_; }
  ByteSpan packed() const { return packed_; }

 private:
  void count(const FileBox& box);

  Bytes packed_;
  uint64_t boxes_ = 0, first_ = 0, end_ = 0, bytes_ = 0;
  uint32_t value_bytes_ = 0;
};

}  // namespace neve
