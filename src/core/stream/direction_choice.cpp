// SPDX-License-Identifier: BSD-3-Clause
#include "core/stream/direction_choice.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "core/kernels/stream_kernels.hpp"
#include "core/math/portable_math.hpp"
#include "core/stream/chunk.hpp"
#include "core/stream/codebook_choice.hpp"

namespace neve::stream {

namespace {

constexpr uint64_t sampled_lines = 64;
constexpr uint64_t longest_line = 1024;
// A sample does not tell finer differences.
constexpr double min_gain = 0.005;

// Bits that codes would take: as good as the frequencies allow, or from an offline codebook, which is all
// that short streams have.
double code_bits(const SymbolCounts& counts, bool is_short) {
  if (is_short) {
    uint64_t least = UINT64_MAX;
    for (const Codebook& codebook : offline_codebooks())
      least = std::min(least, coded_bits(codebook, counts));
    return static_cast<double>(least);
  }
  double total = 0;
  for (const uint32_t count : counts) total += count;
  double bits = 0;
  for (const uint32_t count : counts) {
    if (count > 0) bits += count * math::log2(total / count);
  }
  return bits;
}

struct Symbols {
  SymbolCounts direct{};
  ClassedCounts classed;
};

void add(std::span<const int32_t> residuals, Symbols& symbols) {
  for (const int32_t residual : residuals) {
    constexpr int32_t zero = wide_symbol_zero;
    const bool is_direct = residual > -zero && residual < zero;
    ++symbols.direct[is_direct ? static_cast<size_t>(zero + residual) : wide_symbol_escape];
    const ClassedResidual c = residual == unclassed_residual ? ClassedResidual{} : classed(residual);
    ++symbols.classed.counts[c.symbol];
    symbols.classed.extra_bits += c.bits;
  }
}

// With what escapes or extra bits carry beside the codes.
double cost(const Symbols& symbols, size_t value_bytes, bool is_for_software, bool is_short) {
  const double value_bits = 8.0 * static_cast<double>(value_bytes);
  const double direct = code_bits(symbols.direct, is_short) + symbols.direct[wide_symbol_escape] * value_bits;
  if (!is_for_software) return direct;
  const ClassedCounts& c = symbols.classed;
  return std::min(direct, code_bits(c.counts, is_short) + static_cast<double>(c.extra_bits) +
                              c.counts[wide_symbol_escape] * value_bits);
}

// How many directions; symbols[k] are of k + 1.
int cheapest(std::span<const Symbols> symbols, size_t value_bytes, bool is_for_software, bool is_short) {
  const auto cost_of = [&](size_t dims) {
    return cost(symbols[dims - 1], value_bytes, is_for_software, is_short);
  };
  size_t best = symbols.size();
  double least = cost_of(best);
  for (size_t dims = best - 1; dims >= 1; --dims) {
    const double found = cost_of(dims);
    if (found < least * (1 - min_gain)) {
      best = dims;
      least = found;
    }
  }
  return static_cast<int>(best);
}

}  // namespace

template <class T>
int choose_dims(const Header& header, const T* values, double bound_abs, const ValueRange& range,
                bool is_for_software) {
  if (header.dims == 1) return 1;
  const uint64_t line = header.line;
  const uint64_t lines = header.value_total().value_or(0) / line;
  // The first that has all its neighbours.
  const uint64_t first = header.dims == 3 ? uint64_t{header.lines_per_plane} + 1 : 1;
  if (lines <= first) return header.dims;
  const uint64_t count = std::min(lines - first, sampled_lines);
  const auto n = static_cast<size_t>(std::min(line, longest_line));
  const uint64_t column = (line - n) / 2;

  const double step = is_for_software ? longest_step<T>(bound_abs, range) : stream_step<T>(bound_abs, range);
  const Quantizer<T> quantizer = stream_quantizer<T>(bound_abs, step, header.fill);
  std::array<std::vector<int32_t>, 4> quant_codes;
  for (auto& row : quant_codes) row.assign(n + 2 * row_padding, 0);
  std::vector<int32_t> residuals(n + row_padding);
  const auto load = [&](size_t row, uint64_t at) {
    QuantizeStats<T> ignored;
    int32_t* const q = quant_codes[row].data() + row_padding;
    quantize(values + at * line + column, n, quantizer, q, ignored);
    hold_rejected(q, n, 0);
    return q;
  };
  std::array<Symbols, max_stream_dims> symbols{};
  for (uint64_t k = 0; k < count; ++k) {
    const uint64_t at = first + (lines - first) * k / count;
    // Of the first line of a plane nothing can be said.
    const bool has_line = header.dims == 2 || at % header.lines_per_plane != 0;
    if (!has_line) continue;
    NeighbourRows around{};
    int32_t* const own = load(0, at);
    around.rows[0] = load(1, at - 1);
    if (header.dims == 3) {
      around.rows[1] = load(2, at - header.lines_per_plane);
      around.rows[2] = load(3, at - header.lines_per_plane - 1);
    }
    for (int dims = 1; dims <= header.dims; ++dims) {
      // Along the one direction alone lines follow each other.
      own[-1] = dims == 1 && n == line ? around.rows[0][n - 1] : 0;
      around.count = static_cast<uint8_t>((1 << (dims - 1)) - 1);
      kernels().predict(own, around, true, n, residuals.data());
      // The first of a whole line counts; one within a line has no code before it here.
      const size_t first_known = n == line ? 0 : 1;
      add(std::span(residuals).subspan(first_known, n - first_known), symbols[static_cast<size_t>(dims) - 1]);
    }
  }
  const bool is_short = header.value_total().value_or(0) < rebuild_min_symbols;
  return cheapest(std::span(symbols).first(static_cast<size_t>(header.dims)), sizeof(T), is_for_software,
                  is_short);
}

template int choose_dims<float>(const Header&, const float*, double, const ValueRange&, bool);
template int choose_dims<double>(const Header&, const double*, double, const ValueRange&, bool);

}  // namespace neve::stream
