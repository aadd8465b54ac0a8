// SPDX-License-Identifier: BSD-3-Clause
// What a rank holds, or has put aside, or can read, as pieces of the file.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "neve/hierarchy.hpp"
#include "parallel/file/write_pieces.hpp"
#include "parallel/write/encode_chunks.hpp"
#include "parallel/write/local_values.hpp"

namespace neve::mpi {

// What is added must outlive it, and so must it the write.
class FilePieces {
 public:
  // Frames of levels' datasets, which are numbered from first_dataset on; addresses[i] is that of chunks[i].
  void add_frames(std::span<const EncodedChunk> chunks, std::span<const uint64_t> addresses,
                  uint32_t first_dataset);
  // Bytes of whatever dataset that are put aside.
  void add_put_aside(uint64_t address, const FrameSpool& spool, uint64_t spooled_at, uint64_t bytes,
                     uint32_t dataset);
  // Boxes of uncompressed datasets, each with `ghosts`; addresses are those of the levels' datasets.
  void add_values(const Hierarchy& hierarchy, const IntVect& ghosts, const LocalValues& owned,
                  std::span<const uint64_t> addresses, uint32_t first_dataset);

  // As write_pieces takes them.
  std::span<const Piece> pieces() const { return pieces_; }
  uint64_t call_bytes() const;
  LoadBytes load();

 private:
  // A piece whose bytes are not in memory.
  struct Unloaded {
    uint64_t address = 0;
    const FrameSpool* spool = nullptr;  // put aside there; else
    uint64_t spooled_at = 0;
    const LocalValues* values = nullptr;  // of the box `local`
    size_t local = 0;
    uint64_t value_bytes = 1;
  };
  void add_unread(const Hierarchy& hierarchy, size_t level, const IntVect& ghosts, const LocalValues& owned,
                  uint64_t address, uint32_t dataset);
  Status load_part(uint64_t address, std::span<std::byte> out) const;

  std::vector<Piece> pieces_;
  std::vector<Unloaded> unloaded_;  // by address once they are to be loaded
};

}  // namespace neve::mpi
