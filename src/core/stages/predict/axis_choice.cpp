// SPDX-License-Identifier: BSD-3-Clause
#include "core/stages/predict/axis_choice.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <vector>

#include "core/kernels/portable.hpp"
#include "core/stages/quantize/quantizer.hpp"

namespace neve {

namespace {

constexpr size_t axis_sets = 1 << max_frame_dims;
constexpr int64_t sample_row_cells = 32;
constexpr int64_t min_samples = 512;
constexpr int64_t max_samples = 4096;
// One sampled cell stands for this many: sampling stays a few per cent of encoding.
constexpr int64_t cells_per_sample = 64;
constexpr int64_t max_thinning = 8;
// Left-out cells repeat a cell before them, which a sample looks for no farther back.
constexpr int64_t max_look_back = 4096;

// log2 in 16 fractional bits by repeated squaring: integers only, so that the choice, and with it the
// section, is the same with every compiler and mathematics library.
constexpr uint32_t computed_log2(uint32_t n) {
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

// Of what samples count, looked up: choosing among sets of axes takes a thousand of them.
constexpr uint32_t looked_up_logs = 1024;
constexpr auto make_logs() {
  std::array<uint32_t, looked_up_logs> logs{};
  for (uint32_t n = 1; n < looked_up_logs; ++n) logs[n] = computed_log2(n);
  return logs;
}
uint32_t log2_fixed(uint32_t n) {
  static constexpr std::array<uint32_t, looked_up_logs> logs = make_logs();
  return n < looked_up_logs ? logs[n] : computed_log2(n);
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

// The first value that has a quantization code, of each rectangle's first held ones.
template <class T>
int32_t first_quant_code(const SectionSource<T>& source, const Quantizer<T>& quantizer) {
  constexpr int64_t max_tried = 4096;
  for (const auto& rect : source.rects) {
    int64_t tried = 0;
    int32_t found = rejected_quant_code;
    QuantizeStats<T> stats;
    for (int64_t r = 0; r < rect.rows() && tried < max_tried && found == rejected_quant_code; ++r) {
      const T* row = rect.row(r);
      const uint8_t* left_out = rect.left_out.empty() ? nullptr : rect.left_out.data() + r * rect.size[0];
      visit_runs(left_out, static_cast<size_t>(rect.size[0]), [&](size_t begin, size_t end, bool skip) {
        for (size_t x = begin; x < end && !skip && tried < max_tried && found == rejected_quant_code; ++x) {
          found = portable::quantize_one(row[x], quantizer, stats);
          ++tried;
        }
      });
    }
    // Rounding may bring a quantization code to the limit itself, which no decoder takes for an origin.
    if (found != rejected_quant_code) return std::clamp(found, 1 - quant_code_limit, quant_code_limit - 1);
  }
  return 0;
}

using SampledRow = std::array<int32_t, 1 + sample_row_cells + row_padding>;

// The quantization codes that prediction finds at cells x0 - 1 to x1 - 1 of the row at (y, z, w): 0 outside
// the rectangle and where there is no quantization code, which has_gaps notes; left-out cells repeat the one
// before them.
template <class T>
void sample_row(const RectRows<const T*>& rect, const Extents& at, int64_t x0, int64_t x1,
                const Quantizer<T>& quantizer, SampledRow& out, bool& has_gaps) {
  if (at[1] < 0 || at[2] < 0 || at[3] < 0) {
    out.fill(0);
    return;
  }
  const T* row = rect.row(at[1], at[2], at[3]);
  const int64_t number = (at[3] * rect.size[2] + at[2]) * rect.size[1] + at[1];
  const uint8_t* left_out = rect.left_out.empty() ? nullptr : rect.left_out.data() + number * rect.size[0];
  const int64_t begin = std::max<int64_t>(x0 - 1, 0);
  const auto n = static_cast<size_t>(x1 - begin);
  int32_t* quant_codes = out.data() + (begin - (x0 - 1));
  if (begin == 0) out[0] = 0;
  QuantizeStats<T> stats;
  if (left_out == nullptr) {
    quantize(row + begin, n, quantizer, quant_codes, stats);
  } else {
    has_gaps = true;
    int64_t before = begin - 1;
    const int64_t farthest = std::max<int64_t>(-1, begin - 1 - max_look_back);
    while (before > farthest && left_out[before] != 0) --before;
    if (before == farthest) before = -1;
    int32_t hold = before < 0 ? 0 : portable::quantize_one(row[before], quantizer, stats);
    visit_runs(left_out + begin, n, [&](size_t from, size_t to, bool is_left_out) {
      if (is_left_out) {
        std::fill(quant_codes + from, quant_codes + to, hold);
      } else {
        quantize(row + begin + from, to - from, quantizer, quant_codes + from, stats);
        hold = quant_codes[to - 1];
      }
    });
  }
  for (size_t i = 0; i < n; ++i) {
    has_gaps = has_gaps || quant_codes[i] == rejected_quant_code;
    quant_codes[i] = quant_codes[i] == rejected_quant_code ? 0 : quant_codes[i];
  }
}

// Costs of every set of axes, from sampled rows.
template <class T>
class AxisSketches {
 public:
  AxisSketches(const SectionSource<T>& source, const Quantizer<T>& quantizer)
      : source_(source), quantizer_(quantizer) {
    for (const auto& rect : source.rects) {
      for (int d = 0; d < max_frame_dims; ++d) {
        if (rect.size[d] > 1) used_ |= size_t{1} << d;
      }
    }
  }

  // Up to sample_row_cells cells here and there: of as many rows as that takes, or, where there are fewer
  // rows, in several places of each, so that long rows are seen from one end to the other.
  void sample() {
    int64_t rows = 0;
    int64_t windows = 0;
    int64_t cells = 0;
    for (const auto& rect : source_.rects) {
      rows += rect.rows();
      windows += rect.rows() * windows_of_row(rect);
      cells += rect.cells();
    }
    const int64_t samples = std::clamp(cells / cells_per_sample, min_samples, max_samples);
    // Rows sampled where cells are left out give less: so many more are looked at.
    const int64_t thinning = std::clamp<int64_t>(
        cells / std::max<int64_t>(1, static_cast<int64_t>(source_.held)), 1, max_thinning);
    const int64_t wanted = std::max<int64_t>(thinning * samples / sample_row_cells, 1);
    const bool is_by_row = wanted <= rows;
    const int64_t places = is_by_row ? rows : windows;
    const int64_t sampled = std::min(wanted, places);
    size_t rect_at = 0;
    int64_t rect_first = 0;
    for (int64_t k = 0; k < sampled; ++k) {
      // Evenly spread with a fixed scatter (golden ratio), so that rows do not all fall on one plane
      // position.
      const int64_t spacing = places / sampled;
      const auto scatter = static_cast<int64_t>((static_cast<uint64_t>(k) * 0x9E3779B97F4A7C15ULL) >> 33);
      const int64_t place = k * places / sampled + (spacing > 1 ? scatter % spacing : 0);
      const auto places_of = [&](const RectRows<const T*>& rect) {
        return rect.rows() * (is_by_row ? 1 : windows_of_row(rect));
      };
      while (place >= rect_first + places_of(source_.rects[rect_at])) {
        rect_first += places_of(source_.rects[rect_at]);
        ++rect_at;
      }
      const RectRows<const T*>& rect = source_.rects[rect_at];
      const int64_t of_row = is_by_row ? 1 : windows_of_row(rect);
      const int64_t in_rect = place - rect_first;
      add_window(rect, in_rect / of_row, in_rect % of_row, of_row, scatter);
    }
  }

  // The set that costs least.
  uint8_t best() const {
    size_t best = 0;
    uint64_t best_bits = UINT64_MAX;
    for (size_t axes = 0; axes < axis_sets; ++axes) {
      // Differencing along a direction of one cell changes nothing.
      if ((axes & ~used_) != 0) continue;
      const uint64_t bits = sketch_[axes].bits_fixed();
      if (bits < best_bits) {
        best_bits = bits;
        best = axes;
      }
    }
    return static_cast<uint8_t>(best);
  }
  const CostSketch& of(uint8_t axes) const { return sketch_[axes]; }
  bool has_gaps() const { return has_gaps_; }

 private:
  // Bits of a set of the directions y, z and w; those of a set of all four directions are one further left.
  static constexpr size_t row_sets = axis_sets / 2;
  bool is_used(size_t row_set) const { return (row_set << 1 & ~used_) == 0; }

  static int64_t windows_of_row(const RectRows<const T*>& rect) {
    return std::max<int64_t>(1, rect.size[0] / sample_row_cells);
  }

  // Up to sample_row_cells cells of row r, which is cut into `windows` equal parts: of that part, from where
  // `scatter` falls.
  void add_window(const RectRows<const T*>& rect, int64_t r, int64_t window, int64_t windows,
                  int64_t scatter) {
    const Extents at{0, r % rect.size[1], r / rect.size[1] % rect.size[2], r / (rect.size[1] * rect.size[2])};
    const int64_t begin = window * rect.size[0] / windows;
    const int64_t end = (window + 1) * rect.size[0] / windows;
    const int64_t room = end - begin - sample_row_cells;
    const int64_t x0 = begin + (room > 0 ? scatter % (room + 1) : 0);
    const int64_t x1 = std::min(end, x0 + sample_row_cells);
    take_differences(rect, at, x0, x1);
    const uint8_t* left_out = rect.left_out.empty() ? nullptr : rect.left_out.data() + r * rect.size[0] + x0;
    const auto n = static_cast<size_t>(x1 - x0);
    for (size_t set = 0; set < row_sets; ++set) {
      if (!is_used(set)) continue;
      const auto& of_set = difference_[set];
      for (size_t i = 0; i < n; ++i) {
        if (left_out != nullptr && left_out[i] != 0) continue;
        sketch_[set << 1].add(of_set[i + 1]);
        sketch_[set << 1 | 1].add(of_set[i + 1] - of_set[i]);
      }
    }
  }

  void take_differences(const RectRows<const T*>& rect, const Extents& at, int64_t x0, int64_t x1) {
    // Quantization codes of the row's cells and of those one step back in each subset of the directions y, z,
    // w ...
    for (size_t set = 0; set < row_sets; ++set) {
      if (!is_used(set)) continue;
      Extents place{0, at[1], at[2], at[3]};
      for (size_t d = 1; d < max_frame_dims; ++d) place[d] -= set >> (d - 1) & 1;
      SampledRow quant_codes{};
      sample_row(rect, place, x0, x1, quantizer_, quant_codes, has_gaps_);
      std::copy(quant_codes.begin(), quant_codes.begin() + sample_row_cells + 1, difference_[set].begin());
    }
    // ... from which the residual of every set of axes follows, one direction after the other.
    for (size_t bit = 1; bit < row_sets; bit <<= 1) {
      for (size_t set = 0; set < row_sets; ++set) {
        if (!is_used(set) || (set & bit) == 0) continue;
        for (size_t i = 0; i <= sample_row_cells; ++i) {
          difference_[set][i] = difference_[set ^ bit][i] - difference_[set][i];
        }
      }
    }
  }

  const SectionSource<T>& source_;
  const Quantizer<T>& quantizer_;
  size_t used_ = 0;  // directions that any rectangle has more than one cell in
  bool has_gaps_ = false;
  std::array<CostSketch, axis_sets> sketch_{};
  std::array<std::array<int64_t, sample_row_cells + 1>, row_sets> difference_{};  // of the row at hand
};

// Low bits to be kept raw: symbols reach 127 either way, and the mean residual shall be a fifth of that.
uint8_t raw_shift(const CostSketch& chosen) {
  constexpr uint64_t mean_magnitude_limit = 24;
  const uint64_t mean = chosen.total > 0 ? chosen.magnitude / chosen.total : 0;
  uint8_t shift = 0;
  while ((mean >> shift) > mean_magnitude_limit && shift < 24) ++shift;
  return shift;
}

}  // namespace

template <class T>
AxisChoice choose_axes(const SectionSource<T>& source, Quantizer<T> quantizer) {
  AxisChoice choice;
  choice.origin = first_quant_code(source, quantizer);
  quantizer.origin = choice.origin;
  AxisSketches<T> sketches(source, quantizer);
  sketches.sample();
  choice.axes = sketches.best();
  const CostSketch& chosen = sketches.of(choice.axes);
  choice.shift = raw_shift(chosen);
  choice.has_gaps = sketches.has_gaps();
  choice.bits = static_cast<double>(chosen.bits_fixed()) / 65536 / std::max(1U, chosen.total);
  return choice;
}

template AxisChoice choose_axes<float>(const SectionSource<float>&, Quantizer<float>);
template AxisChoice choose_axes<double>(const SectionSource<double>&, Quantizer<double>);

}  // namespace neve
