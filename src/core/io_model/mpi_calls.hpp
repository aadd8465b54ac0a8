// SPDX-License-Identifier: BSD-3-Clause
// The MPI-IO calls by which a strategy writes a file: which pieces each of them takes.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "core/catalog/strategies.hpp"
#include "core/io_model/file_pieces.hpp"

namespace neve::io_model {

// Skeleton, aggregated, collective and independent are modelled, by the bytes of the pieces alone.
using neve::Strategy;

struct CallPiece {
  uint64_t begin = 0, bytes = 0;  // in the file
  int rank = 0;
};

// A collective call of all ranks, or all independent calls of a dataset, a piece each.
struct Call {
  bool is_collective = true;
  std::span<const CallPiece> pieces;  // by rising address
};

// The calls one by one. A rank's pieces of a dataset go in file order. `aggregate_boxes`: of strategy
// aggregated, pieces of a rank that one call takes; 0: all.
void for_each_call(const FilePieces& file, Strategy strategy, int aggregate_boxes,
                   const std::function<void(const Call&)>& visit);

}  // namespace neve::io_model
