// SPDX-License-Identifier: BSD-3-Clause
// The MPI-IO calls by which a strategy writes a file, and what two-phase I/O makes of them: which requests
// reach the file system.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/catalog/strategies.hpp"
#include "core/io_model/file_pieces.hpp"
#include "neve/status.hpp"

namespace neve::io_model {

// Skeleton, aggregated, collective and independent are modelled, by the bytes of the pieces alone.
using neve::Strategy;

// A request to the file system. `writer`: the rank it comes from, where no aggregator writes for others; else
// -1.
struct Request {
  uint64_t begin = 0, bytes = 0;
  int writer = -1;
};

// What all ranks do between two points at which they wait for each other.
struct Step {
  bool is_collective = true;
  std::vector<uint64_t>
      mpi_bytes;                  // of each MPI-IO call: one a rank where collective, 0 of those with nothing
  std::vector<Request> requests;  // by rising address where collective
};

// The steps one by one. A rank's pieces of a dataset go in file order. In a collective call, pieces that
// adjoin in the file become one range whoever holds them, and aggregators write it in requests that end at
// multiples of stripe_bytes (ROMIO on Lustre; 0: whole ranges). An independent write goes to the file system
// as it is. aggregate_boxes: of strategy aggregated, pieces of a rank that one call takes; 0: all.
void for_each_step(const FilePieces& file, Strategy strategy, int aggregate_boxes, uint64_t stripe_bytes,
                   const std::function<void(const Step&)>& visit);

// How many writes of which size.
using SizeCounts = std::map<uint64_t, uint64_t>;
uint64_t total_count(const SizeCounts& counts);

struct WriteCounts {
  SizeCounts mpi;
  SizeCounts posix;
};
WriteCounts count_writes(const FilePieces& file, Strategy strategy, int aggregate_boxes,
                         uint64_t stripe_bytes);

}  // namespace neve::io_model
