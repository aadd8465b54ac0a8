// SPDX-License-Identifier: BSD-3-Clause
#include "core/stream/chunk.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/kernels/row_kernels.hpp"

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

namespace {

// The last place of the smallest values of a range without 0, which all are multiples of; 0 where the largest
// are too many of them.
template <class T>
double common_unit(const ValueRange& range) {
  if (range.empty || (range.min <= 0 && range.max >= 0)) return 0;
  const auto [smallest, largest] = std::minmax({std::abs(range.min), std::abs(range.max)});
  if (!(smallest >= static_cast<double>(std::numeric_limits<T>::min()))) return 0;
  const double unit = math::ldexp(1.0, math::split(smallest).exponent - std::numeric_limits<T>::digits);
  return largest < unit * quant_code_limit ? unit : 0;
}

}  // namespace

template <class T>
double longest_step(double bound_abs, const ValueRange& range) {
  // Twice a bound near the largest number of T would be no step.
  const double bound = std::min(bound_abs, static_cast<double>(std::numeric_limits<T>::max()) / 8);
  const double step = stream_step<T>(bound, range);
  if (step == 0) return 0;
  const auto tolerance = static_cast<double>(stream_quantizer<T>(bound, step, {}).tolerance);
  const double power = math::ldexp(1.0, math::split(2 * tolerance).exponent - 1);
  const double longest = std::max({step, power, common_unit<T>(range)});
  const auto typed = static_cast<T>(longest);
  return static_cast<double>(typed) == longest && std::isfinite(1 / typed) ? longest : step;
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
  squares_ = 0;
  escape_squares_ = 0;
  symbol_total_ = 0;
  side_.clear();
  classed_side_.clear();
  escapes_.clear();
  unclassed_escapes_ = 0;
  open_values_.clear();
  raw_.clear();
  blocks_.clear();
  block_is_open_ = false;
  counts_.fill(0);
  values_ = 0;
  exact_ = 0;
  classed_exact_ = 0;
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
  block.side_begin = side_.bytes().size();
  block.classed_side_begin = classed_side_.bytes().size();
  block.escape_begin = escapes_.size();
  block_escape_bits_ = 0;
  open_values_.clear();
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
  if (block_is_open_) close_block(nullptr, 0);
}

// `values` are the last `count` of the block; open_values_ has those before.
template <class T>
void Chunk<T>::close_block(const T* values, size_t count) {
  Block& block = blocks_.back();
  block.symbols = static_cast<uint32_t>(symbol_total_ - block.symbol_begin);
  block.side_bytes = static_cast<uint32_t>(side_.bytes().size() - block.side_begin);
  block.classed_side_bytes = static_cast<uint32_t>(classed_side_.bytes().size() - block.classed_side_begin);
  block.escapes = static_cast<uint32_t>(escapes_.size() - block.escape_begin);
  count_symbols(symbols(block), counts_);
  block_is_open_ = false;
  if (keeps_others_) keep_raw(block, values, count);
}

// Where codes of the most bits and what is beside them could take as much.
template <class T>
void Chunk<T>::keep_raw(Block& block, const T* values, size_t count) {
  constexpr uint64_t longest_code = max_wide_code_bits;
  constexpr unsigned uncounted_extra_bits = classed(wide_symbol_zero - 1).bits;
  const uint64_t codes = longest_code * block.symbols;
  const uint64_t as_escapes = codes + 8 * uint64_t{block.side_bytes};
  const uint64_t as_classes = codes + 8 * uint64_t{block.classed_side_bytes} + block_escape_bits_ +
                              uint64_t{uncounted_extra_bits} * block.symbols;
  if (std::min(as_escapes, as_classes) + 8 * raw_margin_ <= 8 * sizeof(T) * uint64_t{block.values}) return;
  block.has_raw = true;
  block.raw_begin = raw_.size();
  raw_.insert(raw_.end(), open_values_.begin(), open_values_.end());
  if (count > 0) raw_.insert(raw_.end(), values, values + count);
}

template <class T>
void Chunk<T>::add(const T* values, uint64_t count, bool closes) {
  const T* open = values;  // the open block's first value in this call
  while (count > 0) {
    if (!block_is_open_) {
      begin_block();
      open = values;
    }
    Block& block = blocks_.back();
    const History::Segment segment = history_.next(std::min<uint64_t>(count, block_values_ - block.values));
    add_segment(values, segment);
    history_.advance(segment);
    values += segment.count;
    count -= segment.count;
    values_ += segment.count;
    block.values += static_cast<uint32_t>(segment.count);
    if (block.values == block_values_) close_block(open, static_cast<size_t>(values - open));
  }
  if (!block_is_open_) return;
  if (closes) {
    close_block(open, static_cast<size_t>(values - open));
  } else if (keeps_others_) {
    open_values_.insert(open_values_.end(), open, values);
  }
}

template <class T>
void Chunk<T>::add_segment(const T* values, const History::Segment& segment) {
  QuantizeStats<T> stats;
  const size_t n = segment.count;
  uint16_t* const symbols = symbols_.data() + symbol_total_;
  size_t escapes = 0;
  row_kernels<T, uint16_t>().code(one_row(values, n, segment.around, true, segment.quant_codes), quantizer_,
                                  symbols, nullptr, escapes, stats);
  Block& block = blocks_.back();
  block.classed_max_error = std::max(block.classed_max_error, stats.max_error);
  if (stats.rejected != 0) return add_rejected(values, segment, stats.max_error);
  if (escapes > 0) {
    note_errors(values, segment, symbols, stats.max_error);
    add_escapes(values, segment, symbols);
  } else {
    block.max_error = std::max(block.max_error, stats.max_error);
  }
  if (measured_width_ > 0) {
    for (size_t i = 0; i < n; ++i) {
      if (symbols[i] != wide_symbol_escape) squares_ += square(values[i], segment.quant_codes[i]);
    }
  }
  symbol_total_ += n;
  hold_ = segment.quant_codes[n - 1];
  in_run_ = false;
}

template <class T>
T Chunk<T>::error(T value, int32_t quant_code) const {
  return std::abs(value - portable::dequantize_one(quant_code, 0, T{0}, quantizer_.step));
}

// Escapes are exact. Once the largest error is near the bound, few segments have a larger one.
template <class T>
void Chunk<T>::note_errors(const T* values, const History::Segment& segment, const uint16_t* symbols,
                           T largest) {
  T& max_error = blocks_.back().max_error;
  if (largest <= max_error) return;
  for (size_t i = 0; i < segment.count; ++i) {
    if (symbols[i] != wide_symbol_escape)
      max_error = std::max(max_error, error(values[i], segment.quant_codes[i]));
  }
}

// Half of the values may be escapes, with no order in which: no branch depends on it.
template <class T>
void Chunk<T>::add_escapes(const T* values, const History::Segment& segment, const uint16_t* symbols) {
  const size_t n = segment.count;
  kernels().predict(segment.quant_codes, segment.around, true, n, residuals_.data());
  std::byte* const beside = side_.room(n);
  const size_t before = escapes_.size();
  if (keeps_others_) escapes_.resize(before + n);
  int32_t* const residuals = keeps_others_ ? escapes_.data() + before : residuals_.data();
  size_t found = 0;
  uint64_t bits = 0;
  bool is_any_unclassed = false;
  for (size_t i = 0; i < n; ++i) {
    const size_t is_escape = symbols[i] == wide_symbol_escape ? 1 : 0;
    const int32_t residual = residuals_[i];
    std::memcpy(beside + found * sizeof(T), values + i, sizeof(T));
    residuals[found] = residual;
    bits += is_escape * extra_bits_of(residual);
    is_any_unclassed |= (is_escape != 0) & (residual == unclassed_residual);
    found += is_escape;
  }
  side_.take(found);
  exact_ += found;
  if (!keeps_others_) return;
  escapes_.resize(before + found);
  block_escape_bits_ += bits;
  if (is_any_unclassed || measured_width_ > 0) look_at_escapes(values, segment, symbols);
}

// What a class holds of these escapes, where that is more than their residuals.
template <class T>
void Chunk<T>::look_at_escapes(const T* values, const History::Segment& segment, const uint16_t* symbols) {
  for (size_t i = 0; i < segment.count; ++i) {
    if (symbols[i] != wide_symbol_escape) continue;
    if (residuals_[i] == unclassed_residual) {
      put_unclassed(values[i]);
    } else if (measured_width_ > 0) {
      escape_squares_ += square(values[i], segment.quant_codes[i]);
    }
  }
}

template <class T>
void Chunk<T>::put_unclassed(T value) {
  classed_side_.put(value);
  ++classed_exact_;
  ++unclassed_escapes_;
}

// Of the error as a share of the measured width.
template <class T>
double Chunk<T>::square(T value, int32_t quant_code) const {
  const T decoded = portable::dequantize_one(quant_code, 0, T{0}, quantizer_.step);
  const double share = (static_cast<double>(decoded) - static_cast<double>(value)) / measured_width_;
  return share * share;
}

// A value that has a quantization code, and a residual too large for a symbol of its own.
template <class T>
void Chunk<T>::put_escape(T value, int32_t residual, int32_t quant_code) {
  side_.put(value);
  ++exact_;
  if (!keeps_others_) return;
  escapes_.push_back(residual);
  if (residual == unclassed_residual) return put_unclassed(value);
  block_escape_bits_ += extra_bits_of(residual);
  // Beside the codes it is exact: what its quantization code would be off by counts with a class alone.
  if (measured_width_ > 0) escape_squares_ += square(value, quant_code);
}

template <class T>
void Chunk<T>::put_special(T value) {
  side_.begin_run(value);
  ++exact_;
  ++classed_exact_;
  if (keeps_others_) {
    classed_side_.begin_run(value);
    escapes_.push_back(unclassed_residual);
    ++unclassed_escapes_;
  }
  in_run_ = true;
  run_bits_ = portable::bits(value);
  run_count_ = 0;
}

// One more of the values that the run consists of.
template <class T>
bool Chunk<T>::extends_run(T value) {
  if (!in_run_ || portable::bits(value) != run_bits_ || run_count_ == UINT16_MAX) return false;
  ++run_count_;
  side_.set_more(run_count_);
  if (keeps_others_) classed_side_.set_more(run_count_);
  ++exact_;
  ++classed_exact_;
  return true;
}

// Some values have no quantization code. They take that of the value before, so that prediction finds
// something like the field there, and are given as they are.
template <class T>
void Chunk<T>::add_rejected(const T* values, const History::Segment& segment, T largest_error) {
  const size_t n = segment.count;
  // Held quantization codes are marked aside: any number may be a quantization code.
  std::array<uint8_t, History::longest_segment> is_held;
  for (size_t i = 0; i < n; ++i) is_held[i] = segment.quant_codes[i] == rejected_quant_code ? 1 : 0;
  hold_ = hold_rejected(segment.quant_codes, n, hold_);
  kernels().predict(segment.quant_codes, segment.around, true, n, residuals_.data());
  for (size_t i = 0; i < n; ++i) {
    if (is_held[i] != 0) {
      ++specials_;
      if (extends_run(values[i])) continue;
      symbols_[symbol_total_++] = wide_symbol_escape;
      put_special(values[i]);
      continue;
    }
    in_run_ = false;
    uint16_t& symbol = symbols_[symbol_total_++];
    portable_kernels().pack_wide(&residuals_[i], 1, &symbol);
    if (symbol == wide_symbol_escape) {
      put_escape(values[i], residuals_[i], segment.quant_codes[i]);
      continue;
    }
    if (measured_width_ > 0) squares_ += square(values[i], segment.quant_codes[i]);
    T& max_error = blocks_.back().max_error;
    if (largest_error > max_error) max_error = std::max(max_error, error(values[i], segment.quant_codes[i]));
  }
}

namespace {

// What symbols and escapes say, as classes.
ClassedCounts as_classes(const SymbolCounts& counts, std::span<const int32_t> escapes) {
  ClassedCounts classes;
  const auto add = [&](int32_t residual, uint32_t times) {
    const ClassedResidual c = classed(residual);
    classes.counts[c.symbol] += times;
    classes.extra_bits += uint64_t{times} * c.bits;
  };
  for (size_t s = 0; s < counts.size(); ++s) {
    if (s == wide_symbol_escape || counts[s] == 0) continue;
    add(static_cast<int32_t>(s) - static_cast<int32_t>(wide_symbol_zero), counts[s]);
  }
  for (const int32_t residual : escapes) add(residual, 1);
  return classes;
}

}  // namespace

template <class T>
ClassedCounts Chunk<T>::classed_counts() const {
  return as_classes(counts_, escapes_);
}

template <class T>
SymbolCounts Chunk<T>::counts(const Block& b) const {
  SymbolCounts own{};
  count_symbols(symbols(b), own);
  return own;
}

template <class T>
ClassedCounts Chunk<T>::classed_counts(const Block& b) const {
  return as_classes(counts(b), escapes(b));
}

template class Chunk<float>;
template class Chunk<double>;
template Quantizer<float> stream_quantizer<float>(double, double, std::optional<double>);
template Quantizer<double> stream_quantizer<double>(double, double, std::optional<double>);
template double stream_step<float>(double, const ValueRange&);
template double stream_step<double>(double, const ValueRange&);
template double longest_step<float>(double, const ValueRange&);
template double longest_step<double>(double, const ValueRange&);

}  // namespace neve::stream
