// SPDX-License-Identifier: BSD-3-Clause
// The calls in which a rank hands over its boxes of a dataset, some boxes in each, and the buffer into which
// it copies them first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bench/apps/chombo/contents.hpp"
#include "parallel/comm/agree.hpp"

namespace neve::chombo {

using Pieces = std::span<const mpi::Piece>;  // by rising address

uint64_t bytes_of(Pieces pieces);
// How many stretches of the file they make, where those that adjoin count as one.
uint64_t runs_of(Pieces pieces);

class BoxCalls {
 public:
  // `boxes`: of a rank in a call; 0: all that it has of a dataset.
  BoxCalls(const std::vector<ValueDataset>& datasets, int boxes);

  // Collective. From here on every dataset has as many calls on every rank, those of ranks that have no boxes
  // left without any.
  Status make_even(const mpi::Comm& comm);
  // Makes room for the largest call.
  void make_buffer() { buffer_.resize(largest_bytes_); }

  size_t count(size_t dataset) const { return rounds_[dataset]; }
  Pieces pieces(size_t dataset, size_t call) const;
  // The values of those pieces, one after another, until the next call.
  const std::byte* copy(Pieces pieces);
  uint64_t buffer_bytes() const { return largest_bytes_; }

 private:
  std::vector<std::vector<Pieces>> calls_;  // by dataset
  std::vector<uint64_t> rounds_;            // by dataset
  uint64_t largest_bytes_ = 0;
  std::vector<std::byte> buffer_;
};

}  // namespace neve::chombo
