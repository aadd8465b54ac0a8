// SPDX-License-Identifier: BSD-3-Clause
// What the ranks hold into the file, by MPI-IO write calls that each take as much as the strategy says.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "neve/status.hpp"
#include "parallel/comm/agree.hpp"
#include "parallel/file/call_types.hpp"
#include "parallel/file/load_ahead.hpp"
#include "parallel/file/strategy.hpp"

namespace neve::mpi {

// MPI-IO hints: striping_factor, cb_nodes, ...
using Hints = std::map<std::string, std::string>;

// Usage error for a key or a value that MPI does not take.
Status check_hints(const Hints& hints);

// The caller's hints with those of NEVE_MPI_HINTS ("key=value;key=value") over them. Usage error for text of
// another shape.
Result<Hints> merged_hints(const Hints& given);

// Collective calls that take only some pieces of each rank leave gaps, which ROMIO's aggregators would read,
// fill and write back: each rank writes its own pieces then, unless the user wants aggregators.
void leave_gaps(Hints& hints, const WriteOrder& order);

// Not collective. Creates the empty file `path`, which must not exist, through MPI: striping is settled
// when a file is created, so the hints have to be there first.
Status create_file(const std::string& path, const Hints& hints);

// MPI counts are int, and a rank may hold more than they count: each call takes at most this much of a rank's
// bytes, and a rank with more takes part in several.
inline constexpr uint64_t default_call_bytes = uint64_t{1} << 30;

struct PiecesReport {
  double write_seconds = 0;
  double sync_seconds = 0;
  uint64_t mpi_writes = 0;  // write calls of all ranks, empty ones of collective writes among them
  uint64_t data_bytes = 0;  // of all ranks
  Hints hints;              // as the MPI library has them
};

// Collective; the counts are the same on every rank. Writes the pieces of all ranks into the existing file
// and syncs it. Pieces belong to `datasets` datasets, numbered from 0, which do not overlap; calls take them
// by dataset, then address. The file must already have its final length: past its end Open MPI fills gaps
// between pieces with what its buffer happens to hold. `load`: for pieces that are not in memory (Rows::first
// null, one run), whose bytes are loaded for each call, while that before is made.
Result<PiecesReport> write_pieces(const Comm& comm, const std::string& path, const Hints& hints,
                                  WriteOrder order, uint32_t datasets, std::span<const Piece> pieces,
                                  uint64_t call_bytes = default_call_bytes, const LoadBytes& load = {});

}  // namespace neve::mpi
