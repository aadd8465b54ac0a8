// SPDX-License-Identifier: BSD-3-Clause
// The bound of a call that is to take a given number of bits a value, from samples of all ranks.
#pragma once

#include <functional>
#include <vector>

#include "parallel/transfer/block_encoder.hpp"
#include "parallel/transfer/rate_history.hpp"

namespace neve::mpi {

// `transfer` under an absolute bound; 0: lossless, by a codec that can be.
Transfer under_bound(const Transfer& transfer, double bound);

// Blocks that are not those of a line.
struct SampledBlocks {
  size_t count = 0;
  std::function<uint64_t(size_t)> values;  // of a block
  std::function<Result<Bytes>(const Transfer& under, const ArrayMeasure& whole, size_t block)> encode;
};

// What the ranks have to send.
struct RateSource {
  const Transfer& transfer;
  const BlockPlan& plan;  // this rank's
  const void* data;
  ArrayMeasure whole;                     // of all ranks
  uint64_t sent_values = 0;               // of all ranks together, not 0
  bool sends = false;                     // this rank
  const SampledBlocks* blocks = nullptr;  // null: those of the plan
};

struct Chosen {
  RateChoice choice;
  std::vector<MadeFrame> made;  // this rank's samples under the chosen bound
};

// Collective, with the same choice on all ranks. Up to eight blocks of each rank that sends are encoded:
// under the bound of `last` where there is one, and then, where that is not near enough, under others along
// its slope, and at last under one after another. A sum of integers a try is what is exchanged.
Result<Chosen> choose_bound(const Comm& comm, const RateSource& source, double aim_bits,
                            const RateChoice* last);

}  // namespace neve::mpi
