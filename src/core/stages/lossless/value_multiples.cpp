// SPDX-License-Identifier: BSD-3-Clause
#include "core/stages/lossless/value_multiples.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <numeric>
#include <type_traits>

namespace neve {

namespace {

// Values without a multiple are listed one by one, which only pays for few.
constexpr double max_strays = 0.02;
constexpr int sampled_decimals = 9;

// Exponent of the lowest set bit, of a finite value other than 0.
template <class T>
int lowest_bit(T value) {
  using U = WordOf<T>;
  constexpr int mantissa_bits = std::numeric_limits<T>::digits - 1;
  U bits;
  std::memcpy(&bits, &value, sizeof bits);
  const int biased = static_cast<int>((bits << 1) >> (mantissa_bits + 1));
  U mantissa = bits & ((U{1} << mantissa_bits) - 1);
  if (biased > 0) mantissa |= U{1} << mantissa_bits;
  constexpr int bias = std::numeric_limits<T>::max_exponent - 1;
  return std::max(biased, 1) - bias - mantissa_bits + std::countr_zero(mantissa);
}

// The common divisor of what samples are apart.
template <class T>
std::optional<ValueUnit> find_divisor(std::span<const T> samples) {
  using Signed = std::make_signed_t<T>;
  T divisor = 0;
  for (const T value : samples) {
    const auto apart = static_cast<Signed>(static_cast<T>(value - samples[0]));
    const T back = static_cast<T>(samples[0] - value);
    divisor = std::gcd(divisor, apart < 0 ? back : static_cast<T>(apart));
    if (divisor == 1) return {};
  }
  // (The least signed number is its own negative.)
  if (divisor == 0 || divisor > static_cast<T>(std::numeric_limits<Signed>::max())) return {};
  return ValueUnit{ValueUnit::Kind::divisor, 0, divisor, samples[0]};
}

// The common divisor of the samples' multiples taken into the unit, a power of ten (of 10^0, named as 2^0).
template <class T>
ValueUnit coarsest(std::span<const T> samples, const ValueUnit& unit) {
  const Multiples<T> multiples(unit);
  uint64_t divisor = 0;
  for (const T value : samples) {
    const auto multiple = multiples.multiple(value);
    if (!multiple) continue;
    divisor = std::gcd(divisor, static_cast<uint64_t>(*multiple < 0 ? -*multiple : *multiple));
    if (divisor == 1) return unit;
  }
  if (divisor == 0) return unit;
  if (unit.kind == ValueUnit::Kind::power_of_two && std::has_single_bit(divisor))
    return {ValueUnit::Kind::power_of_two, std::countr_zero(divisor)};
  return {ValueUnit::Kind::decimal_steps, unit.exponent, divisor};
}

template <class T>
std::optional<ValueUnit> find_float_unit(std::span<const T> samples) {
  const auto strays_allowed = static_cast<size_t>(max_strays * static_cast<double>(samples.size()));
  const auto serves = [&](const ValueUnit& unit) {
    const Multiples<T> multiples(unit);
    size_t strays = 0;
    for (const T value : samples) {
      if (!multiples.multiple(value).has_value() && ++strays > strays_allowed) return false;
    }
    return true;
  };
  for (int decimals = 0; decimals <= sampled_decimals; ++decimals) {
    const ValueUnit unit = decimals == 0 ? ValueUnit{ValueUnit::Kind::power_of_two, 0}
                                         : ValueUnit{ValueUnit::Kind::decimal, decimals};
    if (serves(unit)) return coarsest(samples, unit);
  }
  int lowest = std::numeric_limits<int>::max();
  for (const T value : samples) {
    if (std::isfinite(value) && value != 0) lowest = std::min(lowest, lowest_bit(value));
  }
  if (lowest > max_binary_exponent) return {};
  const ValueUnit binary{ValueUnit::Kind::power_of_two, std::max(lowest, min_binary_exponent)};
  if (serves(binary)) return binary;
  return {};
}

}  // namespace

template <class T>
std::optional<ValueUnit> find_unit(std::span<const T> samples) {
  if (samples.empty()) return {};
  if constexpr (std::is_floating_point_v<T>) {
    return find_float_unit(samples);
  } else {
    return find_divisor(samples);
  }
}

void write_unit(const ValueUnit& unit, ByteWriter& out) {
  out.put(unit.kind);
  if (unit.kind == ValueUnit::Kind::divisor) {
    out.put_varint(unit.divisor);
    out.put_varint(unit.offset);
  } else {
    out.put_signed_varint(unit.exponent);
    if (unit.kind == ValueUnit::Kind::decimal_steps) out.put_varint(unit.divisor);
  }
}

template <class T>
Result<ValueUnit> read_unit(ByteReader& in) {
  ValueUnit unit;
  unit.kind = in.get<ValueUnit::Kind>();
  const int kind = static_cast<int>(unit.kind);
  if constexpr (std::is_floating_point_v<T>) {
    const int64_t exponent = in.get_signed_varint();
    const bool is_binary = unit.kind == ValueUnit::Kind::power_of_two;
    const bool is_in_steps = unit.kind == ValueUnit::Kind::decimal_steps;
    const int64_t least = is_binary ? min_binary_exponent : is_in_steps ? 0 : 1;
    const int64_t most = is_binary ? max_binary_exponent : max_decimals;
    const bool is_known = is_binary || is_in_steps || unit.kind == ValueUnit::Kind::decimal;
    if (in.failed() || !is_known || exponent < least || exponent > most) {
      return corrupt(
          fmt::format("lossless section: unit of kind {} with exponent {} is not valid", kind, exponent));
    }
    unit.exponent = static_cast<int>(exponent);
    if (is_in_steps) unit.divisor = in.get_varint();
    constexpr uint64_t most_steps = (uint64_t{1} << 53) - 1;
    if (in.failed() || unit.divisor < 1 || unit.divisor > most_steps) {
      return corrupt(
          fmt::format("lossless section: unit of {} steps, must be 1 to {}", unit.divisor, most_steps));
    }
  } else {
    unit.divisor = in.get_varint();
    unit.offset = in.get_varint();
    constexpr uint64_t most = std::numeric_limits<std::make_signed_t<T>>::max();
    if (in.failed() || unit.kind != ValueUnit::Kind::divisor || unit.divisor < 1 || unit.divisor > most ||
        unit.offset > std::numeric_limits<T>::max()) {
      return corrupt(
          fmt::format("lossless section: unit of kind {}, {} counted from {}, is not valid for integers",
                      kind, unit.divisor, unit.offset));
    }
  }
  return unit;
}

template std::optional<ValueUnit> find_unit<float>(std::span<const float>);
template Result<ValueUnit> read_unit<float>(ByteReader&);
template std::optional<ValueUnit> find_unit<double>(std::span<const double>);
template Result<ValueUnit> read_unit<double>(ByteReader&);
template std::optional<ValueUnit> find_unit<uint8_t>(std::span<const uint8_t>);
template Result<ValueUnit> read_unit<uint8_t>(ByteReader&);
template std::optional<ValueUnit> find_unit<uint16_t>(std::span<const uint16_t>);
template Result<ValueUnit> read_unit<uint16_t>(ByteReader&);
template std::optional<ValueUnit> find_unit<uint32_t>(std::span<const uint32_t>);
template Result<ValueUnit> read_unit<uint32_t>(ByteReader&);
template std::optional<ValueUnit> find_unit<uint64_t>(std::span<const uint64_t>);
template Result<ValueUnit> read_unit<uint64_t>(ByteReader&);

}  // namespace neve
