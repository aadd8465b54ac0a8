// SPDX-License-Identifier: BSD-3-Clause
// A chunk on its way into blocks: quantized, predicted, turned into symbols; waiting for its codebook.
#pragma once

#include <vector>

#include "core/kernels/portable.hpp"
#include "core/stages/quantize/quantizer.hpp"
#include "core/stream/codebook.hpp"
#include "core/stream/history.hpp"
#include "core/stream/residual_classes.hpp"
#include "core/stream/side_stream.hpp"
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
// The same or longer: where the bound is not far above the last places of the values, a power of two, with
// which nothing is rounded, so that nothing need be held back. It may be the unit that all values are
// multiples of, of which the engine has no notion.
template <class T>
double longest_step(double bound_abs, const ValueRange& range);

// Values without a quantization code take that of the value before, `hold` where there is none. Returns the
// last value's.
inline int32_t hold_rejected(int32_t* quant_codes, size_t count, int32_t hold) {
  for (size_t i = 0; i < count; ++i) {
    if (quant_codes[i] == rejected_quant_code) quant_codes[i] = hold;
    hold = quant_codes[i];
  }
  return hold;
}

// How often each symbol occurs where residuals are classed, and the bits that tell them apart.
struct ClassedCounts {
  SymbolCounts counts{};
  uint64_t extra_bits = 0;
};

template <class T>
class Chunk {
 public:
  Chunk(const Header& header, uint64_t max_values);
  // From now on also keeps what blocks with extra bits and raw ones hold, wherever those may be smaller;
  // values of raw ones wherever codes may take as much, with `header_bytes` of a stream in front.
  void keep_other_writings(uint64_t header_bytes) {
    keeps_others_ = true;
    raw_margin_ = header_bytes + max_block_overhead;
  }

  // Starts an empty chunk; what came before stays in the history.
  void clear();
  // Empties this one, to be filled again; restart() has to follow.
  void rewind();
  // From here on in other steps, and without what came before.
  void restart(const Quantizer<T>& quantizer, bool has_new_step);
  void restart_every(uint32_t blocks) { restart_blocks_ = blocks; }
  // The next stream: nothing before it.
  void reset();

  // `closes`: the last of them are the last of their block, as settle() says otherwise, which would need a
  // copy.
  void add(const T* values, uint64_t count, bool closes = false);
  // Sums up what `squares` says from now on, of errors as shares of that width above 0; costs a pass.
  void measure_squares(double width) { measured_width_ = width; }

  struct Block {
    uint64_t symbol_begin = 0;
    uint64_t side_begin = 0;
    uint64_t classed_side_begin = 0;
    uint64_t escape_begin = 0;
    uint64_t raw_begin = 0;
    uint32_t values = 0;
    uint32_t symbols = 0;
    uint32_t side_bytes = 0;
    uint32_t classed_side_bytes = 0;
    uint32_t escapes = 0;
    // The largest error among values that symbols, or classes, code.
    T max_error = 0;
    T classed_max_error = 0;
    bool has_raw = false;
    bool restarts = false;
    bool has_step = false;
  };
  uint64_t values() const { return values_; }
  // Closed by settle().
  const std::vector<Block>& blocks() const { return blocks_; }
  const SymbolCounts& counts() const { return counts_; }
  ClassedCounts classed_counts() const;
  // Of one block.
  SymbolCounts counts(const Block& b) const;
  ClassedCounts classed_counts(const Block& b) const;
  std::span<const uint16_t> symbols(const Block& b) const {
    return {symbols_.data() + b.symbol_begin, b.symbols};
  }
  ByteSpan side(const Block& b) const { return side_.bytes().subspan(b.side_begin, b.side_bytes); }
  uint64_t side_bytes() const { return side_.bytes().size(); }
  // The same where residuals are classed: what has no class.
  ByteSpan classed_side(const Block& b) const {
    return classed_side_.bytes().subspan(b.classed_side_begin, b.classed_side_bytes);
  }
  uint64_t classed_side_bytes() const { return classed_side_.bytes().size(); }
  // Residuals of the escapes among the symbols; unclassed_residual where the value stays beside the codes.
  std::span<const int32_t> escapes(const Block& b) const {
    return std::span(escapes_).subspan(b.escape_begin, b.escapes);
  }
  // Whether a class could take the place of some escape.
  bool has_classed_escapes() const { return escapes_.size() > unclassed_escapes_; }
  // Of a block that has_raw: its values. Those of successive ones follow each other.
  std::span<const T> raw(const Block& b) const { return std::span(raw_).subspan(b.raw_begin, b.values); }
  // Of errors, over ordinary values.
  double squares(bool is_classed) const { return is_classed ? squares_ + escape_squares_ : squares_; }
  uint64_t ordinary() const { return values_ - specials_; }
  uint64_t exact_values(bool is_classed) const { return is_classed ? classed_exact_ : exact_; }
  uint64_t special_values() const { return specials_; }
  // Ends the block in progress.
  void settle();

 private:
  void add_segment(const T* values, const History::Segment& segment);
  void add_rejected(const T* values, const History::Segment& segment, T largest_error);
  void add_escapes(const T* values, const History::Segment& segment, const uint16_t* symbols);
  void look_at_escapes(const T* values, const History::Segment& segment, const uint16_t* symbols);
  void put_escape(T value, int32_t residual, int32_t quant_code);
  void put_unclassed(T value);
  T error(T value, int32_t quant_code) const;
  void note_errors(const T* values, const History::Segment& segment, const uint16_t* symbols, T largest);
  void put_special(T value);
  bool extends_run(T value);
  void keep_raw(Block& block, const T* values, size_t count);
  double square(T value, int32_t quant_code) const;
  void begin_block();
  void close_block(const T* values, size_t count);

  uint32_t block_values_;
  uint32_t restart_blocks_ = 0;
  uint64_t blocks_since_restart_ = 0;
  History history_;
  History::Place begin_;  // of this chunk
  Quantizer<T> quantizer_{};
  bool next_restarts_ = true;
  bool next_has_step_ = false;
  double measured_width_ = 0;  // 0: nothing is measured
  double squares_ = 0;
  double escape_squares_ = 0;  // of what is exact as an escape, and not as a class

  RawVector<uint16_t> symbols_;
  uint64_t symbol_total_ = 0;
  SideStream<T> side_;
  bool keeps_others_ = false;
  uint64_t raw_margin_ = 0;
  SideStream<T> classed_side_;
  RawVector<int32_t> escapes_;
  uint64_t unclassed_escapes_ = 0;  // of them those without a class
  uint64_t block_escape_bits_ = 0;  // extra bits of the open block's
  std::vector<T> open_values_;      // of the open block, from before this call of add()
  std::vector<T> raw_;
  std::vector<Block> blocks_;
  bool block_is_open_ = false;
  SymbolCounts counts_{};
  uint64_t values_ = 0;
  uint64_t exact_ = 0;
  uint64_t classed_exact_ = 0;
  uint64_t specials_ = 0;
  int32_t hold_ = 0;  // the quantization code before
  // A run of equal values without a quantization code: one escape, then how many more.
  bool in_run_ = false;
  portable::BitsOf<T> run_bits_ = 0;
  uint16_t run_count_ = 0;
  std::vector<int32_t> residuals_;
};

}  // namespace neve::stream
