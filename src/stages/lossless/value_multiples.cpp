// SPDX-License-Identifier: BSD-3-Clause
#include "stages/lossless/value_multiples.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>

namespace neve {

namespace {

// Values without a multiple are listed one by one, which only pays for few.
constexpr double most_strays = 0.02;
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

}  // namespace

template <class T>
std::optional<ValueUnit> find_unit(std::span<const T> samples) {
  if (samples.empty()) return {};
  const auto strays_allowed = static_cast<size_t>(most_strays * static_cast<double>(samples.size()));
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
    if (serves(unit)) return unit;
  }
  int lowest = std::numeric_limits<int>::max();
  for (const T value : samples) {
    if (std::isfinite(value) && value != 0) lowest = std::min(lowest, lowest_bit(value));
  }
  if (lowest > most_binary_exponent) return {};
  const ValueUnit binary{ValueUnit::Kind::power_of_two, std::max(lowest, least_binary_exponent)};
  if (serves(binary)) return binary;
  return {};
}

template std::optional<ValueUnit> find_unit<float>(std::span<const float>);
template std::optional<ValueUnit> find_unit<double>(std::span<const double>);

}  // namespace neve
