// SPDX-License-Identifier: BSD-3-Clause
// The reference of row_simd.cpp in plain C++: the steps of a row one after the other.
#include <algorithm>
#include <array>

#include "core/kernels/portable.hpp"
#include "core/kernels/row_kernels.hpp"

namespace neve {

namespace {

// Values at a time, so that what lies between two steps stays near.
constexpr size_t step_values = 512;

NeighbourRows shifted(NeighbourRows around, size_t x) {
  for (int r = 0; r < around.count; ++r) around.rows[r] += x;
  return around;
}

template <class T>
void quantize(const Kernels& k, const T* values, size_t n, const Quantizer<T>& q, int32_t* quant_codes,
              QuantizeStats<T>& stats) {
  if constexpr (sizeof(T) == 4) {
    k.quantize_f32(values, n, q, quant_codes, stats);
  } else {
    k.quantize_f64(values, n, q, quant_codes, stats);
  }
}

template <class T>
void dequantize(const Kernels& k, const int32_t* quant_codes, size_t n, const CodeValues<T>& c, T* values) {
  if constexpr (sizeof(T) == 4) {
    k.dequantize_f32(quant_codes, n, c.origin, c.center, c.step, values);
  } else {
    k.dequantize_f64(quant_codes, n, c.origin, c.center, c.step, values);
  }
}

// Returns how many are escapes, whose residuals `escapes` gets unless it is null.
size_t pack(const Kernels& k, const int32_t* residuals, size_t n, uint8_t* symbols, int32_t* escapes) {
  std::array<int32_t, step_values + row_padding> unwanted;
  return k.pack(residuals, n, 0, symbols, escapes == nullptr ? unwanted.data() : escapes);
}
size_t pack(const Kernels& k, const int32_t* residuals, size_t n, uint16_t* symbols, int32_t* escapes) {
  const size_t used = k.pack_wide(residuals, n, symbols);
  if (escapes == nullptr || used == 0) return used;
  for (size_t i = 0; i < n; ++i) {
    if (symbols[i] == wide_symbol_escape) *escapes++ = residuals[i];
  }
  return used;
}

// False: there are fewer residuals than escapes.
bool unpack(const Kernels& k, const uint8_t* symbols, size_t n, EscapeList& escapes, int32_t* residuals) {
  const size_t used = k.unpack(symbols, n, 0, {escapes.next, escapes.end}, residuals);
  if (used == SIZE_MAX) return false;
  escapes.next += used;
  return true;
}
bool unpack(const Kernels& k, const uint16_t* symbols, size_t n, EscapeList& escapes, int32_t* residuals) {
  const size_t used = k.unpack_wide(symbols, n, residuals);
  if (used > static_cast<size_t>(escapes.end - escapes.next)) return false;
  for (size_t i = 0; used > 0 && i < n; ++i) {
    if (symbols[i] == wide_symbol_escape) residuals[i] = *escapes.next++;
  }
  return true;
}

template <class T, class Symbol>
size_t code_portable(const RowBlock<const T>& block, const Quantizer<T>& q, Symbol* symbols, int32_t* escapes,
                     size_t& escape_total, QuantizeStats<T>& stats) {
  return code_rows_by_steps(portable_kernels(), block, q, symbols, escapes, escape_total, stats);
}
template <class T, class Symbol>
size_t restore_portable(const RowBlock<T>& block, const CodeValues<T>& code_values, const Symbol* symbols,
                        EscapeList& escapes) {
  return restore_rows_by_steps(portable_kernels(), block, code_values, symbols, escapes);
}

// Returns how many escapes there are.
template <class T, class Symbol>
size_t code_row(const Kernels& k, const RowBlock<const T>& row, const Quantizer<T>& q, Symbol* symbols,
                int32_t* escapes, QuantizeStats<T>& stats) {
  std::array<int32_t, step_values + row_padding> residuals;
  size_t used = 0;
  for (size_t x = 0; x < row.width; x += step_values) {
    const size_t part = std::min(step_values, row.width - x);
    int32_t* const quant_codes = row.quant_codes + x;
    quantize(k, row.values + x, part, q, quant_codes, stats);
    k.predict(quant_codes, shifted(*row.around, x), row.along_x, part, residuals.data());
    used += pack(k, residuals.data(), part, symbols + x, escapes == nullptr ? nullptr : escapes + used);
  }
  return used;
}

// False: there are fewer residuals than escapes.
template <class T, class Symbol>
bool restore_row(const Kernels& k, const RowBlock<T>& row, const CodeValues<T>& code_values,
                 const Symbol* symbols, EscapeList& escapes) {
  std::array<int32_t, step_values + row_padding> residuals;
  for (size_t x = 0; x < row.width; x += step_values) {
    const size_t part = std::min(step_values, row.width - x);
    if (!unpack(k, symbols + x, part, escapes, residuals.data())) return false;
    const NeighbourRows beside = shifted(*row.around, x);
    int32_t* const quant_codes = row.quant_codes + x;
    // What prediction along the row adds to the first residual.
    const uint32_t carry =
        row.along_x ? static_cast<uint32_t>(quant_codes[-1]) - portable::neighbour_sum(beside, -1) : 0;
    residuals[0] = static_cast<int32_t>(static_cast<uint32_t>(residuals[0]) + carry);
    k.unpredict(residuals.data(), beside, row.along_x, part, quant_codes);
    dequantize(k, quant_codes, part, code_values, row.values + x);
  }
  return true;
}

// The rows of a block, one after the other. code(row) returns false to stop. Returns how many are done.
template <class Value, class Code>
size_t visit_rows(const RowBlock<Value>& block, const Code& code) {
  RowBlock<Value> row = block;
  row.rows = 1;
  NeighbourRows moved{};
  for (size_t r = 0; r < block.rows; ++r) {
    if (r > 0) {
      move_down(block, *row.around, moved);
      row.around = &moved;
      row.values += block.value_stride;
      row.quant_codes += block.code_stride;
    }
    if (!code(row, r)) return r;
  }
  return block.rows;
}

}  // namespace

template <class T, class Symbol>
size_t code_rows_by_steps(const Kernels& k, const RowBlock<const T>& block, const Quantizer<T>& q,
                          Symbol* symbols, int32_t* escapes, size_t& escape_total, QuantizeStats<T>& stats) {
  escape_total = 0;
  const size_t rejected_before = stats.rejected;
  return visit_rows(block, [&](const RowBlock<const T>& row, size_t r) {
    const size_t used = code_row(k, row, q, symbols + r * block.width,
                                 escapes == nullptr ? nullptr : escapes + escape_total, stats);
    if (stats.rejected != rejected_before) return false;
    escape_total += used;
    return true;
  });
}

template <class T, class Symbol>
size_t restore_rows_by_steps(const Kernels& k, const RowBlock<T>& block, const CodeValues<T>& code_values,
                             const Symbol* symbols, EscapeList& escapes) {
  return visit_rows(block, [&](const RowBlock<T>& row, size_t r) {
    return restore_row(k, row, code_values, symbols + r * block.width, escapes);
  });
}

const AllRowKernels& portable_row_kernels() {
  static const AllRowKernels table{{code_portable<float, uint8_t>, restore_portable<float, uint8_t>},
                                   {code_portable<float, uint16_t>, restore_portable<float, uint16_t>},
                                   {code_portable<double, uint8_t>, restore_portable<double, uint8_t>},
                                   {code_portable<double, uint16_t>, restore_portable<double, uint16_t>}};
  return table;
}

#define NEVE_BY_STEPS(T, Symbol)                                                                             \
  template size_t code_rows_by_steps(const Kernels&, const RowBlock<const T>&, const Quantizer<T>&, Symbol*, \
                                     int32_t*, size_t&, QuantizeStats<T>&);                                  \
  template size_t restore_rows_by_steps(const Kernels&, const RowBlock<T>&, const CodeValues<T>&,            \
                                        const Symbol*, EscapeList&)
NEVE_BY_STEPS(float, uint8_t);
NEVE_BY_STEPS(float, uint16_t);
NEVE_BY_STEPS(double, uint8_t);
NEVE_BY_STEPS(double, uint16_t);
#undef NEVE_BY_STEPS

}  // namespace neve
