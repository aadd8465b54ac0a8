// SPDX-License-Identifier: BSD-3-Clause
#include "bench/apps/chombo/fields.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>

#include "bench/harness/random.hpp"

namespace neve::chombo {
namespace {

using apps::uniform;

constexpr int mode_count = 12;
constexpr double longest_wave = 1.0;  // over the smallest side of the domain
constexpr double wave_step = 1.6;     // ratio of neighbouring wave numbers
constexpr double blast_radius = 0.35;
constexpr double shell_width = 0.02;

// cos and sin of wave * x + phase along a row of cells.
struct Phases {
  std::vector<double> cosine, sine;
  Phases(double wave, double phase, int32_t lo, int64_t count, double cell_size) {
    for (int64_t i = 0; i < count; ++i) {
      const double angle = wave * ((static_cast<double>(lo + i) + 0.5) * cell_size) + phase;
      cosine.push_back(std::cos(angle));
      sine.push_back(std::sin(angle));
    }
  }
};

}  // namespace

Fields::Fields(const Hierarchy& hierarchy) : dims_(hierarchy.dims) {
  const Level& base = hierarchy.levels.front();
  double smallest = base.dx[0] * static_cast<double>(base.domain.size(0));
  for (int d = 1; d < dims_; ++d) {
    smallest = std::min(smallest, base.dx[d] * static_cast<double>(base.domain.size(d)));
  }
  for (int d = 0; d < dims_; ++d) {
    centre_[d] = 0.5 * base.dx[d] * static_cast<double>(base.domain.size(d)) / smallest;
  }
  for (const Level& level : hierarchy.levels) {
    auto& size = cell_size_.emplace_back();
    for (int d = 0; d < max_dims; ++d) size[d] = level.dx[d] / smallest;
  }
  for (int c = 0; c < static_cast<int>(hierarchy.components.size()); ++c) modes_.push_back(modes_of(c));
}

// Kolmogorov's spectrum: energy ~ k^(-5/3), amplitude of a mode over an octave ~ k^(-1/3).
std::vector<Fields::Mode> Fields::modes_of(int component) const {
  std::vector<Mode> modes;
  double wave_number = 2 * std::numbers::pi / longest_wave;
  for (int m = 0; m < mode_count; ++m, wave_number *= wave_step) {
    const auto seed = static_cast<uint64_t>(component * mode_count + m) * 4;
    // A direction spread over the sphere, or the circle where there are two dimensions.
    const double turn = 2 * std::numbers::pi * uniform(seed);
    const double height = dims_ > 2 ? 2 * uniform(seed + 1) - 1 : 0;
    const double radius = std::sqrt(1 - height * height);
    Mode mode;
    mode.wave = {wave_number * radius * std::cos(turn), wave_number * radius * std::sin(turn),
                 wave_number * height};
    mode.phase = 2 * std::numbers::pi * uniform(seed + 2);
    mode.amplitude = 0.2 * std::pow(wave_number * longest_wave / (2 * std::numbers::pi), -1.0 / 3.0);
    modes.push_back(mode);
  }
  return modes;
}

void Fields::fill(int level, const Box& cells, int component, double* out) const {
  const auto& size = cell_size_[static_cast<size_t>(level)];
  const std::vector<Mode>& modes = modes_[static_cast<size_t>(component)];
  // exp(i(a + b + c)) is a product of what the three directions know, so that no cell needs a sine of its
  // own.
  std::array<std::vector<Phases>, max_dims> phases;
  for (const Mode& mode : modes) {
    for (int d = 0; d < max_dims; ++d) {
      phases[d].emplace_back(d < dims_ ? mode.wave[d] : 0.0, d == 0 ? mode.phase : 0.0, cells.lo[d],
                             cells.size(d), size[d]);
    }
  }
  // A blast that is the wider for later components, so that they differ.
  const double radius = blast_radius / (1 + 0.1 * component);
  const double base = 1.0 + component;
  const int64_t nx = cells.size(0);
  const auto place = [&](int d, int64_t i) {
    return d < dims_ ? (static_cast<double>(cells.lo[d] + i) + 0.5) * size[d] - centre_[d] : 0.0;
  };
  std::vector<double> turbulence(static_cast<size_t>(nx));
  for (int64_t z = 0; z < cells.size(2); ++z) {
    for (int64_t y = 0; y < cells.size(1); ++y) {
      std::fill(turbulence.begin(), turbulence.end(), 0.0);
      for (size_t m = 0; m < modes.size(); ++m) {
        const double cy = phases[1][m].cosine[static_cast<size_t>(y)],
                     sy = phases[1][m].sine[static_cast<size_t>(y)];
        const double cz = phases[2][m].cosine[static_cast<size_t>(z)],
                     sz = phases[2][m].sine[static_cast<size_t>(z)];
        const double real = modes[m].amplitude * (cy * cz - sy * sz);
        const double imaginary = modes[m].amplitude * (cy * sz + sy * cz);
        const double* cx = phases[0][m].cosine.data();
        const double* sx = phases[0][m].sine.data();
        for (size_t x = 0; x < turbulence.size(); ++x) turbulence[x] += real * cx[x] - imaginary * sx[x];
      }
      const double py = place(1, y), pz = place(2, z);
      for (size_t x = 0; x < turbulence.size(); ++x) {
        const double px = place(0, static_cast<int64_t>(x));
        const double distance = std::sqrt(px * px + py * py + pz * pz);
        // The wave front is wrinkled by what it runs into.
        const double s = (distance - radius * (1 + 0.05 * turbulence[x])) / shell_width;
        const double shell = 3 / ((1 + s * s) * (1 + s * s));
        const double inside = 0.5 - 0.5 * s / std::sqrt(1 + s * s);
        *out++ = base * (1 + shell + 0.3 * turbulence[x] * (0.1 + inside) - 0.6 * inside);
      }
    }
  }
}

}  // namespace neve::chombo
