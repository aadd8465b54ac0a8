// SPDX-License-Identifier: BSD-3-Clause
// Residuals, or rows of values, into the symbols of a section, its escapes and raw low bits.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/kernels/row_kernels.hpp"
#include "core/stages/entropy/low_bits.hpp"
#include "core/threads/scratch.hpp"

namespace neve {

// Residuals wait until there are this many: packing short rows one by one would waste the kernel.
inline constexpr size_t pack_block = 4096;
// Rows are coded together while they have no more values: room for as many escapes is kept.
inline constexpr size_t max_block_values = 16384;

// Collects residuals of ordinary values and turns them into symbols, escapes and raw low bits.
class ResidualPacker {
 public:
  ResidualPacker(uint64_t max_values, int shift)
      : shift_(shift), symbols_(neve::take_symbols(max_values + row_padding)), low_bits_(shift, max_values) {}

  // Whether rows may go straight to symbols.
  bool takes_rows() const { return shift_ == 0; }
  // Codes rows, of at most max_block_values values; returns how many: all before one with rejected values, of
  // which only the quantization codes are there.
  template <class T>
  size_t add_rows(const RowBlock<const T>& block, const Quantizer<T>& quantizer, QuantizeStats<T>& stats) {
    if (pending_ > 0) flush();
    make_room(block.rows * block.width);
    size_t escapes = 0;
    const size_t done = row_kernels<T, uint8_t>().code(block, quantizer, symbols_.data() + symbol_total_,
                                                       escapes_.data() + escape_total_, escapes, stats);
    symbol_total_ += done * block.width;
    escape_total_ += escapes;
    return done;
  }

  // Room for n residuals behind those pending; n is at most pack_block.
  int32_t* room() {
    if (pending_ >= pack_block) flush();
    return residuals_.data() + pending_;
  }
  void commit(size_t n) { pending_ += n; }
  void flush() {
    make_room(pending_);
    escape_total_ += kernels().pack(residuals_.data(), pending_, shift_, symbols_.data() + symbol_total_,
                                    escapes_.data() + escape_total_);
    low_bits_.add(std::span(residuals_).first(pending_));
    symbol_total_ += pending_;
    pending_ = 0;
  }
  Symbols take_symbols() {
    symbols_.resize(symbol_total_);
    return std::move(symbols_);
  }
  std::vector<int32_t> take_escapes() {
    escapes_.resize(escape_total_);
    return std::move(escapes_);
  }
  Bytes take_low_bits() { return low_bits_.take(); }

 private:
  // For as many escapes.
  void make_room(size_t n) {
    const size_t needed = escape_total_ + n + row_padding;
    if (escapes_.size() < needed) escapes_.resize(std::max(2 * escapes_.size(), needed));
  }

  int shift_;
  std::vector<int32_t> residuals_ = std::vector<int32_t>(2 * pack_block + row_padding);
  size_t pending_ = 0;
  Symbols symbols_;
  size_t symbol_total_ = 0;
  std::vector<int32_t> escapes_;
  size_t escape_total_ = 0;
  LowBitWriter low_bits_;
};

}  // namespace neve
