// SPDX-License-Identifier: BSD-3-Clause
// The blocks of a rank's values as frames, each an array of its own under the bound of the whole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/bits/bytes.hpp"
#include "core/codecs/array_part.hpp"
#include "neve/frame.hpp"
#include "parallel/comm/agree.hpp"
#include "parallel/transfer/block_plan.hpp"
#include "parallel/transfer/block_source.hpp"

namespace neve::mpi {

// What the caller wants of a transfer.
struct Transfer {
  DType dtype = DType::f32;
  ArrayOptions values;
  uint64_t block_bytes = 0;
  std::vector<uint64_t> layer_shape;  // slowest first
  bool tells_errors = false;          // the largest error of what is sent is asked for
};

// A block that has been encoded before.
struct MadeFrame {
  size_t block = 0;
  Bytes frame;
};

class BlockEncoder : public BlockSource {
 public:
  // `data`, of plan.count values, must outlive this. `whole`: of what a relative bound is; none where there
  // is no such bound. `rank`: the calling one.
  BlockEncoder(const Transfer& transfer, const BlockPlan& plan, const void* data,
               std::optional<ArrayMeasure> whole, int rank)
      : dtype_(transfer.dtype),
        options_(transfer.values),
        threads_(transfer.values.encode.threads),
        layer_shape_(transfer.layer_shape),
        tells_errors_(transfer.tells_errors),
        plan_(plan),
        data_(static_cast<const std::byte*>(data)),
        whole_(whole),
        rank_(rank) {
    options_.encode.threads = 1;  // they have blocks each
  }

  // In each block. The frames are the same.
  void use_threads(int threads) { options_.encode.threads = threads; }
  // Frames of the same transfer, which need not be made again.
  void keep(std::vector<MadeFrame> made) { made_ = std::move(made); }

  size_t blocks() const override { return plan_.blocks(); }
  int threads() const override { return threads_; }
  int rank() const { return rank_; }
  bool tells_errors() const { return tells_errors_; }
  Result<Bytes> encode(size_t block) const override;

 private:
  DType dtype_;
  ArrayOptions options_;
  int threads_;
  std::vector<uint64_t> layer_shape_;
  bool tells_errors_;
  BlockPlan plan_;
  const std::byte* data_;
  std::optional<ArrayMeasure> whole_;
  int rank_;
  std::vector<MadeFrame> made_;
};

// `whole`: as for BlockEncoder.
Result<Bytes> encode_block(DType dtype, std::span<const uint64_t> shape, const std::byte* data,
                           const ArrayOptions& options, const std::optional<ArrayMeasure>& whole);

// Not collective: what a relative bound over these values alone is of; nothing for the other bounds.
Result<std::optional<ArrayMeasure>> measure_alone(const Transfer& transfer, const BlockPlan& plan,
                                                  const void* data);

// Values that lie one behind another.
struct ValueLine {
  const void* data = nullptr;
  uint64_t count = 0;
};

// Collective: the same over the values of all ranks. `transfer` asks for the same bound on all of them.
Result<std::optional<ArrayMeasure>> measure_together(const Comm& comm, const Transfer& transfer,
                                                     std::span<const ValueLine> lines);
Result<std::optional<ArrayMeasure>> measure_together(const Comm& comm, const Transfer& transfer,
                                                     const BlockPlan& plan, const void* data);

// The absolute bound of values of this measure; 0 where none is known before they are encoded.
double bound_over(const Transfer& transfer, const std::optional<ArrayMeasure>& whole);

}  // namespace neve::mpi
