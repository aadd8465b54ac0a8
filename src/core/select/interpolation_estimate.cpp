// SPDX-License-Identifier: BSD-3-Clause
#include "core/select/interpolation_estimate.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <vector>

#include "core/math/portable_math.hpp"

namespace neve {

namespace {

// Runs of neighbouring cells: fields are calm here and rough there, and the codec's codebooks follow that.
constexpr int64_t run_cells = 16;
constexpr int64_t max_samples = 8192;
// One cell in so many, of small sections: looking must cost less than coding.
constexpr int64_t cells_per_sample = 24;
// Fewer say nothing about a field, or about a run.
constexpr uint64_t min_samples = 256;
constexpr int min_run_samples = 4;
// Cells of coarser levels, one in eight, lie farther from their neighbours, and take some bits more.
constexpr double coarser_share = 0.125;
constexpr double coarser_extra_bits = 2;

constexpr size_t axes = 3;

// The cells of a run that interpolation predicts at its finest level, in steps, less their values.
struct Run {
  struct Sample {
    std::array<double, axes> residual{};
    unsigned directions = 0;  // bit d: along axis d
  };
  std::array<Sample, run_cells> samples;
  int count = 0;
};

// Sums of the magnitudes of residuals by direction.
struct DirectionErrors {
  std::array<double, axes> sum{};
  std::array<double, axes> count{};

  void add(const Run::Sample& sample) {
    for (size_t d = 0; d < axes; ++d) {
      if (((sample.directions >> d) & 1) == 0) continue;
      sum[d] += std::min(std::abs(sample.residual[d]), error_cap);
      ++count[d];
    }
  }
  double mean(size_t d) const { return count[d] > 0 ? sum[d] / count[d] : error_cap; }
};

template <class T>
class Sampler {
 public:
  Sampler(const SectionSource<T>& source, const Quantizer<T>& quantizer, const ValueRules<T>& rules)
      : q_(quantizer), rules_(rules) {
    int64_t cells = 0;
    for (const auto& rect : source.rects) cells += rect.cells();
    const int64_t samples = std::clamp(cells / cells_per_sample, int64_t{min_samples}, max_samples);
    // Odd, so that it does not follow rows of a power of two.
    const int64_t stride = std::max(run_cells, cells / samples * run_cells) | 1;
    int64_t next = 0;
    for (const auto& rect : source.rects) {
      for (; next < rect.cells(); next += stride) visit(rect, next);
      next -= rect.cells();
    }
  }
  const std::vector<Run>& runs() const { return runs_; }

 private:
  using Place = std::array<int64_t, max_frame_dims>;

  // The run around the cell, which ends with its row.
  void visit(const RectRows<const T*>& rect, int64_t cell) {
    Place at{};
    int64_t rest = cell;
    for (size_t d = 0; d < max_frame_dims; ++d) {
      at[d] = rest % rect.size[d];
      rest /= rect.size[d];
    }
    at[0] = std::max<int64_t>(0, std::min(at[0], rect.size[0] - run_cells));
    const int64_t end = std::min(rect.size[0], at[0] + run_cells);
    Run run;
    for (; at[0] < end; ++at[0]) {
      Run::Sample sample;
      double value = 0;
      if (!read(rect, at, value)) continue;
      for (size_t d = 0; d < axes; ++d) {
        if ((at[d] & 1) == 0) continue;
        std::array<double, 4> near{};
        bool is_complete = true;
        for (size_t k = 0; k < near.size() && is_complete; ++k) {
          Place neighbour = at;
          neighbour[d] += 2 * static_cast<int64_t>(k) - 3;
          is_complete = read(rect, neighbour, near[k]);
        }
        if (!is_complete) continue;
        sample.residual[d] = 0.5625 * (near[1] + near[2]) - 0.0625 * (near[0] + near[3]) - value;
        sample.directions |= 1U << d;
      }
      if (sample.directions != 0) run.samples[static_cast<size_t>(run.count++)] = sample;
    }
    if (run.count >= min_run_samples) runs_.push_back(run);
  }

  // The cell's value in steps; false where there is none.
  bool read(const RectRows<const T*>& rect, const Place& at, double& value) const {
    for (size_t d = 0; d < max_frame_dims; ++d) {
      if (at[d] < 0 || at[d] >= rect.size[d]) return false;
    }
    if (!rect.left_out.empty()) {
      const int64_t row = (at[3] * rect.size[2] + at[2]) * rect.size[1] + at[1];
      if (rect.left_out[static_cast<size_t>(row * rect.size[0] + at[0])] != 0) return false;
    }
    const T found = rect.row(at[1], at[2], at[3])[at[0]];
    if (rules_.is_special(found)) return false;
    value = (static_cast<double>(found) - static_cast<double>(q_.center)) / static_cast<double>(q_.step);
    return true;
  }

  const Quantizer<T>& q_;
  const ValueRules<T>& rules_;
  std::vector<Run> runs_;
};

// Mean magnitude of a run's residuals, all directions blended as the codec does it: by the inverse 4th power
// of their errors, here those of the run, with one sample's worth of the whole section's.
double mean_magnitude(const Run& run, const DirectionErrors& overall) {
  DirectionErrors errors;
  for (size_t d = 0; d < axes; ++d) {
    errors.sum[d] = overall.mean(d);
    errors.count[d] = 1;
  }
  const std::span samples(run.samples.data(), static_cast<size_t>(run.count));
  for (const Run::Sample& sample : samples) errors.add(sample);
  double magnitude = 0;
  for (const Run::Sample& sample : samples) {
    double sum = 0;
    double weights = 0;
    for (size_t d = 0; d < axes; ++d) {
      if (((sample.directions >> d) & 1) == 0) continue;
      const double inverse = 1 / (errors.mean(d) + blend_floor);
      const double weight = inverse * inverse * inverse * inverse;
      sum += weight * sample.residual[d];
      weights += weight;
    }
    magnitude += std::abs(math::round_even(sum / weights));
  }
  return magnitude / run.count;
}

// Entropy of integers k with probabilities proportional to t^|k|, whose mean magnitude is 2t / (1 - t^2).
double two_sided_geometric_bits(double mean_magnitude) {
  if (!(mean_magnitude > 0)) return 0;
  const double t = (std::sqrt(1 + mean_magnitude * mean_magnitude) - 1) / mean_magnitude;
  return -math::log2((1 - t) / (1 + t)) - mean_magnitude * math::log2(t);
}

}  // namespace

template <class T>
double estimate_interpolation_bytes(const SectionSource<T>& source, const Quantizer<T>& quantizer,
                                    const ValueRules<T>& rules) {
  const Sampler<T> sampler(source, quantizer, rules);
  DirectionErrors overall;
  uint64_t count = 0;
  for (const Run& run : sampler.runs()) {
    for (int i = 0; i < run.count; ++i) overall.add(run.samples[static_cast<size_t>(i)]);
    count += static_cast<uint64_t>(run.count);
  }
  if (count < min_samples) return HUGE_VAL;
  double sum = 0;
  for (const Run& run : sampler.runs()) {
    sum += run.count * two_sided_geometric_bits(mean_magnitude(run, overall));
  }
  const double finest_bits = sum / static_cast<double>(count);
  const double bits = finest_bits + coarser_share * std::min(coarser_extra_bits, 2 * finest_bits);
  return bits * static_cast<double>(source.held) / 8;
}

template double estimate_interpolation_bytes<float>(const SectionSource<float>&, const Quantizer<float>&,
                                                    const ValueRules<float>&);
template double estimate_interpolation_bytes<double>(const SectionSource<double>&, const Quantizer<double>&,
                                                     const ValueRules<double>&);

}  // namespace neve
