// SPDX-License-Identifier: BSD-3-Clause
// Rows of values all the way to symbols, and back, in one sweep: what lies between stays in registers. One
// set for frames (symbols of 8 bits) and streams (10 bits). All instruction sets give the same bytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/kernels/kernels.hpp"

namespace neve {

// The symbols of residuals that are stored in one of this type: residual + zero, or 0, the escape.
template <class Symbol>
struct SymbolsOf;
template <>
struct SymbolsOf<uint8_t> {
  static constexpr uint32_t zero = symbol_zero, count = symbol_count;
};
template <>
struct SymbolsOf<uint16_t> {
  static constexpr uint32_t zero = wide_symbol_zero, count = wide_symbol_count;
};

// What a quantization code stands for: (code + origin) * step + center, each operation rounded in T.
template <class T>
struct CodeValues {
  int32_t origin;
  T center;
  T step;
};

// Rows of one width, one after another at equal distances, in elements. Rows of quantization codes may be
// read and written up to row_padding elements past their end; values may not. quant_codes[-1] of a row counts
// as the quantization code before its first. The rows that predict, too, lie at distances of their own.
template <class Value>
struct RowBlock {
  Value* values = nullptr;
  ptrdiff_t value_stride = 0;
  size_t width = 0;
  size_t rows = 1;
  int32_t* quant_codes = nullptr;
  ptrdiff_t code_stride = 0;
  const NeighbourRows* around = nullptr;                     // of the first row
  const std::array<ptrdiff_t, 7>* around_strides = nullptr;  // of more than one row
  bool along_x = false;
};

// Residuals of escapes in the order in which they are taken.
struct EscapeList {
  const int32_t* next = nullptr;
  const int32_t* end = nullptr;
};

// Symbols of a block lie one behind the other, up to row_padding elements behind the last may be read and
// written.
template <class T, class Symbol>
struct RowKernels {
  // quantize, predict and pack at once. Residuals of escapes go to `escapes`, in order, which needs as many
  // elements as there are values, and row_padding; null: they are not wanted. Returns how many rows are done:
  // all before the first with a rejected value. Of that one only the quantization codes mean anything, and
  // `stats` counts its rejected values. `escape_total` is how many there are in the rows that are done.
  size_t (*code)(const RowBlock<const T>&, const Quantizer<T>&, Symbol* symbols, int32_t* escapes,
                 size_t& escape_total, QuantizeStats<T>& stats);
  // unpack, unpredict and dequantize at once. Returns how many rows are done: all before the first for whose
  // escapes there are no residuals left; its quantization codes and values mean nothing.
  size_t (*restore)(const RowBlock<T>&, const CodeValues<T>&, const Symbol* symbols, EscapeList& escapes);
};

struct AllRowKernels {
  RowKernels<float, uint8_t> f32_narrow;
  RowKernels<float, uint16_t> f32_wide;
  RowKernels<double, uint8_t> f64_narrow;
  RowKernels<double, uint16_t> f64_wide;

  template <class T, class Symbol>
  const RowKernels<T, Symbol>& of() const {
    if constexpr (sizeof(T) == 4 && sizeof(Symbol) == 1) return f32_narrow;
    if constexpr (sizeof(T) == 4 && sizeof(Symbol) == 2) return f32_wide;
    if constexpr (sizeof(T) == 8 && sizeof(Symbol) == 1) return f64_narrow;
    if constexpr (sizeof(T) == 8 && sizeof(Symbol) == 2) return f64_wide;
  }
};

const AllRowKernels& portable_row_kernels();

// Those in force.
template <class T, class Symbol>
const RowKernels<T, Symbol>& row_kernels() {
  return kernels().rows->of<T, Symbol>();
}

// The portable ones, by the steps of `k` one after the other.
template <class T, class Symbol>
size_t code_rows_by_steps(const Kernels& k, const RowBlock<const T>& block, const Quantizer<T>& q,
                          Symbol* symbols, int32_t* escapes, size_t& escape_total, QuantizeStats<T>& stats);
template <class T, class Symbol>
size_t restore_rows_by_steps(const Kernels& k, const RowBlock<T>& block, const CodeValues<T>& code_values,
                             const Symbol* symbols, EscapeList& escapes);

// A block of n values in one row. `around` has to live as long.
template <class Value>
RowBlock<Value> one_row(Value* values, size_t n, const NeighbourRows& around, bool along_x,
                        int32_t* quant_codes) {
  RowBlock<Value> row;
  row.values = values;
  row.width = n;
  row.quant_codes = quant_codes;
  row.around = &around;
  row.along_x = along_x;
  return row;
}

// What predicts the row below one of a block.
template <class Value>
void move_down(const RowBlock<Value>& block, const NeighbourRows& from, NeighbourRows& to) {
  to.count = from.count;
  for (size_t k = 0; k < from.count; ++k) to.rows[k] = from.rows[k] + (*block.around_strides)[k];
}

}  // namespace neve
