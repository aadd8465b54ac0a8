// SPDX-License-Identifier: BSD-3-Clause
// All ranks' frames into the file, by one collective write for all levels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "mpi/agree.hpp"
#include "neve/status.hpp"

namespace neve::mpi {

// MPI-IO hints: striping_factor, cb_nodes, ...
using Hints = std::map<std::string, std::string>;

// The caller's hints with those of NEVE_MPI_HINTS ("key=value;key=value") over them. Usage error for text of
// another shape.
Result<Hints> merged_hints(const Hints& given);

// Not collective. Creates the empty file `path`, which must not exist, through MPI: striping is settled
// when a file is created, so the hints have to be there first.
Status create_file(const std::string& path, const Hints& hints);

// Not collective. Takes the space of the whole file now, so that a full disk is found by one rank before all
// are inside a collective write, from which MPI libraries do not return well. Leaves the file at least
// size_bytes long.
Status reserve_space(const std::string& path, uint64_t size_bytes);

// A run of bytes and its place in the file.
struct Piece {
  uint64_t address = 0;
  std::span<const std::byte> bytes;
};

// MPI counts are int, and a rank may hold more than they count: each collective call takes at most this much
// of a rank's bytes.
inline constexpr uint64_t default_round_bytes = uint64_t{1} << 30;

struct PutTimes {
  double write_seconds = 0;
  double sync_seconds = 0;
};

// Collective. Writes the pieces of all ranks into the existing file and syncs it. The file must already have
// its final length: past its end Open MPI fills gaps between pieces with what its buffer happens to hold.
Result<PutTimes> put_pieces(const Comm& comm, const std::string& path, const Hints& hints,
                            std::span<const Piece> pieces, uint64_t round_bytes = default_round_bytes);

}  // namespace neve::mpi
