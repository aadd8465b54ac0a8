// SPDX-License-Identifier: BSD-3-Clause
// Who sends to whom in a collective call, and MPI's own collective functions that do it.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "parallel/comm/agree.hpp"

namespace neve::mpi {

// Parts of a rank: allgather: one goes out to all, one comes from each; alltoall: one to each, one from each;
// bcast: root's one goes out, and comes to each other; scatter: root's one to each, one to each.
enum class Pattern : uint8_t { allgather, alltoall, bcast, scatter };

size_t parts_out(Pattern pattern, const Comm& comm, int root);
size_t parts_in(Pattern pattern, const Comm& comm, int root);

// Collective: `words` numbers of each part.
Status exchange_words(Pattern pattern, const Comm& comm, int root, const uint64_t* out, uint64_t* in,
                      int words);

// Messages of parts in one piece of memory, in units of so many bytes: MPI's counts are ints.
inline constexpr uint64_t unit_bytes = 64;
inline uint64_t units_of(uint64_t bytes) { return (bytes + unit_bytes - 1) / unit_bytes; }
struct Messages {
  std::byte* data = nullptr;
  std::vector<int> units, places;  // of each part
};

// Collective. Begins to move messages; `in` knows how long they are. Both stay as they are until `request` is
// complete. `unit`: an MPI type of unit_bytes.
Status begin_move(Pattern pattern, const Comm& comm, int root, const Messages& out, const Messages& in,
                  MPI_Datatype unit, MPI_Request* request);

}  // namespace neve::mpi
