// SPDX-License-Identifier: BSD-3-Clause
// Values that are whole multiples of one unit, as those multiples: measurements with so many decimals, sums
// kept in fixed point, packed data unpacked again. Exact or not at all: a value that its multiple would not
// give back bit for bit has none.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>

#include "core/bits/bytes.hpp"
#include "core/bits/ordered_words.hpp"
#include "core/math/portable_math.hpp"
#include "neve/status.hpp"

namespace neve {

struct ValueUnit {
  // Values are those of the frame format; never renumber.
  enum class Kind : uint8_t {
    power_of_two = 0,  // the unit is 2^exponent
    decimal = 1,       // the unit is 10^-exponent, exponent 1 .. 18
    divisor = 2,       // integers: the unit is `divisor`, counted from `offset`
    decimal_steps = 3  // the unit is divisor * 10^-exponent, exponent 0 .. 18, divisor below 2^53
  };
  Kind kind = Kind::power_of_two;
  int exponent = 0;
  uint64_t divisor = 1, offset = 0;
};
inline constexpr int min_binary_exponent = -1074, max_binary_exponent = 1023;
inline constexpr int max_decimals = 18;
inline constexpr std::array<double, max_decimals + 1> powers_of_10{
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18};

// Both ways, for one unit.
template <class T>
class Multiples {
 public:
  using Signed = std::make_signed_t<WordOf<T>>;

  explicit Multiples(const ValueUnit& unit) : kind_(unit.kind) {
    if (kind_ == ValueUnit::Kind::power_of_two) {
      factor_ = math::ldexp(1.0, unit.exponent);
      inverse_ = math::ldexp(1.0, -unit.exponent);
      return;
    }
    power_ = powers_of_10[static_cast<size_t>(unit.exponent)];
    factor_ = kind_ == ValueUnit::Kind::decimal ? 1 : static_cast<double>(unit.divisor);
    inverse_ = power_ / factor_;
  }

  T value(Signed multiple) const {
    const double scaled = static_cast<double>(multiple) * factor_;
    return static_cast<T>(kind_ == ValueUnit::Kind::power_of_two ? scaled : scaled / power_);
  }
  // Nothing for NaN, infinities, -0, values too large, and what lies between multiples.
  std::optional<Signed> multiple(T value) const {
    constexpr double limit = sizeof(T) == 4 ? 0x1p31 : 0x1p53;
    const double scaled = static_cast<double>(value) * inverse_;
    if (!(scaled < limit && scaled > -limit)) return {};
    const auto whole = static_cast<Signed>(math::round_even(scaled));
    const T back = this->value(whole);
    if (back != value || std::signbit(back) != std::signbit(value)) return {};
    return whole;
  }

 private:
  ValueUnit::Kind kind_;
  double factor_;
  double power_ = 1;  // what multiples of the factor are divided by, which rounds once
  double inverse_;    // of the unit, rounded: what it leads to is checked
};

// Integers, modulo 2^bits: packed data whose values have a common divisor.
template <class T>
requires std::is_integral_v<T>
class Multiples<T> {
 public:
  using Signed = std::make_signed_t<T>;

  explicit Multiples(const ValueUnit& unit)
      : divisor_(static_cast<Signed>(unit.divisor)), offset_(static_cast<T>(unit.offset)) {}

  T value(Signed multiple) const {
    return static_cast<T>(static_cast<T>(multiple) * uint64_t{static_cast<T>(divisor_)} + offset_);
  }
  std::optional<Signed> multiple(T value) const {
    const auto distance = static_cast<Signed>(static_cast<T>(value - offset_));
    if (distance % divisor_ != 0) return {};
    return static_cast<Signed>(distance / divisor_);
  }

 private:
  Signed divisor_;  // above 0
  T offset_;
};

// The unit that (nearly) all of the sampled values are multiples of, the coarsest; nothing when there is none
// that a word's bits can count.
template <class T>
std::optional<ValueUnit> find_unit(std::span<const T> samples);

void write_unit(const ValueUnit& unit, ByteWriter& out);
// Errors: corrupt; a unit that values of T cannot have is none.
template <class T>
Result<ValueUnit> read_unit(ByteReader& in);

}  // namespace neve
