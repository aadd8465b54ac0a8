// SPDX-License-Identifier: BSD-3-Clause
// The MPI-IO calls by which a strategy writes a file, and which requests to the file system an MPI library
// makes of them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/io_model/file_pieces.hpp"
#include "core/io_model/mpi_calls.hpp"
#include "core/io_model/mpi_io.hpp"
#include "core/io_model/request.hpp"
#include "neve/status.hpp"

namespace neve::io_model {

// What all ranks do between two points at which they wait for each other.
struct Step {
  bool is_collective = true;
  std::vector<uint64_t>
      mpi_bytes;                  // of each MPI-IO call: one a rank where collective, 0 of those with nothing
  std::vector<Request> requests;  // by rising address where aggregators write
};

// The steps one by one. Of lustre: in a collective call, pieces that adjoin in the file become one range
// whoever holds them, and aggregators write it in requests that end at multiples of stripe_bytes; an
// independent write goes to the file system as it is. A piece lies together in memory.
void for_each_step(const FilePieces& file, const Way& way, const Buffering& buffering,
                   const std::function<void(const Step&)>& visit);
// Of Neve on Lustre. aggregate_boxes: of strategy aggregated, pieces of a rank that one call takes; 0: all.
void for_each_step(const FilePieces& file, Strategy strategy, int aggregate_boxes, uint64_t stripe_bytes,
                   const std::function<void(const Step&)>& visit);

// How many writes of which size.
using SizeCounts = std::map<uint64_t, uint64_t>;
uint64_t total_count(const SizeCounts& counts);
uint64_t total_bytes(const SizeCounts& counts);

struct WriteCounts {
  SizeCounts mpi;
  SizeCounts posix;
  uint64_t read_bytes = 0;  // read, changed and written back
};
WriteCounts count_writes(const FilePieces& file, const Way& way, const Buffering& buffering);
WriteCounts count_writes(const FilePieces& file, Strategy strategy, int aggregate_boxes,
                         uint64_t stripe_bytes);

// Frames that each rank writes for itself, without MPI-IO: those that lie together in the file in one write,
// of up to 4 MiB (src/parallel/file/direct_put.cpp). The MPI-IO counts are those regions.
WriteCounts count_direct_writes(const FilePieces& file);

}  // namespace neve::io_model
