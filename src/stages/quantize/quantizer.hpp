// SPDX-License-Identifier: BSD-3-Clause
// From an absolute bound to the numbers of dual quantization. Encoder and decoder must get the same step,
// bit for bit, so this is the only place that derives it.
#pragma once

#include <cmath>
#include <limits>
#include <optional>

#include "kernels/kernels.hpp"

namespace neve {

// The bound in the data's own type, rounded towards zero; 0 when the type cannot hold it.
template <class T>
T bound_in_type(double bound_abs) {
  if (bound_abs > static_cast<double>(std::numeric_limits<T>::max())) return std::numeric_limits<T>::max();
  auto bound = static_cast<T>(bound_abs);
  if (static_cast<double>(bound) > bound_abs) bound = std::nextafter(bound, T{0});
  return bound;
}

// A little less than twice the bound. What is held back covers the rounding of value / step, which near half a step may
// pick the farther quantum, and keeps packed data, whose values sit at exact halves of a round bound's step, inside.
template <class T>
T quantum_step(double bound_abs) {
  constexpr T held_back = sizeof(T) == 4 ? T{0x1p-11} : T{0x1p-30};
  const T twice = bound_in_type<T>(bound_abs) * 2;
  return twice - twice * held_back;
}

template <class T>
Quantizer<T> make_quantizer(double bound_abs, std::optional<double> fill) {
  const T bound = bound_in_type<T>(bound_abs);
  // The error is computed in T: what rounding may hide of it is kept back from the bound.
  constexpr T kept_back = sizeof(T) == 4 ? T{0x1p-21} : T{0x1p-50};
  Quantizer<T> q{};
  q.step = quantum_step<T>(bound_abs);
  q.inverse_step = 1 / q.step;
  q.tolerance = bound - bound * kept_back;
  q.has_fill = fill.has_value();
  q.fill = static_cast<T>(fill.value_or(0));
  return q;
}

// Whether the quantizer can do anything: the step is a usable number.
template <class T>
bool can_quantize(double bound_abs) {
  const T step = quantum_step<T>(bound_abs);
  return step > 0 && std::isfinite(step) && std::isfinite(1 / step);
}

}  // namespace neve
