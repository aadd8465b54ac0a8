// SPDX-License-Identifier: BSD-3-Clause
#include "core/stages/quantize/value_rules.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "core/math/portable_math.hpp"
#include "core/stages/quantize/lattice.hpp"
#include "core/stages/quantize/quantizer.hpp"

namespace neve {
namespace {

// As a reader holds an attribute in the data's type.
template <class T>
T in_type(double value) {
  constexpr auto most = static_cast<double>(std::numeric_limits<T>::max());
  if (std::abs(value) > most)
    return std::copysign(std::numeric_limits<T>::infinity(), static_cast<T>(value > 0 ? 1 : -1));
  return static_cast<T>(value);
}

template <class T>
void hold_in(MissingValues& missing) {
  for (double& fill : missing.fills) fill = static_cast<double>(in_type<T>(fill));
  missing.lowest = static_cast<double>(in_type<T>(missing.lowest));
  missing.highest = static_cast<double>(in_type<T>(missing.highest));
}

bool is_near(double value, const ValueRange& range, double bound) {
  return value >= range.min - bound && value <= range.max + bound;
}

}  // namespace

MissingValues as_held(DType dtype, MissingValues missing) {
  if (dtype == DType::f32) hold_in<float>(missing);
  return missing;
}

bool has_limits(const MissingValues& missing) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  return missing.lowest > -infinity || missing.highest < infinity;
}

bool may_become_missing(const ComponentSpec& spec) {
  const MissingValues& missing = spec.missing;
  if (spec.range.empty) return missing.is_mask || has_limits(missing);
  if (spec.range.min - spec.bound_abs < missing.lowest || spec.range.max + spec.bound_abs > missing.highest) {
    return true;
  }
  if (!missing.is_mask) return false;
  const auto near = [&](double fill) { return is_near(fill, spec.range, spec.bound_abs); };
  return (spec.fill && near(*spec.fill)) || std::any_of(missing.fills.begin(), missing.fills.end(), near);
}

template <class T>
ValueRules<T>::ValueRules(const ComponentSpec& spec, const Quantizer<T>& quantizer)
    : has_fill_(quantizer.has_fill),
      fill_bits_(portable::bits(quantizer.fill)),
      fill_(quantizer.fill),
      lowest_(in_type<T>(spec.missing.lowest)),
      highest_(in_type<T>(spec.missing.highest)),
      is_mask_(spec.missing.is_mask),
      has_zero_padding_(spec.missing.has_zero_padding),
      has_more_(!spec.missing.fills.empty() || has_zero_padding_ || has_limits(spec.missing)),
      is_lattice_(spec.lattice.has_value()) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  for (const double fill : spec.missing.fills) {
    if (!std::isnan(fill)) missing_.push_back(in_type<T>(fill));
  }
  std::sort(missing_.begin(), missing_.end());  // an attribute may list thousands
  if (is_lattice_) {
    if (quantizer.step > 0) {
      center_multiple_ = static_cast<int64_t>(
          math::round_even(static_cast<double>(quantizer.center) / static_cast<double>(quantizer.step)));
    }
    const double largest =
        spec.range.empty ? infinity : std::max(std::abs(spec.range.min), std::abs(spec.range.max));
    has_large_ = !(largest < static_cast<double>(lattice_limit<T> - 1) * static_cast<double>(quantizer.step));
  }
  judges_all_ = has_more_ || has_large_ || may_become_missing(spec);
}

template <class T>
bool ValueRules<T>::is_missing(T value) const {
  if (value < lowest_ || value > highest_ || (has_zero_padding_ && value == 0)) return true;
  return std::binary_search(missing_.begin(), missing_.end(), value);
}

// Of a value that is no special one and decodes to within the bound.
template <class T>
bool ValueRules<T>::is_allowed(T value, T decoded, int64_t multiple) const {
  if (is_lattice_ && std::abs(multiple) >= lattice_limit<T>) return false;
  if (has_more_ && is_missing(value)) return false;
  if (decoded < lowest_ || decoded > highest_) return false;
  if (!is_mask_) return true;
  if (has_fill_ && decoded == fill_) return false;
  return !std::binary_search(missing_.begin(), missing_.end(), decoded);
}

// The quantization code of a value that the kernels have rejected: their arithmetic in T may pick the farther
// of two, and where rounding takes the nearer one's decoded value too far it may bring the other's close
// enough.
template <class T>
bool ValueRules<T>::recover(T value, const Quantizer<T>& quantizer, int32_t& quant_code,
                            QuantizeStats<T>& stats) const {
  if constexpr (sizeof(T) == 8) return false;
  if (!is_lattice_ || is_special(value)) return false;
  const double scaled = (static_cast<double>(value) - static_cast<double>(quantizer.center)) /
                        static_cast<double>(quantizer.step);
  if (!(std::abs(scaled) < static_cast<double>(lattice_limit<T>))) return false;
  const auto nearest = static_cast<int32_t>(math::round_even(scaled));
  const int32_t second = scaled > nearest ? nearest + 1 : nearest - 1;
  for (const int32_t whole : {nearest, second}) {
    const T decoded = portable::dequantize_one(whole, 0, quantizer.center, quantizer.step);
    const T error = std::abs(value - decoded);
    if (!(error <= quantizer.tolerance) || !is_allowed(value, decoded, whole + center_multiple_)) continue;
    quant_code = whole - quantizer.origin;
    stats.max_error = std::max(stats.max_error, error);
    return true;
  }
  return false;
}

template <class T>
void ValueRules<T>::quantize(const T* values, size_t n, const Quantizer<T>& quantizer, int32_t* quant_codes,
                             QuantizeStats<T>& stats) const {
  const size_t rejected_before = stats.rejected;
  neve::quantize(values, n, quantizer, quant_codes, stats);
  const bool may_recover = sizeof(T) == 4 && is_lattice_ && stats.rejected != rejected_before;
  if (!judges_all_ && !may_recover) return;
  for (size_t i = 0; i < n; ++i) {
    if (quant_codes[i] == rejected_quant_code) {
      if (may_recover && recover(values[i], quantizer, quant_codes[i], stats)) --stats.rejected;
      continue;
    }
    if (!judges_all_) continue;
    const T decoded =
        portable::dequantize_one(quant_codes[i], quantizer.origin, quantizer.center, quantizer.step);
    if (is_allowed(values[i], decoded, int64_t{quant_codes[i]} + quantizer.origin + center_multiple_))
      continue;
    quant_codes[i] = rejected_quant_code;
    ++stats.rejected;
  }
}

template class ValueRules<float>;
template class ValueRules<double>;

}  // namespace neve
