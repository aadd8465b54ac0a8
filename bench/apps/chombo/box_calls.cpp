// SPDX-License-Identifier: BSD-3-Clause
#include "bench/apps/chombo/box_calls.hpp"

#include <mpi.h>

#include <algorithm>
#include <cstring>

namespace neve::chombo {
namespace {

std::byte* copy_rows(const mpi::Rows& rows, std::byte* out) {
  for (uint64_t k = 0; k < rows.count[2]; ++k) {
    for (uint64_t j = 0; j < rows.count[1]; ++j) {
      for (uint64_t i = 0; i < rows.count[0]; ++i) {
        const int64_t at = static_cast<int64_t>(i) * rows.stride_bytes[0] +
                           static_cast<int64_t>(j) * rows.stride_bytes[1] +
                           static_cast<int64_t>(k) * rows.stride_bytes[2];
        std::memcpy(out, rows.first + at, rows.row_bytes);
        out += rows.row_bytes;
      }
    }
  }
  return out;
}

}  // namespace

uint64_t bytes_of(Pieces pieces) {
  uint64_t bytes = 0;
  for (const mpi::Piece& piece : pieces) bytes += piece.rows.bytes();
  return bytes;
}

uint64_t runs_of(Pieces pieces) {
  uint64_t runs = 0, end = 0;
  for (const mpi::Piece& piece : pieces) {
    if (runs == 0 || piece.address != end) ++runs;
    end = piece.address + piece.rows.bytes();
  }
  return runs;
}

BoxCalls::BoxCalls(const std::vector<ValueDataset>& datasets, int boxes) {
  for (const ValueDataset& dataset : datasets) {
    std::vector<Pieces>& calls = calls_.emplace_back();
    const Pieces all(dataset.pieces);
    const size_t step = boxes == 0 ? std::max<size_t>(all.size(), 1) : static_cast<size_t>(boxes);
    for (size_t first = 0; first < all.size(); first += step) {
      calls.push_back(all.subspan(first, std::min(step, all.size() - first)));
      largest_bytes_ = std::max(largest_bytes_, bytes_of(calls.back()));
    }
    rounds_.push_back(calls.size());
  }
}

Status BoxCalls::make_even(const mpi::Comm& comm) {
  return mpi::mpi_status(MPI_Allreduce(MPI_IN_PLACE, rounds_.data(), static_cast<int>(rounds_.size()),
                                       MPI_UINT64_T, MPI_MAX, comm.get()),
                         "exchange of call counts");
}

Pieces BoxCalls::pieces(size_t dataset, size_t call) const {
  const std::vector<Pieces>& calls = calls_[dataset];
  return call < calls.size() ? calls[call] : Pieces();
}

const std::byte* BoxCalls::copy(Pieces pieces) {
  std::byte* out = buffer_.data();
  for (const mpi::Piece& piece : pieces) out = copy_rows(piece.rows, out);
  return buffer_.data();
}

}  // namespace neve::chombo
