// SPDX-License-Identifier: BSD-3-Clause
// Datatypes: which bytes, counted from an address.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "alone/mpi.h"

namespace neve::alone {

struct Run {
  MPI_Aint at = 0;
  uint64_t bytes = 0;
};

struct Datatype {
  std::vector<Run> runs;  // in their order in a message; those that follow each other without a gap are one
  MPI_Aint begin = 0, end = 0;  // what one takes up; the next one lies at `end` - `begin` behind
  uint64_t bytes = 0;           // of all runs

  MPI_Aint extent() const { return end - begin; }
  bool is_one_block() const {
    return runs.size() == 1 && runs[0].at == begin &&
           runs[0].at + static_cast<MPI_Aint>(runs[0].bytes) == end;
  }
};

inline constexpr uint64_t for_ever = std::numeric_limits<uint64_t>::max();

// The bytes of `count` of a type from `base` on, run after run.
class Bytes {
 public:
  Bytes(const Datatype& type, MPI_Aint base, uint64_t count);

  // At most `most` bytes that lie together; of none where there are no more.
  Run next(uint64_t most);
  void skip(uint64_t bytes);

 private:
  const Datatype& type_;
  MPI_Aint base_;
  uint64_t count_;  // left, this one included
  size_t run_ = 0;
  uint64_t taken_ = 0;  // of that run
};

// `count` of them at `from` to `room` at `to`; an error code where that is too little room.
int copy_values(const void* from, int count, MPI_Datatype type, void* to, int room, MPI_Datatype type_there);

}  // namespace neve::alone
