// SPDX-License-Identifier: BSD-3-Clause
// The MPI datatypes of one write call: from scattered memory to scattered places of the file, without a copy.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <map>
#include <span>
#include <tuple>

#include "neve/status.hpp"
#include "parallel/file/rows.hpp"

namespace neve::mpi {

// Bytes in memory and their place in the file.
struct Piece {
  uint64_t address = 0;
  Rows rows;
  uint32_t dataset = 0;    // whose content it is
  bool continues = false;  // in the file behind another of this rank, together with which it counts as one
};

class CallTypes {
 public:
  CallTypes() = default;
  CallTypes(const CallTypes&) = delete;
  CallTypes& operator=(const CallTypes&) = delete;
  ~CallTypes();

  // `pieces` by rising address, as file views require, each of at most INT_MAX bytes; at least one. Addresses
  // in memory are absolute: for MPI_BOTTOM.
  Status build(std::span<const Piece> pieces);

  MPI_Datatype memory() const { return memory_; }
  MPI_Datatype file() const { return file_; }

 private:
  using Shape = std::tuple<uint64_t, std::array<uint64_t, 3>, std::array<int64_t, 3>>;

  Status build_file(std::span<const Piece> pieces);
  Status build_memory(std::span<const Piece> pieces);
  // The type of rows.count rows that begin at 0. Boxes mostly have one of a few shapes.
  Result<MPI_Datatype> shape_type(const Rows& rows);

  MPI_Datatype memory_ = MPI_DATATYPE_NULL;
  MPI_Datatype file_ = MPI_DATATYPE_NULL;
  std::map<Shape, MPI_Datatype> shapes_;
};

}  // namespace neve::mpi
