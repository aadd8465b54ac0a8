// SPDX-License-Identifier: BSD-3-Clause
// Bytes of the file that are not in memory while it is written: frames that were put aside, values that are
// read.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "neve/hierarchy.hpp"
#include "parallel/file/write_pieces.hpp"
#include "parallel/write/encode_chunks.hpp"
#include "parallel/write/local_values.hpp"

namespace neve::mpi {

// Frames of this rank as pieces of the file.
class FramePieces {
 public:
  // `addresses` of the chunks; a level's dataset is number first_dataset + level. The chunks must outlive it.
  void add(std::span<const EncodedChunk> chunks, std::span<const uint64_t> addresses, uint32_t first_dataset);

  std::span<const Piece> pieces() const { return pieces_; }
  // What write_pieces needs to know: most bytes of a call, and how bytes are loaded, if they are.
  uint64_t call_bytes() const;
  LoadBytes load() const;

 private:
  struct Put {
    uint64_t address;
    const EncodedChunk* chunk;
  };
  std::vector<Piece> pieces_;
  mutable std::vector<Put> put_aside_;  // by address once they are looked for
};

// Boxes of this rank as pieces of an uncompressed file.
class ValuePieces {
 public:
  // `addresses` of the levels' datasets, numbered from first_dataset on. The values must outlive it.
  void add(const Hierarchy& hierarchy, const IntVect& ghosts, const LocalValues& owned,
           std::span<const uint64_t> addresses, uint32_t first_dataset);

  std::span<const Piece> pieces() const { return pieces_; }
  uint64_t call_bytes() const;
  LoadBytes load() const;

 private:
  struct Unread {
    uint64_t address;
    const LocalValues* values;
    size_t local;
    uint64_t value_bytes;
  };
  std::vector<Piece> pieces_;
  mutable std::vector<Unread> unread_;
};

}  // namespace neve::mpi
