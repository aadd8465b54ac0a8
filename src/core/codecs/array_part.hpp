// SPDX-License-Identifier: BSD-3-Clause
// Arrays that are parts of something larger: their bound and fill value are those of the whole.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "neve/frame.hpp"

namespace neve {

// What a floating-point array's absolute bound and special values follow from.
struct ArrayMeasure {
  ValueRange range;  // without fill values
  std::optional<double> fill;
};

// Directions of size 1 predict nothing and are dropped; of what is left the slowest are merged until four
// remain. No size may be 0.
FrameBox box_of_shape(std::span<const uint64_t> shape);

// The measure of values of which `range_without(fill)` gives the range without fill values: `known` where it
// is given, else, where `detects`, the fill value that the range betrays.
template <class RangeWithout>
Result<ArrayMeasure> measure_values(DType dtype, std::optional<double> known, bool detects,
                                    RangeWithout&& range_without) {
  NEVE_ASSIGN(const ValueRange all, range_without(known));
  if (known || !detects) return ArrayMeasure{all, known};
  if (const auto suspect = suspect_fill(dtype, all); suspect) {
    NEVE_ASSIGN(const ValueRange others, range_without(suspect));
    if (accept_fill(*suspect, others)) return ArrayMeasure{others, suspect};
  }
  return ArrayMeasure{all, {}};
}

// The measure of an array alone: the fill value is the given one, or one that the data betray.
// `dtype` is f32 or f64.
Result<ArrayMeasure> measure_array(DType dtype, const FrameBox& box, const void* data,
                                   const ArrayOptions& options);

// encode_array with `whole` in the place of the array's own measure. Integers have none: theirs is not used.
Result<std::vector<std::byte>> encode_array_part(DType dtype, std::span<const uint64_t> shape,
                                                 const void* data, const ArrayOptions& options,
                                                 const ArrayMeasure& whole, FrameReport* report = nullptr);

}  // namespace neve
