// SPDX-License-Identifier: BSD-3-Clause
#include "select/interpolation_estimate.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace neve {

namespace {

constexpr int64_t wanted_samples = 4096;
// Fewer say nothing about a field.
constexpr size_t least_samples = 256;
constexpr int largest_residual = 127;
// Cells of coarser levels, one in eight, lie farther from their neighbours, and take some bits more.
constexpr double coarser_share = 0.125;
constexpr double coarser_extra_bits = 2;

struct Sample {
  std::array<double, 3> prediction{};  // in steps, less the value; by direction
  unsigned directions = 0;
};

template <class T>
class Sampler {
 public:
  explicit Sampler(const Quantizer<T>& q) : q_(q) {}

  void run(const SectionSource<T>& source) {
    int64_t cells = 0;
    for (const auto& rect : source.rects) cells += rect.cells();
    // Odd, so that it meets all classes and does not follow the rows of a power of two.
    const int64_t stride = std::max<int64_t>(1, cells / wanted_samples) | 1;
    int64_t next = 0;
    for (const auto& rect : source.rects) {
      for (; next < rect.cells(); next += stride) visit(rect, next);
      next -= rect.cells();
    }
  }
  const std::vector<Sample>& samples() const { return samples_; }

 private:
  void visit(const RectRows<const T*>& rect, int64_t cell) {
    std::array<int64_t, max_frame_dims> at{};
    int64_t rest = cell;
    for (size_t d = 0; d < max_frame_dims; ++d) {
      at[d] = rest % rect.size[d];
      rest /= rect.size[d];
    }
    double value = 0;
    if (!read(rect, at, value)) return;
    Sample sample;
    for (size_t d = 0; d < 3; ++d) {
      if ((at[d] & 1) == 0) continue;
      std::array<double, 4> near{};
      bool complete = true;
      for (int k = 0; k < 4; ++k) {
        auto neighbour = at;
        neighbour[d] += 2 * k - 3;
        complete = complete && read(rect, neighbour, near[static_cast<size_t>(k)]);
      }
      if (!complete) continue;
      sample.prediction[d] = 0.5625 * (near[1] + near[2]) - 0.0625 * (near[0] + near[3]) - value;
      sample.directions |= 1U << d;
    }
    if (sample.directions != 0) samples_.push_back(sample);
  }

  // The cell's value in steps; false where there is none.
  bool read(const RectRows<const T*>& rect, const std::array<int64_t, max_frame_dims>& at,
            double& value) const {
    int64_t cell = 0;
    for (size_t d = max_frame_dims; d-- > 0;) {
      if (at[d] < 0 || at[d] >= rect.size[d]) return false;
      cell = cell * rect.size[d] + at[d];
    }
    if (!rect.left_out.empty() && rect.left_out[static_cast<size_t>(cell)] != 0) return false;
    const T found = rect.row(at[1], at[2], at[3])[at[0]];
    if (!std::isfinite(found) || (q_.has_fill && found == q_.fill)) return false;
    value = (static_cast<double>(found) - static_cast<double>(q_.center)) / static_cast<double>(q_.step);
    return true;
  }

  const Quantizer<T>& q_;
  std::vector<Sample> samples_;
};

double entropy_bits(const std::vector<int>& residuals) {
  std::array<double, 2 * largest_residual + 1> counts{};
  double extra = 0;
  for (const int residual : residuals) {
    const int kept = std::clamp(residual, -largest_residual, largest_residual);
    ++counts[static_cast<size_t>(kept + largest_residual)];
    if (kept != residual) extra += 2 * std::log2(std::abs(static_cast<double>(residual)));
  }
  const auto total = static_cast<double>(residuals.size());
  double bits = extra / total;
  for (const double count : counts) {
    if (count > 0) bits -= count / total * std::log2(count / total);
  }
  return bits;
}

}  // namespace

template <class T>
double estimate_interpolation_bytes(const SectionSource<T>& source, const Quantizer<T>& quantizer) {
  Sampler<T> sampler(quantizer);
  sampler.run(source);
  const std::vector<Sample>& samples = sampler.samples();
  if (samples.size() < least_samples) return HUGE_VAL;
  std::array<double, 3> error{};
  std::array<double, 3> count{};
  for (const Sample& s : samples) {
    for (size_t d = 0; d < 3; ++d) {
      if (((s.directions >> d) & 1) == 0) continue;
      error[d] += std::min(std::abs(s.prediction[d]), error_cap);
      ++count[d];
    }
  }
  std::vector<int> residuals;
  for (const Sample& s : samples) {
    double sum = 0;
    double weights = 0;
    for (size_t d = 0; d < 3; ++d) {
      if (((s.directions >> d) & 1) == 0) continue;
      const double weight = std::pow(error[d] / count[d] + blend_floor, -4);
      sum += weight * s.prediction[d];
      weights += weight;
    }
    constexpr double farthest = 1 << 30;
    residuals.push_back(static_cast<int>(std::nearbyint(std::clamp(sum / weights, -farthest, farthest))));
  }
  const double finest_bits = entropy_bits(residuals);
  const double bits = finest_bits + coarser_share * std::min(coarser_extra_bits, 2 * finest_bits);
  return bits * static_cast<double>(source.held) / 8;
}

template double estimate_interpolation_bytes<float>(const SectionSource<float>&, const Quantizer<float>&);
template double estimate_interpolation_bytes<double>(const SectionSource<double>&, const Quantizer<double>&);

}  // namespace neve
