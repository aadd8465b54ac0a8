// SPDX-License-Identifier: BSD-3-Clause
// Bytes of the logical file out of a frame file that lies on disk.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/format/piece_finder.hpp"
#include "io/plotfile/file.hpp"
#include "parallel/transfer/send_blocks.hpp"

namespace neve::mpi {

// Usage error where a box is none or ends behind the `bytes` of the logical file.
Status check_asked(const std::string& path, std::span<const FileBox> asked, uint64_t bytes);

// Calls read(boxes, out) for stretches of the list that are in file order, with where their bytes go.
template <class Read>
Status read_in_order(std::span<const FileBox> asked, std::byte* out, const Read& read) {
  while (!asked.empty()) {
    size_t boxes = 1;
    uint64_t bytes = asked[0].bytes();
    for (; boxes < asked.size() && asked[boxes].first >= asked[boxes - 1].end(); ++boxes) {
      bytes += asked[boxes].bytes();
    }
    NEVE_TRY(read(asked.first(boxes), out));
    asked = asked.subspan(boxes);
    out += bytes;
  }
  return {};
}

// A piece to be read, and where its stored bytes are, unless they have still to be read from the file.
struct WantedPiece {
  const FramePiece* piece = nullptr;
  const Bytes* stored = nullptr;
};

// Not collective. Puts what the pieces hold of the boxes, which are in file order, into `out`, and 0 where
// none of them holds anything. A piece is read and decoded once; while one is decoded the next is read, on a
// thread of its own that calls no MPI. `moved` counts what was read.
Status read_pieces(const plotfile::File& file, std::vector<WantedPiece> pieces,
                   std::span<const FileBox> asked, std::byte* out, int threads, Moved& moved);

}  // namespace neve::mpi
