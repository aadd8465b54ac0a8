// SPDX-License-Identifier: BSD-3-Clause
// A chunk on its way into blocks: quantized, predicted, turned into symbols; waiting for its codebook.
#pragma once

#include <vector>

#include "core/kernels/portable.hpp"
#include "core/stages/quantize/quantizer.hpp"
#include "core/stream/codebook.hpp"
#include "core/stream/history.hpp"
#include "core/stream/stream_format.hpp"
#include "core/threads/scratch.hpp"

namespace neve::stream {

// Quantization codes of a stream count from 0 in steps of a block's `step`, so that a lane needs no addition.
// Which values have no quantization code both sides decide alike, by the quantizer's own check.
template <class T>
Quantizer<T> stream_quantizer(double bound_abs, double step, std::optional<double> fill);

// What quantization codes hold back of a bound depends on how large values get; 0 where a bound cannot be met
// by quantization codes.
template <class T>
double stream_step(double bound_abs, const ValueRange& range);

template <class T>
class Chunk {
 public:
  Chunk(const Header& header, uint64_t max_values);

  // Starts an empty chunk; what came before stays in the history.
  void clear();
  // Empties this one, to be filled again; restart() has to follow.
  void rewind();
  // From here on in other steps, and without what came before.
  void restart(const Quantizer<T>& quantizer, bool has_new_step);
  void restart_every(uint32_t blocks) { restart_blocks_ = blocks; }
  // The next stream: nothing before it.
  void reset();

  void add(const T* values, uint64_t count);
  // Sums up what `squares` says from now on, of errors as shares of that width above 0; costs a pass.
  void measure_squares(double width) { measured_width_ = width; }

  struct Block {
    uint64_t symbol_begin = 0;
    uint64_t side_begin = 0;
    uint32_t values = 0;
    uint32_t symbols = 0;
    uint32_t side_bytes = 0;
    bool restarts = false;
    bool has_step = false;
  };
  uint64_t values() const { return values_; }
  // Closed by settle().
  const std::vector<Block>& blocks() const { return blocks_; }
  const SymbolCounts& counts() const { return counts_; }
  std::span<const uint16_t> symbols(const Block& b) const {
    return {symbols_.data() + b.symbol_begin, b.symbols};
  }
  ByteSpan side(const Block& b) const { return ByteSpan(side_).subspan(b.side_begin, b.side_bytes); }
  uint64_t side_bytes() const { return side_.size(); }
  double max_error() const { return static_cast<double>(stats_.max_error); }
  double squares() const { return squares_; }  // of errors, over ordinary values
  uint64_t ordinary() const { return values_ - specials_; }
  uint64_t exact_values() const { return exact_; }
  uint64_t special_values() const { return specials_; }
  // Ends the block in progress.
  void settle();

 private:
  void add_segment(const T* values, const History::Segment& segment);
  void add_rejected(const T* values, const History::Segment& segment);
  void put_side(T value);
  bool extends_run(T value);
  void add_square(T value, int32_t quant_code);
  void begin_block();

  uint32_t block_values_;
  uint32_t restart_blocks_ = 0;
  uint64_t blocks_since_restart_ = 0;
  History history_;
  History::Place begin_;  // of this chunk
  Quantizer<T> quantizer_{};
  QuantizeStats<T> stats_;
  bool next_restarts_ = true;
  bool next_has_step_ = false;
  double measured_width_ = 0;  // 0: nothing is measured
  double squares_ = 0;

  RawVector<uint16_t> symbols_;
  uint64_t symbol_total_ = 0;
  Bytes side_;
  std::vector<Block> blocks_;
  bool block_is_open_ = false;
  SymbolCounts counts_{};
  uint64_t values_ = 0;
  uint64_t exact_ = 0;
  uint64_t specials_ = 0;
  int32_t hold_ = 0;  // the quantization code before
  // A run of equal values without a quantization code: one escape, then how many more.
  bool in_run_ = false;
  portable::BitsOf<T> run_bits_ = 0;
  size_t run_count_at_ = 0;
  uint16_t run_count_ = 0;
  std::vector<int32_t> residuals_;
};

}  // namespace neve::stream
