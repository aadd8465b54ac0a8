// SPDX-License-Identifier: BSD-3-Clause
#include "core/select/axis_pass_choice.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <optional>
#include <vector>

#include "core/math/portable_math.hpp"
#include "core/select/difference_bits.hpp"
#include "core/stages/entropy/zero_runs.hpp"
#include "core/stages/predict/interpolation_weights.hpp"

namespace neve {

namespace {

// Levels of a section whose cells lie in so many directions. Of a line the anchors are one in 65536, of a
// volume one in 512: more levels gain nothing, fewer leave anchors that count.
constexpr std::array<int, max_frame_dims + 1> levels_of_dims{0, 16, 5, 3, 3};

// A sampled line's cells, and levels: fewer in more directions, where its finest level says nearly all.
constexpr int line_levels = 8;
constexpr int volume_levels = 5;
// One cell in so many is looked at, each twice.
constexpr int64_t cells_per_sample = 192;
constexpr int64_t min_lines = 16;
// Fewer say nothing about a section.
constexpr uint64_t min_samples = 64;
constexpr double anchor_bits = 12;
// A sample's codebook fits the sample: sections take more, by so much on real fields.
constexpr double excess = 1.08;
// Magnitudes above this count the same in the choice between linear and cubic.
constexpr int32_t magnitude_cap = 64;

// What one kind of interpolation along one direction leaves, level by level.
struct Residuals {
  struct Level {
    std::vector<uint8_t> symbols;
    std::vector<int32_t> escapes;
    double magnitude = 0;
    double bits = 0;  // of levels above the finest, as difference_bits has them
  };
  std::array<Level, line_levels> levels;

  void add(int level, int32_t residual) {
    Level& of = levels[static_cast<size_t>(level)];
    of.magnitude += std::min(std::abs(residual), magnitude_cap);
    if (level > 0) of.bits += difference_bits(static_cast<uint64_t>(std::abs(residual)));
    const bool is_direct = residual > -symbol_zero && residual < symbol_count - symbol_zero;
    of.symbols.push_back(is_direct ? static_cast<uint8_t>(residual + symbol_zero) : uint8_t{symbol_escape});
    if (!is_direct) of.escapes.push_back(residual);
  }
};

template <class T>
class Sampler {
 public:
  Sampler(const SectionSource<T>& source, const Quantizer<T>& quantizer, const ValueRules<T>& rules,
          int64_t max_lines)
      : source_(source), q_(quantizer), rules_(rules), max_lines_(max_lines) {
    for (const auto& rect : source.rects) {
      cells_ += rect.cells();
      for (size_t d = 0; d < max_frame_dims; ++d) {
        if (rect.size[d] > 1) used_ |= size_t{1} << d;
        longest_[d] = std::max(longest_[d], rect.size[d]);
      }
    }
  }

  AxisPassChoice choose() {
    AxisPassChoice choice;
    const int dims = std::popcount(used_);
    choice.model.levels = levels_of_dims[static_cast<size_t>(dims)];
    choice.bytes = HUGE_VAL;
    if (cells_ == 0 || dims == 0) return choice;
    levels_ = dims == 1 ? line_levels : volume_levels;
    const int64_t line_cells = int64_t{1} << levels_;
    int64_t lines =
        std::clamp(cells_ / (line_cells * cells_per_sample), std::min(min_lines, max_lines_), max_lines_);
    Residuals::Level finest, coarser;
    for (size_t d = 0; d < max_frame_dims; ++d) {
      if (((used_ >> d) & 1) == 0) continue;
      // More of short lines, so that each direction counts for the cells of its pass.
      const int64_t length = std::min(longest_[d] - 1, line_cells);
      sample_direction(d, lines * line_cells / length, choice.model, finest, coarser);
      // The pass along the next direction predicts half as many cells.
      lines = std::max<int64_t>(lines / 2, min_lines / 2);
    }
    if (finest.symbols.size() < min_samples) return choice;
    const double finest_bits = bits_of(finest);
    const double coarser_share = dims == 1 ? 0 : 1.0 / static_cast<double>(1 << dims);
    const double anchor_share = 1.0 / static_cast<double>(int64_t{1} << (dims * choice.model.levels));
    const double coarser_bits =
        coarser.symbols.empty() ? 0 : coarser.bits / static_cast<double>(coarser.symbols.size());
    const double bits =
        finest_bits + coarser_share * std::max(0.0, coarser_bits - finest_bits) + anchor_share * anchor_bits;
    choice.bytes = excess * bits * static_cast<double>(source_.held) / 8;
    choice.has_excluded = has_excluded_;
    return choice;
  }

 private:
  // Codes lines along d both ways, and notes which was better. What the better one left of the finest level,
  // of a line of all levels, goes to `finest`, the rest to `coarser`. Levels beyond those of a sampled line
  // are seen in lines of every so many cells.
  void sample_direction(size_t d, int64_t lines, AxisPassModel& model, Residuals::Level& finest,
                        Residuals::Level& coarser) {
    bool is_linear = false;
    for (int first = 0; first < model.levels; first += levels_) {
      Residuals cubic, linear;
      for (int64_t k = 0; k < lines; ++k) {
        if (!read_line(d, k, lines, int64_t{1} << first)) continue;
        code_line(false, cubic);
        code_line(true, linear);
      }
      for (int l = first; l < std::min(first + levels_, model.levels); ++l) {
        const Residuals::Level& of_cubic = cubic.levels[static_cast<size_t>(l - first)];
        const Residuals::Level& of_linear = linear.levels[static_cast<size_t>(l - first)];
        if (!of_cubic.symbols.empty()) is_linear = of_linear.magnitude <= of_cubic.magnitude;
        const bool is_finest = l == 0 || std::popcount(used_) == 1;
        if (first == 0) append(is_linear ? of_linear : of_cubic, is_finest ? finest : coarser);
        if (is_linear) model.linear[static_cast<size_t>(l)] |= static_cast<uint8_t>(1U << d);
      }
      lines = min_lines;
    }
  }

  static void append(const Residuals::Level& from, Residuals::Level& to) {
    to.symbols.insert(to.symbols.end(), from.symbols.begin(), from.symbols.end());
    to.escapes.insert(to.escapes.end(), from.escapes.begin(), from.escapes.end());
    to.bits += from.bits;
  }

  // Line k of `lines` along d into line_: up to 2^levels + 1 cells, one in `stride`. False where there are
  // too few, or most of them have no quantization code.
  bool read_line(size_t d, int64_t k, int64_t lines, int64_t stride) {
    const int64_t spacing = std::max<int64_t>(cells_ / lines, 1);
    const auto scatter = static_cast<int64_t>((static_cast<uint64_t>(k) * 0x9E3779B97F4A7C15ULL) >> 33);
    int64_t cell = std::min(cells_ - 1, k * spacing + scatter % spacing);
    size_t r = 0;
    while (cell >= source_.rects[r].cells()) cell -= source_.rects[r++].cells();
    const RectRows<const T*>& rect = source_.rects[r];
    const int64_t length = std::min((rect.size[d] - 1) / stride + 1, (int64_t{1} << levels_) + 1);
    if (length < 3) return false;
    Extents at{};
    for (size_t e = 0; e < max_frame_dims; ++e) {
      at[e] = cell % rect.size[e];
      cell /= rect.size[e];
    }
    at[d] = std::clamp<int64_t>(at[d] - length / 2 * stride, 0, rect.size[d] - 1 - (length - 1) * stride);
    line_.clear();
    excluded_.clear();
    int64_t excluded = 0;
    for (int64_t i = 0; i < length; ++i, at[d] += stride) {
      const int64_t row = (at[3] * rect.size[2] + at[2]) * rect.size[1] + at[1];
      const T value = rect.row(at[1], at[2], at[3])[at[0]];
      const bool is_left_out =
          !rect.left_out.empty() && rect.left_out[static_cast<size_t>(row * rect.size[0] + at[0])] != 0;
      excluded_.push_back(is_left_out || rules_.is_special(value) ? 1 : 0);
      excluded += excluded_.back();
      line_.push_back(value);
    }
    has_excluded_ = has_excluded_ || excluded > 0;
    return 2 * excluded < length;
  }

  // Of a value less what predicts it, as the kernels do it.
  int32_t residual_of(T difference) const {
    constexpr T limit = static_cast<T>(residual_limit);
    const T scaled = difference * q_.inverse_step;
    if (!(scaled < limit)) return residual_limit;
    if (!(scaled > -limit)) return -residual_limit;
    return static_cast<int32_t>(math::round_even(scaled));
  }

  // An anchor's quantization code has no such limit as a residual's; where it has none it is listed.
  T anchor_of(T value) const {
    const T scaled = (value - q_.center) * q_.inverse_step;
    constexpr T limit = static_cast<T>(quant_code_limit);
    if (!(scaled < limit) || !(scaled > -limit)) return value;
    return q_.center + static_cast<T>(math::round_even(scaled)) * q_.step;
  }

  void code_line(bool is_linear, Residuals& out) {
    const auto length = static_cast<int64_t>(line_.size());
    decoded_.resize(line_.size());
    int top = 0;
    while (top < levels_ && (int64_t{1} << (top + 1)) < length) ++top;
    const int64_t anchors = int64_t{1} << top;
    // Anchors lie on the lattice. An excluded one is as the one before it, other cells are as predicted.
    for (int64_t i = 0; i < length; i += anchors) {
      if (is_excluded(i)) {
        decoded_[static_cast<size_t>(i)] = i == 0 ? q_.center : decoded_[static_cast<size_t>(i - anchors)];
        continue;
      }
      decoded_[static_cast<size_t>(i)] = anchor_of(line_[static_cast<size_t>(i)]);
    }
    for (int l = top - 1; l >= 0; --l) {
      const int64_t step = int64_t{1} << l;
      const int64_t known = (length + 2 * step - 1) / (2 * step);
      for (int64_t i = step; i < length; i += 2 * step) {
        const auto& weights = interpolation_weights<T>(i / (2 * step), known, is_linear);
        const auto value = [&](int64_t j) {
          return decoded_[static_cast<size_t>(j < 0 || j >= length ? i - step : j)];
        };
        const T prediction = ((weights[0] * value(i - 3 * step) + weights[1] * value(i - step)) +
                              weights[2] * value(i + step)) +
                             weights[3] * value(i + 3 * step);
        if (is_excluded(i)) {
          decoded_[static_cast<size_t>(i)] = prediction;
          continue;
        }
        const int32_t residual = residual_of(line_[static_cast<size_t>(i)] - prediction);
        decoded_[static_cast<size_t>(i)] = prediction + static_cast<T>(residual) * q_.step;
        out.add(l, residual);
      }
    }
  }

  // Mean bits of a sampled cell.
  static double bits_of(const Residuals::Level& sampled) {
    const auto runs = worthwhile_zero_runs(sampled.symbols, sampled.escapes);
    const Histogram histogram = runs ? runs->counts.all : count_symbols(sampled.symbols);
    auto bits = static_cast<double>(coded_bits(make_codebook(histogram), histogram));
    for (const int32_t escape : sampled.escapes) {
      constexpr int length_bits = 3;
      bits += std::bit_width(static_cast<uint32_t>(std::abs(escape))) + length_bits;
    }
    return bits / static_cast<double>(sampled.symbols.size());
  }

  const SectionSource<T>& source_;
  const Quantizer<T>& q_;
  const ValueRules<T>& rules_;
  int64_t max_lines_;
  int64_t cells_ = 0;
  size_t used_ = 0;  // directions that any rectangle has more than one cell in
  Extents longest_{};
  int levels_ = 0;  // of the sampled lines
  bool has_excluded_ = false;
  bool is_excluded(int64_t i) const { return excluded_[static_cast<size_t>(i)] != 0; }

  std::vector<T> line_;
  std::vector<uint8_t> excluded_;  // 1: that cell of line_ is not coded
  std::vector<T> decoded_;
};

}  // namespace

template <class T>
AxisPassChoice choose_axis_passes(const SectionSource<T>& source, const Quantizer<T>& quantizer,
                                  const ValueRules<T>& rules, int64_t max_lines) {
  return Sampler<T>(source, quantizer, rules, max_lines).choose();
}

template AxisPassChoice choose_axis_passes<float>(const SectionSource<float>&, const Quantizer<float>&,
                                                  const ValueRules<float>&, int64_t);
template AxisPassChoice choose_axis_passes<double>(const SectionSource<double>&, const Quantizer<double>&,
                                                   const ValueRules<double>&, int64_t);

}  // namespace neve
