// SPDX-License-Identifier: BSD-3-Clause
// A view of a file: which of its bytes a program sees, one behind another.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "preload/mpi/type_boxes.hpp"

namespace neve::pmpi {

// How many of the bytes of a box lie before one of the file.
uint64_t bytes_of_box_before(const FileBox& box, uint64_t place);

class FileView {
 public:
  // All bytes, as of a file that has just been opened.
  FileView() = default;
  // Nothing where boxes cannot tell the filetype. `displacement` >= 0.
  static std::optional<FileView> of(MPI_Offset displacement, MPI_Datatype element, MPI_Datatype filetype);

  // Of the element type, in which offsets are counted; may be 0.
  uint64_t element_bytes() const { return element_bytes_; }
  // Appends the box in the shape of the array that the filetype is of, where it is of one (rows_of); a run of
  // it that ends within rows as up to two boxes for each direction, and one of what is whole.
  void append_shaped(const FileBox& box, std::vector<FileBox>& out) const;
  // All bytes from one on.
  bool is_line() const { return is_line_; }

  // Where byte number `at` of the view lies in the file.
  uint64_t place_of(uint64_t at) const;
  // How many bytes of the view lie before one of the file.
  uint64_t bytes_before(uint64_t place) const;
  // Appends the boxes of bytes [at, at + bytes) of the view, in the view's order; their values are the
  // longest runs. False where they are more than `most`, or end behind the largest file.
  bool append_boxes(uint64_t at, uint64_t bytes, size_t most, std::vector<FileBox>& out) const;

 private:
  void append_run(const FileBox& run, size_t rows, std::vector<FileBox>& out) const;
  bool append_part(uint64_t tile, uint64_t begin, uint64_t end, size_t most, std::vector<FileBox>& out) const;
  bool append_tiles(uint64_t first, uint64_t count, size_t most, std::vector<FileBox>& out) const;
  uint64_t bytes_of_tile_before(uint64_t place) const;

  uint64_t displacement_ = 0;
  uint64_t element_bytes_ = 1;
  bool is_line_ = true;
  TypeBoxes tile_;
  uint64_t origin_ = 0;         // byte of the file where the filetype's byte 0 lies
  std::vector<uint64_t> rows_;  // of the filetype, and from one to the next
};

}  // namespace neve::pmpi
