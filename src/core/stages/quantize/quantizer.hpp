// SPDX-License-Identifier: BSD-3-Clause
// From an absolute bound to the numbers of dual quantization.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

#include "core/kernels/kernels.hpp"
#include "core/math/portable_math.hpp"
#include "core/stages/quantize/lattice.hpp"
#include "neve/frame.hpp"

namespace neve {

// What a decoder needs: value = quant_code * step + center, each operation rounded in T.
template <class T>
struct QuantizationGrid {
  T center = 0;
  T step = 0;  // 0: the bound cannot be met by quantization codes

  bool is_usable() const {
    return step > 0 && std::isfinite(step) && std::isfinite(1 / step) && std::isfinite(center);
  }
};

// The grid that a frame's header says. Errors: corrupt, named after the section's codec.
template <class T>
Result<QuantizationGrid<T>> usable_grid(const ComponentInfo& info, std::string_view codec) {
  const QuantizationGrid<T> grid{static_cast<T>(info.center), static_cast<T>(info.step)};
  if (grid.is_usable()) return grid;
  return corrupt(
      fmt::format("{} section: center {} and step {} are not usable", codec, info.center, info.step));
}

// The kernels of T.
template <class T>
void quantize(const T* values, size_t n, const Quantizer<T>& quantizer, int32_t* quant_codes,
              QuantizeStats<T>& stats) {
  if constexpr (sizeof(T) == 4) {
    kernels().quantize_f32(values, n, quantizer, quant_codes, stats);
  } else {
    kernels().quantize_f64(values, n, quantizer, quant_codes, stats);
  }
}
template <class T>
void dequantize(const int32_t* quant_codes, size_t n, int32_t origin, const QuantizationGrid<T>& grid,
                T* values) {
  if constexpr (sizeof(T) == 4) {
    kernels().dequantize_f32(quant_codes, n, origin, grid.center, grid.step, values);
  } else {
    kernels().dequantize_f64(quant_codes, n, origin, grid.center, grid.step, values);
  }
}

// The bound in the data's own type, rounded towards zero.
template <class T>
T bound_in_type(double bound_abs) {
  if (bound_abs > static_cast<double>(std::numeric_limits<T>::max())) return std::numeric_limits<T>::max();
  auto bound = static_cast<T>(bound_abs);
  if (static_cast<double>(bound) > bound_abs) bound = math::next_towards_zero(bound);
  return bound;
}

// Packed data sit at exact halves of a round bound's step: this part of it is held back.
template <class T>
inline constexpr T held_back_for_halves = sizeof(T) == 4 ? T{0x1p-11} : T{0x1p-30};

// A grid that lets encoding be repeated.
template <class T>
QuantizationGrid<T> make_lattice(const ComponentSpec& spec) {
  const T bound = bound_in_type<T>(spec.bound_abs);
  const auto kept = static_cast<T>(static_cast<double>(bound) - lattice_rounding(spec.lattice->range, bound));
  QuantizationGrid<T> grid;
  grid.step = lattice_step(2 * kept - 2 * kept * held_back_for_halves<T>, spec.lattice->range.empty);
  if (!(grid.step >= std::numeric_limits<T>::min()) || !std::isfinite(grid.step)) return {};
  grid.center = lattice_center(spec.range, grid.step);
  return grid;
}

// The step is a little less than twice the bound. What is held back covers
// - a relative part for packed data, whose values sit at exact halves of a round bound's step;
// - rounding of the decoded value to T, half a unit in the last place of the largest value;
// - rounding of (value - center) / step, which near a half may pick the farther quantization code.
// Without it fields like potential temperature (288 K +- 1 K in f32) would break the bound at many values,
// each of which costs all its bits.
template <class T>
QuantizationGrid<T> make_grid(const ComponentSpec& spec) {
  if (spec.lattice) return make_lattice<T>(spec);
  constexpr double half_ulp = sizeof(T) == 4 ? 0x1p-24 : 0x1p-53;
  QuantizationGrid<T> grid;
  const T bound = bound_in_type<T>(spec.bound_abs);
  double held_back = 0;
  if (!spec.range.empty) {
    const double middle = spec.range.min / 2 + spec.range.max / 2;
    if (std::abs(middle) > spec.range.width()) grid.center = static_cast<T>(middle);
    const double largest = std::max(std::abs(spec.range.min), std::abs(spec.range.max));
    held_back = half_ulp * (largest + 2 * std::min(spec.range.width(), largest));
  }
  // Past half the bound most values could not be held anyway; the encoder's check stays in charge.
  const auto kept =
      static_cast<T>(static_cast<double>(bound) - std::min(held_back, static_cast<double>(bound) / 2));
  grid.step = 2 * kept - 2 * kept * held_back_for_halves<T>;
  return grid;
}

template <class T>
Quantizer<T> make_quantizer(const ComponentSpec& spec) {
  const QuantizationGrid<T> grid = make_grid<T>(spec);
  const T bound = bound_in_type<T>(spec.bound_abs);
  // The error is computed in T: what rounding may hide of it is kept back from the bound.
  constexpr T kept_back = sizeof(T) == 4 ? T{0x1p-21} : T{0x1p-50};
  Quantizer<T> q{};
  q.center = grid.center;
  q.step = grid.step;
  q.inverse_step = 1 / grid.step;
  q.tolerance = bound - bound * kept_back;
  q.has_fill = spec.fill.has_value();
  q.fill = static_cast<T>(spec.fill.value_or(0));
  return q;
}

}  // namespace neve
