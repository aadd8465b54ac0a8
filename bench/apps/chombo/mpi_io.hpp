// SPDX-License-Identifier: BSD-3-Clause
// Which MPI-IO there is under a communicator, and which writes it may make by reading, changing and writing
// back bytes that are other ranks'.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "bench/apps/chombo/way.hpp"
#include "neve/status.hpp"
#include "parallel/comm/agree.hpp"
#include "parallel/file/write_pieces.hpp"

namespace neve::chombo {

struct MpiIo {
  enum class Kind : uint8_t { unknown, ompio, romio };
  Kind kind = Kind::unknown;
  // OMPIO: what pieces of a collective write lie apart on average, at most, where it sieves; 0: it does not.
  uint64_t sieved_gap_bytes = 0;

  std::string_view name() const;
};

// Collective, after a file of `folder` has been open: the MPI library's own variables tell.
Result<MpiIo> find_mpi_io(const mpi::Comm& comm, const std::string& folder);

// What the writes of a way are like.
struct WriteShape {
  int ranks = 1;
  uint64_t smallest_box_bytes = 0;  // in the file
  mpi::Hints hints;                 // asked for
};

// Whether the MPI library may read and write back in this way.
bool reads_and_writes_back(const Way& way, const MpiIo& io, const WriteShape& shape);

}  // namespace neve::chombo
