// SPDX-License-Identifier: BSD-3-Clause
// Settings of a quantizer where a port shows them: a packed struct of rtl/neve_pkg.sv as one wide word.
#pragma once

#include <cstdint>

#include "rtl/model/engine_model.hpp"

namespace neve::rtl {

struct PortField {
  uint32_t low;
  uint32_t width;
};
constexpr PortField above(PortField below, uint32_t width) { return {below.low + below.width, width}; }

template <class Port>
void put(Port& port, PortField field, uint32_t value) {
  for (uint32_t i = 0; i < field.width; ++i) {
    const uint32_t bit = field.low + i;
    const uint32_t mask = uint32_t{1} << (bit % 32);
    port[bit / 32] = (value >> i & 1) != 0 ? port[bit / 32] | mask : port[bit / 32] & ~mask;
  }
}
template <class Port>
uint32_t get(const Port& port, PortField field) {
  uint32_t value = 0;
  for (uint32_t i = 0; i < field.width; ++i) {
    const uint32_t bit = field.low + i;
    value |= (port[bit / 32] >> (bit % 32) & 1) << i;
  }
  return value;
}

// neve_pkg::step_settings_t, whose lowest bit is bit `low` of a port.
struct StepFields {
  explicit constexpr StepFields(uint32_t low) : is_power{low, 1} {}

  PortField is_power;
  PortField exponent = above(is_power, 8);
  PortField significand = above(exponent, 24);
  PortField inverse_shift = above(significand, 9);
  PortField inverse = above(inverse_shift, 24);
  PortField has_step = above(inverse, 1);
};

// neve_pkg::quantizer_settings_t.
struct QuantizerFields {
  PortField limit_data{0, 28};
  PortField limit_addr = above(limit_data, 5);
  PortField limit_write = above(limit_addr, 1);
  PortField fill = above(limit_write, 32);
  PortField has_fill = above(fill, 1);
  StepFields step{has_fill.low + has_fill.width};
};
inline constexpr QuantizerFields quantizer_fields;

// All but the limits.
template <class Port>
void put_settings(Port& port, const QuantizerSettings& s) {
  constexpr QuantizerFields f = quantizer_fields;
  put(port, f.step.has_step, static_cast<uint32_t>(s.has_step));
  put(port, f.step.inverse, s.inverse);
  put(port, f.step.inverse_shift, s.inverse_shift);
  put(port, f.step.significand, s.step);
  put(port, f.step.exponent, s.step_exponent);
  put(port, f.step.is_power, static_cast<uint32_t>(s.is_power));
  put(port, f.has_fill, static_cast<uint32_t>(s.has_fill));
  put(port, f.fill, s.fill);
}

// A limit to be written in every cycle from now on; none after `end_limits`.
template <class Port>
void put_limit(Port& port, uint32_t at, uint32_t limit) {
  put(port, quantizer_fields.limit_write, 1);
  put(port, quantizer_fields.limit_addr, at);
  put(port, quantizer_fields.limit_data, limit);
}
template <class Port>
void end_limits(Port& port) {
  put(port, quantizer_fields.limit_write, 0);
}

}  // namespace neve::rtl
