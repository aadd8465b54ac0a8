// SPDX-License-Identifier: BSD-3-Clause
// Whole arrays as one frame: the shape is remembered, the cells are coded in at most four directions.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/codecs/array_part.hpp"
#include "core/codecs/component_place.hpp"
#include "core/codecs/target_search.hpp"
#include "core/format/array_shape.hpp"
#include "core/format/codec_choices.hpp"
#include "core/stages/quantize/value_rules.hpp"
#include "core/status/guarded.hpp"
#include "core/threads/parallel_for.hpp"
#include "neve/frame.hpp"

namespace neve {

FrameBox box_of_shape(std::span<const uint64_t> shape) {
  std::vector<int64_t> sides;  // fastest first
  for (auto it = shape.rbegin(); it != shape.rend(); ++it) {
    if (*it > 1) sides.push_back(static_cast<int64_t>(*it));
  }
  while (sides.size() > max_frame_dims) {
    sides[sides.size() - 2] *= sides.back();
    sides.pop_back();
  }
  FrameBox box;
  std::copy(sides.begin(), sides.end(), box.size.begin());
  return box;
}

namespace {

// scan_range of a dense array, in pieces that threads take.
Result<ValueRange> scan_array(DType dtype, const FrameBox& box, const void* values,
                              const ArrayOptions& options, const std::optional<double>& fill) {
  constexpr int64_t piece_cells = int64_t{1} << 20;
  const int64_t cells = box.cells();
  const auto pieces = static_cast<size_t>((cells + piece_cells - 1) / piece_cells);
  std::vector<Result<ValueRange>> ranges(pieces, ValueRange{});
  parallel_for(pieces, options.encode.threads, [&](size_t p) {
    const int64_t begin = static_cast<int64_t>(p) * piece_cells;
    FrameBox line;
    line.size[0] = std::min(piece_cells, cells - begin);
    const auto* first =
        static_cast<const std::byte*>(values) + static_cast<size_t>(begin) * dtype_bytes(dtype);
    ranges[p] = scan_range(dtype, line, dense_box_data(first, line), 0, fill, options.missing);
  });
  ValueRange all;
  for (const Result<ValueRange>& range : ranges) {
    NEVE_TRY(range.status());
    all.merge(*range);
  }
  return all;
}

}  // namespace

Result<ArrayMeasure> measure_array(DType dtype, const FrameBox& box, const void* values,
                                   const ArrayOptions& options) {
  return measure_values(dtype, options.fill, options.detect_fill, [&](const std::optional<double>& fill) {
    return scan_array(dtype, box, values, options, fill);
  });
}

namespace {

// Whether values are coded as bytes whatever they are: every bit is kept, and speed alone counts.
bool is_bytes_alone(const ArrayOptions& options) {
  return options.bound.mode == BoundMode::lossless && options.tuning.ratio_weight == 0 &&
         options.tuning.method == LosslessMethod::automatic &&
         (options.codec == Codec::automatic || options.codec == Codec::lossless);
}

// Leaves out missing values that neither occur nor could be decoded by mistake: each costs time.
Status drop_absent(DType dtype, const FrameBox& box, const BoxData& data, ComponentSpec& spec) {
  MissingValues& missing = spec.missing;
  if (missing == MissingValues{}) return {};
  NEVE_ASSIGN(const ValueRange all, scan_range(dtype, box, data, 0, spec.fill));
  const auto is_far = [&](double value) {
    return all.empty || value < all.min - spec.bound_abs || value > all.max + spec.bound_abs;
  };
  std::erase_if(missing.fills, is_far);
  missing.has_zero_padding = missing.has_zero_padding && !is_far(0);
  return {};
}

// Whether the bound is searched, until it gives what is asked for.
bool is_searched(const Bound& bound) {
  return bound.mode == BoundMode::ratio || bound.mode == BoundMode::psnr;
}

// Directions up to the last one with more than one cell; at least one.
int used_dims(const FrameLayout& layout) {
  int dims = max_frame_dims;
  while (dims > 1 && (layout.boxes.empty() || layout.boxes[0].size[static_cast<size_t>(dims) - 1] == 1)) {
    --dims;
  }
  return dims;
}

// Rows so short break what follows one another in memory (corners of cells, pairs, triples): such an array
// may be smaller as one line. A decoder takes any box whose cells are the array's.
constexpr int64_t short_row = 8;
bool may_be_a_line(const FrameLayout& layout, const ArrayOptions& options) {
  const bool is_open =
      options.codec == Codec::automatic ||
      (options.codec == Codec::lossless && options.tuning.method == LosslessMethod::automatic);
  return is_open && !options.lattice && !is_bytes_alone(options) && layout.ndim > 1 &&
         layout.boxes[0].size[0] <= short_row;
}

// An array's values in one box.
struct BoxedArray {
  DType dtype;
  FrameLayout layout;
  const void* values;
  ComponentSpec spec;

  Result<std::vector<std::byte>> encode(const EncodeOptions& options, FrameReport* report) const {
    const BoxData data = dense_box_data(values, layout.boxes[0]);
    return encode_frame(dtype, layout, std::span(&spec, 1), std::span(&data, 1), options, report);
  }
  BoxedArray as_line() const {
    BoxedArray line = *this;
    line.layout.ndim = 1;
    line.layout.boxes[0] = {};
    line.layout.boxes[0].size[0] = static_cast<int64_t>(layout.element_count);
    return line;
  }
  // Its first slices of the slowest direction, of so many cells or a few more.
  BoxedArray piece(int64_t cells) const {
    BoxedArray part = *this;
    int64_t& slices = part.layout.boxes[0].size[static_cast<size_t>(layout.ndim) - 1];
    const int64_t of_slice = static_cast<int64_t>(layout.element_count) / slices;
    slices = std::clamp<int64_t>(cells / of_slice, 1, slices);
    part.layout.element_count = static_cast<uint64_t>(slices * of_slice);
    part.layout.array_shape = {part.layout.element_count};
    return part;
  }
};

// Of small arrays as it turns out, of large ones by their first cells.
Result<std::vector<std::byte>> encode_smaller(const BoxedArray& array, const EncodeOptions& options,
                                              FrameReport* report) {
  constexpr uint64_t small_cells = uint64_t{1} << 16;
  constexpr int64_t piece_cells = int64_t{1} << 15;
  constexpr size_t worth_percent = 98;
  const BoxedArray line = array.as_line();
  if (array.layout.element_count > small_cells) {
    const BoxedArray piece = array.piece(piece_cells);
    NEVE_ASSIGN(const std::vector<std::byte> in_box, piece.encode(options, nullptr));
    NEVE_ASSIGN(const std::vector<std::byte> in_line, piece.as_line().encode(options, nullptr));
    return (100 * in_line.size() < worth_percent * in_box.size() ? line : array).encode(options, report);
  }
  FrameReport line_report;
  NEVE_ASSIGN(std::vector<std::byte> in_box, array.encode(options, report));
  NEVE_ASSIGN(std::vector<std::byte> in_line,
              line.encode(options, report != nullptr ? &line_report : nullptr));
  if (in_line.size() >= in_box.size()) return in_box;
  if (report != nullptr) *report = std::move(line_report);
  return in_line;
}

// `whole` null: the array's own measure.
Result<std::vector<std::byte>> encode(DType dtype, std::span<const uint64_t> shape, const void* data,
                                      const ArrayOptions& options, const ArrayMeasure* whole,
                                      FrameReport* report) {
  // What reaches a ratio or a PSNR in one part does not in another.
  NEVE_TRY(check_bound(options.bound, whole == nullptr ? BoundUse::array : BoundUse::field));
  const bool is_target = is_searched(options.bound);
  if (is_target) NEVE_TRY(check_uses_bound(options.bound, options.codec));  // it could not be reached
  NEVE_TRY(check_dtype(dtype));
  FrameLayout layout;
  layout.is_array = true;
  NEVE_ASSIGN(layout.element_count, count_values(shape));
  layout.array_shape.assign(shape.begin(), shape.end());
  if (layout.element_count > 0 && data == nullptr) {
    return usage_error(fmt::format("array: data is null for {} values", layout.element_count));
  }
  ComponentSpec spec;
  spec.asked = options.bound;
  spec.codec = options.codec;
  spec.tuning = options.tuning;
  spec.fill = options.fill;
  spec.integer_fill = options.integer_fill;
  spec.missing = as_held(dtype, options.missing);
  spec.lattice = options.lattice;
  std::vector<BoxData> boxes;
  if (layout.element_count > 0) {
    layout.boxes.push_back(box_of_shape(shape));
    boxes.push_back(dense_box_data(data, layout.boxes[0]));
    if (is_bytes_alone(options)) {
      // Nothing is asked of the values.
    } else if (!is_integer(dtype)) {
      ArrayMeasure found;
      if (whole != nullptr) {
        found = *whole;
      } else {
        NEVE_ASSIGN(found, measure_array(dtype, layout.boxes[0], data, options));
      }
      spec.fill = found.fill;
      spec.range = found.range;
      spec.bound_abs = absolute_bound(options.bound, found.range);
      NEVE_TRY(drop_absent(dtype, layout.boxes[0], boxes[0], spec));
    } else if (!options.integer_fill && options.detect_fill) {
      spec.integer_fill = detect_integer_fill(dtype, layout.boxes[0], boxes[0]);
    }
  }
  layout.ndim = used_dims(layout);
  if (is_target && options.lattice) {
    return usage_error(
        fmt::format("{} cannot be encoded again with the same values: its bound is found anew each time",
                    to_string(options.bound)));
  }
  if (is_target && !is_integer(dtype) && !boxes.empty()) {
    return encode_for_target({dtype, layout, boxes[0], spec, options.encode}, report);
  }
  if (!boxes.empty() && may_be_a_line(layout, options)) {
    return encode_smaller({dtype, layout, data, spec}, options.encode, report);
  }
  return encode_frame(dtype, layout, std::span(&spec, 1), boxes, options.encode, report);
}

// An array has no components that its caller would know.
Result<std::vector<std::byte>> without_component(Result<std::vector<std::byte>> encoded) {
  const std::string place = component_place(0) + ": ";
  if (encoded.ok() || !encoded.status().message().starts_with(place)) return encoded;
  return Status(encoded.status().code(), encoded.status().message().substr(place.size()));
}

}  // namespace

Result<std::vector<std::byte>> encode_array(DType dtype, Span<const uint64_t> shape, const void* data,
                                            const ArrayOptions& options, FrameReport* report) {
  return guarded("encoding an array",
                 [&] { return without_component(encode(dtype, shape, data, options, nullptr, report)); });
}

Result<std::vector<std::byte>> encode_array_part(DType dtype, std::span<const uint64_t> shape,
                                                 const void* data, const ArrayOptions& options,
                                                 const ArrayMeasure& whole, FrameReport* report) {
  return guarded("encoding an array",
                 [&] { return without_component(encode(dtype, shape, data, options, &whole, report)); });
}

}  // namespace neve
