// SPDX-License-Identifier: BSD-3-Clause
#include "core/engine/quantizer_settings.hpp"

#include <fmt/format.h>

#include <bit>

namespace neve::engine {

namespace {

constexpr uint32_t fraction_bits = 23;

uint32_t significand(float value) {
  constexpr uint32_t hidden = 1U << fraction_bits;
  return (std::bit_cast<uint32_t>(value) & (hidden - 1)) | hidden;
}
uint32_t exponent(float value) { return std::bit_cast<uint32_t>(value) >> fraction_bits & 0xffU; }

}  // namespace

Result<QuantizerSettings> quantizer_settings(const Quantizer<float>& q) {
  QuantizerSettings s;
  s.has_fill = q.has_fill;
  s.fill = std::bit_cast<uint32_t>(q.fill);
  if (q.step == 0) return s;
  if (!(q.step >= min_step) || !(q.step <= max_step)) {
    return usage_error(fmt::format("engine: step {} of float32, allowed are 0 and 2^-96 to 2^96", q.step));
  }
  // Where t is not above half a step, values near the middle of two quantization codes would need more
  // places.
  constexpr float above_half = 0.5F + 0x1p-20F;
  if (!(q.tolerance >= q.step * above_half) || !(q.tolerance <= 2 * q.step)) {
    return usage_error(fmt::format(
        "engine: errors of up to {} with a step of {}, allowed are half to twice it", q.tolerance, q.step));
  }
  s.has_step = true;
  s.inverse = significand(q.inverse_step);
  s.inverse_shift = 277 - exponent(q.inverse_step);
  s.step = significand(q.step);
  s.step_exponent = exponent(q.step);
  s.is_power = exponent(q.step) + exponent(q.inverse_step) == 254;
  // 2 t / 2^(exponent - 150), and half of it for each exponent more.
  uint64_t limit = uint64_t{significand(q.tolerance)} << (3 + exponent(q.tolerance) - s.step_exponent);
  for (uint32_t& l : s.limits) {
    l = static_cast<uint32_t>(limit);
    limit >>= 1;
  }
  return s;
}

}  // namespace neve::engine
