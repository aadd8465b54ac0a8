// SPDX-License-Identifier: BSD-3-Clause
// Fill values of integers, found as those of floating point are: an extreme that people use for "no data" and
// that lies far from the rest.
#include <algorithm>
#include <array>
#include <limits>
#include <type_traits>

#include "core/bits/value_types.hpp"
#include "core/sections/visit_cells.hpp"
#include "neve/frame.hpp"

namespace neve {

namespace {

// CF's and models' habits; the extremes of the type and netCDF's defaults for it come on top.
constexpr std::array<int64_t, 6> habits = {999, 9999, 99999, 999999, 32767, -32768};

// NC_FILL_BYTE, NC_FILL_SHORT, ...: of signed types the least value but one, of INT64 but two; of unsigned
// ones the largest, of UINT64 but one.
template <class S>
constexpr S netcdf_default() {
  if constexpr (std::is_signed_v<S>) {
    return static_cast<S>(std::numeric_limits<S>::min() + (sizeof(S) == 8 ? 2 : 1));
  } else {
    return static_cast<S>(std::numeric_limits<S>::max() - (sizeof(S) == 8 ? 1 : 0));
  }
}

template <class S>
bool means_nothing(S value) {
  if (value == std::numeric_limits<S>::max() || value == netcdf_default<S>()) return true;
  if (std::is_signed_v<S> && value == std::numeric_limits<S>::min()) return true;
  return std::any_of(habits.begin(), habits.end(), [&](int64_t habit) {
    return std::in_range<S>(habit) &&
           (value == static_cast<S>(habit) || (std::in_range<S>(-habit) && value == static_cast<S>(-habit)));
  });
}

template <class S>
struct Extremes {
  S min = std::numeric_limits<S>::max();
  S max = std::numeric_limits<S>::min();
  bool is_empty() const { return min > max; }
};

// Of all values that are not `without`, where that is given.
template <class S>
Extremes<S> find_extremes(const FrameBox& box, const BoxData& data, const S* without) {
  Extremes<S> found;
  const auto* const first = static_cast<const S*>(data.data);
  visit_row_begins({{0, 0, 0, 0}, box.size}, data.stride, [&](int64_t begin) {
    const S* const row = first + begin;
    S min = found.min, max = found.max;
    for (int64_t x = 0; x < box.size[0]; ++x) {
      const bool counts = without == nullptr || row[x] != *without;
      min = counts ? std::min(min, row[x]) : min;
      max = counts ? std::max(max, row[x]) : max;
    }
    found = {min, max};
  });
  return found;
}

template <class S>
std::optional<uint64_t> detect(const FrameBox& box, const BoxData& data) {
  const Extremes<S> all = find_extremes<S>(box, data, nullptr);
  if (all.is_empty()) return {};
  for (const S suspect : {all.max, all.min}) {
    if (!means_nothing(suspect)) continue;
    const Extremes<S> others = find_extremes<S>(box, data, &suspect);
    if (others.is_empty()) return {};
    const auto distance = [](S from, S to) {
      return static_cast<uint64_t>(to) - static_cast<uint64_t>(from);
    };
    const uint64_t gap = suspect > others.max ? distance(others.max, suspect) : distance(suspect, others.min);
    if (gap > distance(others.min, others.max)) return static_cast<uint64_t>(suspect);
    return {};
  }
  return {};
}

}  // namespace

std::optional<uint64_t> detect_integer_fill(DType dtype, const FrameBox& box, const BoxData& data) {
  const bool has_values =
      std::all_of(box.size.begin(), box.size.end(), [](int64_t size) { return size > 0; });
  if (data.data == nullptr || !has_values || static_cast<int>(dtype) >= dtypes) return {};
  return visit_type(dtype, [&]<class T>(std::type_identity<T>) -> std::optional<uint64_t> {
    if constexpr (std::is_integral_v<T>) {
      return detect<T>(box, data);
    } else {
      return {};
    }
  });
}

}  // namespace neve
