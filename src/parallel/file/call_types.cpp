// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/file/call_types.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include "parallel/comm/agree.hpp"

namespace neve::mpi {
namespace {

constexpr uint64_t max_block_bytes = std::numeric_limits<int>::max();  // MPI counts are int

// Blocks that follow each other without a gap are one.
class Blocks {
 public:
  void add(MPI_Aint at, uint64_t bytes) {
    if (!places_.empty() && at == end_ && static_cast<uint64_t>(lengths_.back()) + bytes <= max_block_bytes) {
      lengths_.back() += static_cast<int>(bytes);
    } else {
      places_.push_back(at);
      lengths_.push_back(static_cast<int>(bytes));
    }
    end_ = at + static_cast<MPI_Aint>(bytes);
  }

  Status make(MPI_Datatype& type) const {
    return mpi_status(MPI_Type_create_hindexed(static_cast<int>(places_.size()), lengths_.data(),
                                               places_.data(), MPI_BYTE, &type),
                      "MPI_Type_create_hindexed");
  }

 private:
  std::vector<int> lengths_;
  std::vector<MPI_Aint> places_;
  MPI_Aint end_ = 0;
};

Result<MPI_Aint> address_of(const Rows& rows) {
  MPI_Aint address = 0;
  NEVE_TRY(mpi_status(MPI_Get_address(rows.first, &address), "MPI_Get_address"));
  return address;
}

}  // namespace

CallTypes::~CallTypes() {
  if (memory_ != MPI_DATATYPE_NULL) MPI_Type_free(&memory_);
  if (file_ != MPI_DATATYPE_NULL) MPI_Type_free(&file_);
  for (auto& [shape, type] : shapes_) MPI_Type_free(&type);
}

Status CallTypes::build(std::span<const Piece> pieces) {
  NEVE_TRY(build_file(pieces));
  return build_memory(pieces);
}

Status CallTypes::build_file(std::span<const Piece> pieces) {
  Blocks blocks;
  for (const Piece& piece : pieces) blocks.add(static_cast<MPI_Aint>(piece.address), piece.rows.bytes());
  NEVE_TRY(blocks.make(file_));
  return mpi_status(MPI_Type_commit(&file_), "MPI_Type_commit");
}

Status CallTypes::build_memory(std::span<const Piece> pieces) {
  const bool only_runs =
      std::all_of(pieces.begin(), pieces.end(), [](const Piece& piece) { return piece.rows.is_one_run(); });
  if (only_runs) {
    Blocks blocks;
    for (const Piece& piece : pieces) {
      NEVE_ASSIGN(const MPI_Aint address, address_of(piece.rows));
      blocks.add(address, piece.rows.row_bytes);
    }
    NEVE_TRY(blocks.make(memory_));
  } else {
    std::vector<int> lengths;
    std::vector<MPI_Aint> places;
    std::vector<MPI_Datatype> types;
    for (const Piece& piece : pieces) {
      NEVE_ASSIGN(const MPI_Aint address, address_of(piece.rows));
      MPI_Datatype type = MPI_BYTE;
      if (!piece.rows.is_one_run()) {
        NEVE_ASSIGN(type, shape_type(piece.rows));
      }
      places.push_back(address);
      lengths.push_back(piece.rows.is_one_run() ? static_cast<int>(piece.rows.row_bytes) : 1);
      types.push_back(type);
    }
    NEVE_TRY(mpi_status(MPI_Type_create_struct(static_cast<int>(places.size()), lengths.data(), places.data(),
                                               types.data(), &memory_),
                        "MPI_Type_create_struct"));
  }
  return mpi_status(MPI_Type_commit(&memory_), "MPI_Type_commit");
}

Result<MPI_Datatype> CallTypes::shape_type(const Rows& rows) {
  MPI_Datatype& type =
      shapes_.try_emplace({rows.row_bytes, rows.count, rows.stride_bytes}, MPI_DATATYPE_NULL).first->second;
  if (type != MPI_DATATYPE_NULL) return type;
  NEVE_TRY(mpi_status(MPI_Type_contiguous(static_cast<int>(rows.row_bytes), MPI_BYTE, &type),
                      "MPI_Type_contiguous"));
  for (size_t d = 0; d < rows.count.size(); ++d) {
    if (rows.count[d] == 1) continue;
    MPI_Datatype inner = type;
    type = MPI_DATATYPE_NULL;
    const int made = MPI_Type_create_hvector(static_cast<int>(rows.count[d]), 1,
                                             static_cast<MPI_Aint>(rows.stride_bytes[d]), inner, &type);
    MPI_Type_free(&inner);
    NEVE_TRY(mpi_status(made, "MPI_Type_create_hvector"));
  }
  return type;
}

}  // namespace neve::mpi
