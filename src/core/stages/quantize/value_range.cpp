// SPDX-License-Identifier: BSD-3-Clause
// Value ranges, fill values, and the absolute bound that follows from them.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/kernels/kernels.hpp"
#include "core/math/portable_math.hpp"
#include "core/sections/visit_cells.hpp"
#include "core/stages/quantize/quantizer.hpp"
#include "core/stages/quantize/value_rules.hpp"
#include "neve/frame.hpp"

namespace neve {

namespace {

// Values that stand for "no data": CF and netCDF defaults (NC_FILL_FLOAT as f32 holds it, and as the decimals
// that people write), model habits, what Chombo puts into cells that nobody has set.
constexpr std::array<double, 16> fill_values{1e20,
                                             1e30,
                                             1e34,
                                             1e35,
                                             1e36,
                                             1e37,
                                             9.969209968386869e36,
                                             9.96921e36,
                                             3.4028234663852886e38,
                                             1.7976931348623157e308,
                                             1.23456789e300,
                                             999,
                                             9999,
                                             99999,
                                             999999,
                                             32767};

void row_range(const float* row, size_t n, std::optional<double> fill, float* lo, float* hi) {
  kernels().range_f32(row, n, fill.has_value(), static_cast<float>(fill.value_or(0)), lo, hi);
}
void row_range(const double* row, size_t n, std::optional<double> fill, double* lo, double* hi) {
  kernels().range_f64(row, n, fill.has_value(), fill.value_or(0), lo, hi);
}

// visit(first, cells) of each row, or of several that lie one behind the other.
template <class T, class Visit>
void for_each_row(const FrameBox& box, const BoxData& data, int component, const Visit& visit) {
  const T* first = static_cast<const T*>(data.data) + data.component_begin(component);
  Extents size = box.size;
  for (size_t d = 1; d < max_frame_dims && (size[d] == 1 || data.stride[d] == size[0]); ++d) {
    size[0] *= size[d];
    size[d] = 1;
  }
  visit_row_begins({{0, 0, 0, 0}, size}, data.stride,
                   [&](int64_t row) { visit(first + row, static_cast<size_t>(size[0])); });
}

template <class T>
ValueRange range_of(T min, T max) {
  if (min > max) return {};
  return {static_cast<double>(min), static_cast<double>(max), false};
}

template <class T>
ValueRange scan(const FrameBox& box, const BoxData& data, int component, std::optional<double> fill) {
  T min = std::numeric_limits<T>::max();
  T max = std::numeric_limits<T>::lowest();
  for_each_row<T>(box, data, component, [&](const T* row, size_t n) {
    T lo;
    T hi;
    row_range(row, n, fill, &lo, &hi);
    min = std::min(min, lo);
    max = std::max(max, hi);
  });
  return range_of(min, max);
}

bool reaches_missing(const ValueRange& range, const MissingValues& missing) {
  const auto lies_within = [&](double fill) { return fill >= range.min && fill <= range.max; };
  return !range.empty && (range.min < missing.lowest || range.max > missing.highest ||
                          (missing.has_zero_padding && lies_within(0)) ||
                          std::any_of(missing.fills.begin(), missing.fills.end(), lies_within));
}

// scan() without missing values, which are looked for value by value.
template <class T>
ValueRange scan_valid(const FrameBox& box, const BoxData& data, int component, std::optional<double> fill,
                      const MissingValues& missing) {
  ComponentSpec spec;
  spec.fill = fill;
  spec.missing = missing;
  const ValueRules<T> rules(spec, make_quantizer<T>(spec));
  T min = std::numeric_limits<T>::max();
  T max = std::numeric_limits<T>::lowest();
  for_each_row<T>(box, data, component, [&](const T* row, size_t n) {
    for (size_t x = 0; x < n; ++x) {
      // -0 is special, but a value.
      const T value = row[x] + T{0};
      if (rules.is_special(value)) continue;
      min = std::min(min, value);
      max = std::max(max, value);
    }
  });
  return range_of(min, max);
}

template <class T>
ValueRange scan_typed(const FrameBox& box, const BoxData& data, int component, std::optional<double> fill,
                      const MissingValues& given) {
  const ValueRange range = scan<T>(box, data, component, fill);
  MissingValues missing = as_held(sizeof(T) == 4 ? DType::f32 : DType::f64, given);
  // Fill values are found by their bits, and -0 is the fill value 0 for whoever compares.
  if (fill && *fill == 0) missing.fills.push_back(0);
  // What lies outside the range of all values is none of them.
  return reaches_missing(range, missing) ? scan_valid<T>(box, data, component, fill, missing) : range;
}

// The listed fill value nearest to `value` as the data's type holds it.
std::optional<double> listed_fill(DType dtype, double value) {
  for (const double fill : fill_values) {
    const double held = dtype == DType::f32 && fill <= static_cast<double>(std::numeric_limits<float>::max())
                            ? static_cast<double>(static_cast<float>(fill))
                            : fill;
    // Fields written as f32 and widened keep the f32 rounding of their fill value.
    const bool widened = fill <= static_cast<double>(std::numeric_limits<float>::max()) &&
                         std::abs(value) == static_cast<double>(static_cast<float>(fill));
    if (std::abs(value) == held || widened) return value;
  }
  if (value == -32768) return value;
  return {};
}

}  // namespace

void ValueRange::merge(const ValueRange& other) {
  if (other.empty) return;
  min = empty ? other.min : std::min(min, other.min);
  max = empty ? other.max : std::max(max, other.max);
  empty = false;
}

double ValueRange::width() const {
  if (empty) return 0;
  return std::min(max - min, std::numeric_limits<double>::max());
}

Result<ValueRange> scan_range(DType dtype, const FrameBox& box, const BoxData& data, int component,
                              std::optional<double> fill, const MissingValues& missing) {
  if (dtype != DType::f32 && dtype != DType::f64) {
    return usage_error(fmt::format("range of values of {}; f32 and f64 have one", dtype_name(dtype)));
  }
  for (const int64_t size : box.size) {
    if (size < 0) return usage_error(fmt::format("range of a box of size {}; at least 0 is needed", size));
  }
  if (box.cells() == 0) return ValueRange{};
  if (data.data == nullptr || component < 0) {
    return usage_error(fmt::format("range of component {}: {}", component,
                                   component < 0 ? "at least 0 is needed" : "its data is null"));
  }
  return dtype == DType::f32 ? scan_typed<float>(box, data, component, fill, missing)
                             : scan_typed<double>(box, data, component, fill, missing);
}

std::optional<double> suspect_fill(DType dtype, const ValueRange& range) {
  if (range.empty) return {};
  if (const auto fill = listed_fill(dtype, range.max); fill) return fill;
  return listed_fill(dtype, range.min);
}

bool accept_fill(double suspect, const ValueRange& others) {
  if (others.empty) return false;
  const double gap = suspect > others.max ? suspect - others.max : others.min - suspect;
  return gap > others.width();
}

double absolute_bound(const Bound& bound, const ValueRange& range) {
  switch (bound.mode) {
    case BoundMode::lossless:
      return 0;
    case BoundMode::abs:
      return bound.value;
    case BoundMode::rel:
      return std::min(bound.value * range.width(), std::numeric_limits<double>::max());
    case BoundMode::psnr:
      // No error above it, so no root mean square above it either.
      return range.width() * math::power_of_10(-bound.value / 20);
    case BoundMode::ratio:
      break;  // trying tells
  }
  return 0;
}

}  // namespace neve
