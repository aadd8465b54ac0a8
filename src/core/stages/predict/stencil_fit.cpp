// SPDX-License-Identifier: BSD-3-Clause
#include "core/stages/predict/stencil_fit.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "core/math/portable_math.hpp"

namespace neve {

namespace {

constexpr int64_t linear_samples = 500;
// One cell in so many is looked at for a stencil, within these limits: more would cost more time than bytes.
constexpr int64_t stencil_share = 24;
constexpr int64_t min_stencil_samples = 700;
constexpr int64_t max_stencil_samples = 4000;
constexpr int stencil_levels = 2;
// Coarser levels of fewer cells would not earn a stencil's bytes, nor the time to fit it.
constexpr int64_t min_level_cells = 1 << 16;
constexpr int64_t live_cells = 8;        // a direction has taps from this many cells on
constexpr int64_t samples_per_tap = 20;  // fewer would fit noise
// A stencil is worth its bytes when it takes this much off the squared residual.
constexpr double min_gain = 0.03;

// Calls visit(field, cell x, y, z) for about `samples` coded cells of a class, evenly over all fields.
template <class T>
int64_t cells_of_class(const std::vector<PhaseField<T>>& fields, int level, int c) {
  int64_t total = 0;
  for (const auto& field : fields) {
    if (level < field.level_count()) total += field.phase(level, c).cells();
  }
  return total;
}

template <class T, class Visit>
void sample_class(const std::vector<PhaseField<T>>& fields, int level, int c, int64_t samples,
                  const Visit& visit) {
  const int64_t stride = std::max<int64_t>(1, cells_of_class(fields, level, c) / samples);
  int64_t next = 0;  // cells until the next sample
  for (const auto& field : fields) {
    if (level >= field.level_count()) continue;
    const PhaseClass<T>& phase = field.phase(level, c);
    const int64_t cells = phase.cells();
    for (; next < cells; next += stride) {
      if (!phase.excluded.empty() && phase.excluded[static_cast<size_t>(next)] != 0) continue;
      const int64_t row = next / phase.size[0];
      visit(field, next % phase.size[0], row % phase.size[1], row / phase.size[1]);
    }
    next -= cells;
  }
}

// Linear and cubic interpolation of a cell along d; NaN where either lacks a neighbour or meets a cell
// without a value.
struct Interpolated {
  double linear = 0;
  double cubic = 0;
};
template <class T>
bool interpolate_cell(const PhaseField<T>& field, int level, int c, int d, std::array<int64_t, 3> at,
                      Interpolated& out) {
  const PhaseClass<T>& from = field.phase(level, c ^ (1 << d));
  const auto axis = static_cast<size_t>(d);
  if (at[axis] < 1 || at[axis] + 2 >= from.size[axis]) return false;
  std::array<double, 4> v{};
  for (int k = 0; k < 4; ++k) {
    std::array<int64_t, 3> cell = at;
    cell[axis] += k - 1;
    const auto index = static_cast<size_t>(from.offset(cell[1], cell[2]) + cell[0]);
    if (!from.excluded.empty() && from.excluded[index] == cell_excluded) return false;
    v[static_cast<size_t>(k)] = static_cast<double>(from.values[index]);
  }
  out.linear = 0.5 * (v[1] + v[2]);
  out.cubic = 0.5625 * (v[1] + v[2]) - 0.0625 * (v[0] + v[3]);
  return true;
}

template <class T>
uint32_t choose_linear(const std::vector<PhaseField<T>>& fields, int level) {
  uint32_t linear = 0;
  for (const int c : class_order) {
    std::array<double, 3> linear_error{};
    std::array<double, 3> cubic_error{};
    sample_class(
        fields, level, c, linear_samples, [&](const PhaseField<T>& field, int64_t x, int64_t y, int64_t z) {
          const PhaseClass<T>& own = field.phase(level, c);
          const auto value = static_cast<double>(own.values[static_cast<size_t>(own.offset(y, z) + x)]);
          for (int d = 0; d < 3; ++d) {
            Interpolated p;
            if (((c >> d) & 1) == 0 || !interpolate_cell(field, level, c, d, {x, y, z}, p)) continue;
            linear_error[static_cast<size_t>(d)] += std::abs(value - p.linear);
            cubic_error[static_cast<size_t>(d)] += std::abs(value - p.cubic);
          }
        });
    for (int d = 0; d < 3; ++d) {
      if (linear_error[static_cast<size_t>(d)] < cubic_error[static_cast<size_t>(d)]) {
        linear |= uint32_t{1} << (3 * (c - 1) + d);
      }
    }
  }
  return linear;
}

// Solves the symmetric system A x = b of n unknowns by Cholesky decomposition; false when A is not positive
// definite.
bool solve(std::vector<double>& a, std::vector<double>& b, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j <= i; ++j) {
      double sum = a[i * n + j];
      for (size_t k = 0; k < j; ++k) sum -= a[i * n + k] * a[j * n + k];
      if (i != j) {
        a[i * n + j] = sum / a[j * n + j];
      } else {
        if (!(sum > 0)) return false;
        a[i * n + i] = std::sqrt(sum);
      }
    }
  }
  for (size_t i = 0; i < n; ++i) {
    for (size_t k = 0; k < i; ++k) b[i] -= a[i * n + k] * b[k];
    b[i] /= a[i * n + i];
  }
  for (size_t i = n; i-- > 0;) {
    for (size_t k = i + 1; k < n; ++k) b[i] -= a[k * n + i] * b[k];
    b[i] /= a[i * n + i];
  }
  return true;
}

// The mean of a cell's interpolations along its class's directions; false where one is not to be had.
template <class T>
bool interpolated_mean(const PhaseField<T>& field, int level, int c, uint32_t linear,
                       std::array<int64_t, 3> at, double& mean) {
  double sum = 0;
  int directions = 0;
  for (int d = 0; d < 3; ++d) {
    if (((c >> d) & 1) == 0) continue;
    Interpolated p;
    if (!interpolate_cell(field, level, c, d, at, p)) return false;
    sum += ((linear >> (3 * (c - 1) + d)) & 1) != 0 ? p.linear : p.cubic;
    ++directions;
  }
  mean = sum / directions;
  return true;
}

// The value at a tap of a cell; false where there is none.
template <class T>
bool value_at(const PhaseField<T>& field, int level, const Tap& tap, std::array<int64_t, 3> at, T& value) {
  const PhaseClass<T>& from = field.phase(level, tap.from_class);
  for (size_t d = 0; d < 3; ++d) {
    at[d] += tap.shift[d];
    if (at[d] < 0 || at[d] >= from.size[d]) return false;
  }
  const auto index = static_cast<size_t>(from.offset(at[1], at[2]) + at[0]);
  if (!from.excluded.empty() && from.excluded[index] == cell_excluded) return false;
  value = from.values[index];
  return true;
}

// The normal equations of a regression, whose matrix is symmetric: its lower half is kept.
struct NormalEquations {
  explicit NormalEquations(size_t unknowns) : n(unknowns), a(n * n, 0.0), b(n, 0.0) {}

  void add(const std::vector<double>& row, double target) {
    squared_target += target * target;
    ++samples;
    for (size_t i = 0; i < n; ++i) {
      b[i] += row[i] * target;
      for (size_t j = 0; j <= i; ++j) a[i * n + j] += row[i] * row[j];
    }
  }

  size_t n;
  std::vector<double> a, b;
  double squared_target = 0;
  int64_t samples = 0;
};

// Solves the ridge regression for stencil weights; none when they are not worth their bytes. What the decoder
// will have at the taps is off by up to half a step, evenly spread: that noise of step^2 / 12 is the ridge.
std::vector<int32_t> solve_weights(NormalEquations&& equations) {
  const size_t n = equations.n;
  if (n == 0 || equations.samples < samples_per_tap * static_cast<int64_t>(n)) return {};
  std::vector<double>& a = equations.a;
  std::vector<double>& b = equations.b;
  const double noise = static_cast<double>(equations.samples) / 12;
  for (size_t i = 0; i < n; ++i) a[i * n + i] += noise + 1e-9 * a[i * n + i];
  const std::vector<double> covariance = b;
  if (!solve(a, b, n)) return {};
  // For the ridge solution x: |target|^2 - b . x is what is left, noise included.
  double explained = 0;
  for (size_t i = 0; i < n; ++i) explained += covariance[i] * b[i];
  if (!(explained > min_gain * (equations.squared_target + noise))) return {};
  std::vector<int32_t> weights;
  for (const double weight : b) {
    const double scaled = math::round_even(weight * stencil_unit);
    if (!(std::abs(scaled) <= stencil_weight_limit)) return {};
    weights.push_back(static_cast<int32_t>(scaled));
  }
  return weights;
}

// Regression of the cell on its taps, all less the mean of the interpolations, in steps.
template <class T>
std::vector<int32_t> fit_class(const std::vector<PhaseField<T>>& fields, int level, int c, int live,
                               uint32_t linear, double step) {
  const std::vector<Tap> taps = stencil_taps(c, live);
  NormalEquations equations(taps.size());
  std::vector<double> row(taps.size());
  const int64_t wanted =
      std::clamp(cells_of_class(fields, level, c) / stencil_share, min_stencil_samples, max_stencil_samples);
  sample_class(fields, level, c, wanted, [&](const PhaseField<T>& field, int64_t x, int64_t y, int64_t z) {
    double mean = 0;
    if (!interpolated_mean(field, level, c, linear, {x, y, z}, mean)) return;
    for (size_t t = 0; t < taps.size(); ++t) {
      T value{};
      if (!value_at(field, level, taps[t], {x, y, z}, value)) return;
      row[t] = (static_cast<double>(value) - mean) / step;
    }
    const PhaseClass<T>& own = field.phase(level, c);
    const auto value = static_cast<double>(own.values[static_cast<size_t>(own.offset(y, z) + x)]);
    equations.add(row, (value - mean) / step);
  });
  return solve_weights(std::move(equations));
}

}  // namespace

template <class T>
InterpolationModel fit_interpolation(const std::vector<PhaseField<T>>& fields, T step) {
  int levels = 0;
  for (const auto& field : fields) levels = std::max(levels, field.level_count());
  InterpolationModel model(static_cast<size_t>(std::min(levels, model_levels)));
  for (int l = 0; l < static_cast<int>(model.size()); ++l) {
    LevelModel& level = model[static_cast<size_t>(l)];
    level.linear = choose_linear(fields, l);
    if (l >= stencil_levels) continue;
    std::array<int64_t, 3> widest{};
    int64_t cells = 0;
    for (const auto& field : fields) {
      if (l >= field.level_count()) continue;
      const auto& size = field.level_size(l);
      cells += size[0] * size[1] * size[2];
      for (size_t d = 0; d < 3; ++d) widest[d] = std::max(widest[d], field.level_size(l)[d]);
    }
    if (l > 0 && cells < min_level_cells) continue;
    for (int d = 0; d < 3; ++d) {
      if (widest[static_cast<size_t>(d)] >= live_cells) level.live |= 1 << d;
    }
    for (const int c : class_order) {
      if ((c & ~level.live) == 0) {
        level.weights[static_cast<size_t>(c)] =
            fit_class(fields, l, c, level.live, level.linear, static_cast<double>(step));
      }
    }
  }
  return model;
}

template InterpolationModel fit_interpolation<float>(const std::vector<PhaseField<float>>&, float);
template InterpolationModel fit_interpolation<double>(const std::vector<PhaseField<double>>&, double);

}  // namespace neve
