// SPDX-License-Identifier: BSD-3-Clause
#include "core/stream/chunk.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/kernels/stream_kernels.hpp"

namespace neve::stream {

template <class T>
double stream_step(double bound_abs, const ValueRange& range) {
  ComponentSpec spec;
  spec.bound_abs = bound_abs;
  // As if the range reached from -largest to largest: quantization codes count from 0.
  const double largest = std::max(std::abs(range.min), std::abs(range.max));
  if (!range.empty) spec.range = {-largest, largest, false};
  const QuantizationGrid<T> grid = make_grid<T>(spec);
  return grid.is_usable() ? static_cast<double>(grid.step) : 0;
}

template <class T>
Quantizer<T> stream_quantizer(double bound_abs, double step, std::optional<double> fill) {
  ComponentSpec spec;
  spec.bound_abs = bound_abs;
  spec.fill = fill;
  Quantizer<T> q = make_quantizer<T>(spec);
  q.step = static_cast<T>(step);
  // Without a step nothing has a quantization code: no error is below 0.
  if (step == 0) q.tolerance = -1;
  q.inverse_step = step == 0 ? 0 : 1 / q.step;
  return q;
}

template <class T>
Chunk<T>::Chunk(const Header& header, uint64_t max_values)
    : block_values_(header.block_values),
      history_(header.dims, header.line, header.lines_per_plane),
      symbols_(max_values + row_padding),
      residuals_(History::longest_segment + 2 * row_padding) {}

template <class T>
void Chunk<T>::clear() {
  begin_ = history_.place();
  stats_ = {};
  squares_ = 0;
  symbol_total_ = 0;
  side_.clear();
  blocks_.clear();
  block_is_open_ = false;
  counts_.fill(0);
  values_ = 0;
  exact_ = 0;
  specials_ = 0;
  in_run_ = false;
}

template <class T>
void Chunk<T>::rewind() {
  history_.rewind(begin_);
  clear();
}

template <class T>
void Chunk<T>::restart(const Quantizer<T>& quantizer, bool has_new_step) {
  quantizer_ = quantizer;
  next_restarts_ = true;
  next_has_step_ = has_new_step;
}

template <class T>
void Chunk<T>::reset() {
  history_.reset();
  clear();
  hold_ = 0;
  next_restarts_ = true;
}

template <class T>
void Chunk<T>::begin_block() {
  Block block;
  block.symbol_begin = symbol_total_;
  block.side_begin = side_.size();
  if (restart_blocks_ > 0 && blocks_since_restart_ >= restart_blocks_) next_restarts_ = true;
  block.restarts = next_restarts_;
  block.has_step = next_has_step_;
  if (next_restarts_) {
    history_.restart();
    hold_ = 0;
    blocks_since_restart_ = 0;
  }
  ++blocks_since_restart_;
  next_restarts_ = false;
  next_has_step_ = false;
  blocks_.push_back(block);
  block_is_open_ = true;
  in_run_ = false;
}

template <class T>
void Chunk<T>::settle() {
  if (!block_is_open_) return;
  Block& block = blocks_.back();
  block.symbols = static_cast<uint32_t>(symbol_total_ - block.symbol_begin);
  block.side_bytes = static_cast<uint32_t>(side_.size() - block.side_begin);
  count_symbols(symbols(block), counts_);
  block_is_open_ = false;
}

template <class T>
void Chunk<T>::add(const T* values, uint64_t count) {
  while (count > 0) {
    if (!block_is_open_) begin_block();
    Block& block = blocks_.back();
    const History::Segment segment = history_.next(std::min<uint64_t>(count, block_values_ - block.values));
    add_segment(values, segment);
    history_.advance(segment);
    values += segment.count;
    count -= segment.count;
    values_ += segment.count;
    block.values += static_cast<uint32_t>(segment.count);
    if (block.values == block_values_) settle();
  }
}

template <class T>
void Chunk<T>::add_segment(const T* values, const History::Segment& segment) {
  const size_t rejected_before = stats_.rejected;
  const size_t n = segment.count;
  uint16_t* const symbols = symbols_.data() + symbol_total_;
  const bool has_escape = stream_row_kernels<T>().code(values, n, quantizer_, segment.around,
                                                       segment.quant_codes, symbols, stats_);
  if (stats_.rejected != rejected_before) {
    add_rejected(values, segment);
  } else {
    if (has_escape) {
      for (size_t i = 0; i < n; ++i) {
        if (symbols[i] == wide_symbol_escape) put_side(values[i]);
      }
    }
    if (measured_width_ > 0) {
      // Values beside the codes are exact: what their quantization code would be off by does not count.
      for (size_t i = 0; i < n; ++i) {
        if (symbols[i] != wide_symbol_escape) add_square(values[i], segment.quant_codes[i]);
      }
    }
    symbol_total_ += n;
    hold_ = segment.quant_codes[n - 1];
    in_run_ = false;
  }
}

template <class T>
void Chunk<T>::add_square(T value, int32_t quant_code) {
  const T decoded = portable::dequantize_one(quant_code, 0, T{0}, quantizer_.step);
  const double share = (static_cast<double>(decoded) - static_cast<double>(value)) / measured_width_;
  squares_ += share * share;
}

template <class T>
void Chunk<T>::put_side(T value) {
  const auto* bytes = reinterpret_cast<const std::byte*>(&value);
  side_.insert(side_.end(), bytes, bytes + sizeof value);
  ++exact_;
}

// One more of the values that the run consists of.
template <class T>
bool Chunk<T>::extends_run(T value) {
  if (!in_run_ || portable::bits(value) != run_bits_ || run_count_ == UINT16_MAX) return false;
  ++run_count_;
  std::memcpy(side_.data() + run_count_at_, &run_count_, sizeof run_count_);
  ++exact_;
  return true;
}

// Some values have no quantization code. They take that of the value before, so that prediction finds
// something like the field there, and are given as they are.
template <class T>
void Chunk<T>::add_rejected(const T* values, const History::Segment& segment) {
  const size_t n = segment.count;
  // Held quantization codes are marked aside: any number may be a quantization code.
  std::array<uint8_t, History::longest_segment> is_held;
  for (size_t i = 0; i < n; ++i) {
    is_held[i] = segment.quant_codes[i] == rejected_quant_code ? 1 : 0;
    if (is_held[i] != 0) segment.quant_codes[i] = hold_;
    hold_ = segment.quant_codes[i];
  }
  kernels().predict(segment.quant_codes, segment.around, true, n, residuals_.data());
  for (size_t i = 0; i < n; ++i) {
    if (is_held[i] != 0) {
      ++specials_;
      if (extends_run(values[i])) continue;
      symbols_[symbol_total_++] = wide_symbol_escape;
      put_side(values[i]);
      in_run_ = true;
      run_bits_ = portable::bits(values[i]);
      run_count_ = 0;
      run_count_at_ = side_.size();
      side_.resize(side_.size() + sizeof run_count_);
      continue;
    }
    in_run_ = false;
    uint16_t& symbol = symbols_[symbol_total_++];
    portable_kernels().pack_wide(&residuals_[i], 1, &symbol);
    if (symbol == wide_symbol_escape) {
      put_side(values[i]);
    } else if (measured_width_ > 0) {
      add_square(values[i], segment.quant_codes[i]);
    }
  }
}

template class Chunk<float>;
template class Chunk<double>;
template Quantizer<float> stream_quantizer<float>(double, double, std::optional<double>);
template Quantizer<double> stream_quantizer<double>(double, double, std::optional<double>);
template double stream_step<float>(double, const ValueRange&);
template double stream_step<double>(double, const ValueRange&);

}  // namespace neve::stream
