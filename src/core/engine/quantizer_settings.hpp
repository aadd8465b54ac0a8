// SPDX-License-Identifier: BSD-3-Clause
// What the engine's registers hold for a bound: its driver's side of rtl/quantizer.sv.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "core/kernels/kernels.hpp"
#include "neve/status.hpp"

namespace neve::engine {

// Steps the engine takes, beside 0: values and products of others could leave float32's normal range.
inline constexpr float min_step = 0x1p-96F;
inline constexpr float max_step = 0x1p+96F;

struct QuantizerSettings {
  bool has_step = false;
  uint32_t inverse = 0;        // 24-bit significand of I
  uint32_t inverse_shift = 0;  // 277 - its exponent
  uint32_t step = 0;           // 24-bit significand of S
  uint32_t step_exponent = 0;
  bool is_power = false;  // exponents of S and I add up to 254
  bool has_fill = false;
  uint32_t fill = 0;
  std::array<uint32_t, 32> limits{};  // floor(2 t / ulp) by exponent, from step_exponent - 2 on
};

// `quantizer` is that of the stream (stream_quantizer<float>), whose I and t follow from S and B.
// Errors: usage, where the engine does not take a step.
Result<QuantizerSettings> quantizer_settings(const Quantizer<float>& quantizer);

}  // namespace neve::engine
