// SPDX-License-Identifier: BSD-3-Clause
#include "stages/predict/axis_choice.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <vector>

namespace neve {

namespace {

constexpr int axis_sets = 1 << max_frame_dims;
constexpr int64_t sample_row_cells = 32;
constexpr int64_t min_samples = 512;
constexpr int64_t max_samples = 4096;
// One sampled cell stands for this many: sampling stays a few per cent of encoding.
constexpr int64_t cells_per_sample = 64;
constexpr int64_t max_thinning = 8;

// log2 in 16 fractional bits by repeated squaring: integers only, so that the choice, and with it the stream,
// is the same with every compiler and mathematics library.
uint32_t log2_fixed(uint32_t n) {
  const auto whole = static_cast<uint32_t>(std::bit_width(n) - 1);
  uint64_t mantissa = (uint64_t{n} << 31) >> whole;  // [2^31, 2^32)
  uint32_t fraction = 0;
  for (int b = 0; b < 16; ++b) {
    mantissa = (mantissa * mantissa) >> 31;
    fraction <<= 1;
    if (mantissa >= uint64_t{1} << 32) {
      mantissa >>= 1;
      fraction |= 1;
    }
  }
  return whole << 16 | fraction;
}

// Estimated bits of residuals: the entropy of small ones, a class by magnitude and raw bits for large ones.
struct CostSketch {
  static constexpr int direct = 24;
  std::array<uint32_t, 2 * direct + 1 + 64> classes{};
  uint64_t raw_bits = 0;
  uint64_t magnitude = 0;
  uint32_t total = 0;

  void add(int64_t residual) {
    const auto size = static_cast<uint64_t>(std::abs(residual));
    magnitude += std::min<uint64_t>(size, uint64_t{1} << 32);
    ++total;
    if (size <= direct) {
      ++classes[static_cast<size_t>(residual + direct)];
      return;
    }
    const auto width = static_cast<size_t>(std::bit_width(size));
    raw_bits += width;
    ++classes[2 * direct + 1 + std::min<size_t>(width, 63)];
  }
  uint64_t bits_fixed() const {
    uint64_t sum = raw_bits << 16;
    const uint32_t log_total = total > 0 ? log2_fixed(total) : 0;
    for (const uint32_t n : classes) {
      if (n > 0) sum += uint64_t{n} * (log_total - log2_fixed(n));
    }
    return sum;
  }
};

template <class T>
int64_t sample_quantum(T value, const Quantizer<T>& quantizer, int64_t otherwise) {
  if (quantizer.has_fill && value == quantizer.fill) return otherwise;
  const T scaled = (value - quantizer.center) * quantizer.inverse_step;
  if (!(std::abs(scaled) < static_cast<T>(quantum_limit))) return otherwise;
  return static_cast<int64_t>(std::nearbyint(scaled));
}

// The first value that has a quantum, of each rectangle's first held ones.
template <class T>
int32_t first_quantum(const SectionSource<T>& source, const Quantizer<T>& quantizer) {
  constexpr int64_t most_tried = 4096;
  for (const auto& rect : source.rects) {
    int64_t tried = 0;
    int32_t found = rejected_quantum;
    for (int64_t r = 0; r < rect.rows() && tried < most_tried && found == rejected_quantum; ++r) {
      const T* row = rect.row(r);
      const uint8_t* left_out = rect.left_out.empty() ? nullptr : rect.left_out.data() + r * rect.size[0];
      visit_runs(left_out, static_cast<size_t>(rect.size[0]), [&](size_t begin, size_t end, bool skip) {
        for (size_t x = begin; x < end && !skip && tried < most_tried && found == rejected_quantum; ++x) {
          found = static_cast<int32_t>(sample_quantum(row[x], quantizer, rejected_quantum));
          ++tried;
        }
      });
    }
    if (found != rejected_quantum) return found;
  }
  return 0;
}

// The quantum that prediction finds at a cell: left-out cells repeat the one before them in the row.
template <class T>
int64_t held_quantum(const RectRows<const T*>& rect, Extents at, const Quantizer<T>& quantizer,
                     int32_t otherwise) {
  if (!rect.left_out.empty()) {
    const int64_t row = (at[3] * rect.size[2] + at[2]) * rect.size[1] + at[1];
    const uint8_t* left_out = rect.left_out.data() + row * rect.size[0];
    while (at[0] >= 0 && left_out[at[0]] != 0) --at[0];
    if (at[0] < 0) return otherwise;
  }
  const T value =
      rect.first[at[0] + at[1] * rect.stride[1] + at[2] * rect.stride[2] + at[3] * rect.stride[3]];
  return sample_quantum(value, quantizer, otherwise);
}

}  // namespace

template <class T>
AxisChoice choose_axes(const SectionSource<T>& source, const Quantizer<T>& quantizer) {
  AxisChoice choice;
  int used = 0;
  int64_t rows = 0;
  int64_t cells = 0;
  for (const auto& rect : source.rects) {
    for (int d = 0; d < max_frame_dims; ++d) {
      if (rect.size[d] > 1) used |= 1 << d;
    }
    rows += rect.rows();
    cells += rect.cells();
  }
  choice.origin = first_quantum(source, quantizer);

  const int64_t samples = std::clamp(cells / cells_per_sample, min_samples, max_samples);
  // Rows sampled where cells are left out give less: so many more are looked at.
  const int64_t thinning =
      std::clamp<int64_t>(cells / std::max<int64_t>(1, static_cast<int64_t>(source.held)), 1, max_thinning);
  const int64_t sampled_rows = std::clamp<int64_t>(thinning * samples / sample_row_cells, 1, rows);
  std::array<CostSketch, axis_sets> sketch{};
  size_t rect_at = 0;
  int64_t rect_first_row = 0;
  for (int64_t k = 0; k < sampled_rows; ++k) {
    // Evenly spread with a fixed scatter (golden ratio), so that rows do not all fall on one plane position.
    const int64_t spacing = rows / sampled_rows;
    const auto scatter = static_cast<int64_t>((static_cast<uint64_t>(k) * 0x9E3779B97F4A7C15ULL) >> 33);
    const int64_t row_number = k * rows / sampled_rows + (spacing > 1 ? scatter % spacing : 0);
    while (row_number >= rect_first_row + source.rects[rect_at].rows()) {
      rect_first_row += source.rects[rect_at].rows();
      ++rect_at;
    }
    const auto& rect = source.rects[rect_at];
    const int64_t r = row_number - rect_first_row;
    const std::array<int64_t, max_frame_dims> at{0, r % rect.size[1], r / rect.size[1] % rect.size[2],
                                                 r / (rect.size[1] * rect.size[2])};
    const int64_t room = rect.size[0] - sample_row_cells;
    const int64_t x0 = room > 0 ? scatter % (room + 1) : 0;
    const int64_t x1 = std::min(rect.size[0], x0 + sample_row_cells);
    const uint8_t* left_out = rect.left_out.empty() ? nullptr : rect.left_out.data();
    for (int64_t x = x0; x < x1; ++x) {
      if (left_out != nullptr && left_out[r * rect.size[0] + x] != 0) continue;
      // Quanta of the cell and of its neighbours one step back in each subset of directions ...
      std::array<int64_t, axis_sets> value{};
      for (int set = 0; set < axis_sets; ++set) {
        if ((set & ~used) != 0) continue;
        Extents place{x, at[1], at[2], at[3]};
        bool inside = true;
        for (int d = 0; d < max_frame_dims; ++d) inside = (place[d] -= (set >> d) & 1) >= 0 && inside;
        if (inside) {
          value[static_cast<size_t>(set)] =
              held_quantum(rect, place, quantizer, choice.origin) - choice.origin;
        }
      }
      // ... from which the residual of every set of axes follows by inclusion and exclusion.
      for (int axes = 0; axes < axis_sets; ++axes) {
        if ((axes & ~used) != 0) continue;
        int64_t residual = 0;
        for (int set = axes;; set = (set - 1) & axes) {
          const bool odd = (std::popcount(static_cast<unsigned>(set)) & 1) != 0;
          residual += odd ? -value[static_cast<size_t>(set)] : value[static_cast<size_t>(set)];
          if (set == 0) break;
        }
        sketch[static_cast<size_t>(axes)].add(residual);
      }
    }
  }
  uint64_t best_bits = UINT64_MAX;
  for (int axes = 0; axes < axis_sets; ++axes) {
    if ((axes & ~used) != 0) continue;
    const uint64_t bits = sketch[static_cast<size_t>(axes)].bits_fixed();
    if (bits < best_bits) {
      best_bits = bits;
      choice.axes = static_cast<uint8_t>(axes);
    }
  }
  // Symbols reach 127 either way: keep the mean residual a fifth of that, and the bits below raw.
  constexpr uint64_t mean_magnitude_limit = 24;
  const CostSketch& chosen = sketch[choice.axes];
  const uint64_t mean = chosen.total > 0 ? chosen.magnitude / chosen.total : 0;
  while ((mean >> choice.shift) > mean_magnitude_limit && choice.shift < 24) ++choice.shift;
  return choice;
}

template AxisChoice choose_axes<float>(const SectionSource<float>&, const Quantizer<float>&);
template AxisChoice choose_axes<double>(const SectionSource<double>&, const Quantizer<double>&);

}  // namespace neve
