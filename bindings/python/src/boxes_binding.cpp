// SPDX-License-Identifier: BSD-3-Clause
// Encoding of one field of the boxes of a level as one frame, without a file around it.
#include <fmt/format.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>

#include <array>
#include <cmath>
#include <deque>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "binding.hpp"
#include "core/format/frame_header.hpp"
#include "core/options/option.hpp"
#include "neve/frame.hpp"
#include "neve/options.hpp"

namespace neve::python {

namespace {

[[noreturn]] void refuse(const std::string& why) { throw StatusError(usage_error("encode_boxes: " + why)); }

nb::sequence sequence_of(nb::handle object, std::string_view what) {
  if (!nb::isinstance<nb::sequence>(object)) refuse(fmt::format("{} is no sequence", what));
  return nb::borrow<nb::sequence>(object);
}

nb::sequence sequence_of(nb::handle object, std::string_view what, size_t length) {
  nb::sequence sequence = sequence_of(object, what);
  const size_t found = nb::len(sequence);
  if (found != length) refuse(fmt::format("{} has {} entries, must have {}", what, found, length));
  return sequence;
}

// Corners are those of neve::Box, so that a difference of two fits into 64 bits.
int64_t coordinate_of(nb::handle number) {
  int64_t value = 0;
  using Limits = std::numeric_limits<int32_t>;
  if (!nb::try_cast<int64_t>(number, value) || value < Limits::min() || value > Limits::max())
    refuse(fmt::format("a corner is not of whole numbers from {} to {}", Limits::min(), Limits::max()));
  return value;
}

// Of a neve.plotfile.Box: a pair of its first and its last cell.
Rect rect_of(nb::handle pair, int ndim) {
  const auto dims = static_cast<size_t>(ndim);
  const nb::sequence ends = sequence_of(pair, "a box", 2);
  const nb::sequence lo = sequence_of(ends[0], "a corner", dims), hi = sequence_of(ends[1], "a corner", dims);
  Rect rect;
  uint64_t cells = 1;
  for (size_t d = 0; d < dims; ++d) {
    rect.lo[d] = coordinate_of(lo[d]);
    rect.size[d] = coordinate_of(hi[d]) - rect.lo[d] + 1;
    if (rect.size[d] < 1 || static_cast<uint64_t>(rect.size[d]) > max_elements / cells) {
      refuse(fmt::format("a box has {} cells in direction {}; 1 to {} are allowed, all sides multiplied",
                         rect.size[d], d, max_elements));
    }
    cells *= static_cast<uint64_t>(rect.size[d]);
  }
  return rect;
}

// The boxes as a frame has them: covered cells are relative to their box.
FrameLayout layout_of(int ndim, const nb::sequence& boxes, const nb::sequence& covered) {
  FrameLayout layout;
  layout.ndim = ndim;
  for (const nb::handle entry : boxes) {
    const Rect place = rect_of(entry, ndim);
    FrameBox box{place.lo, place.size, {}};
    for (const nb::handle rects : sequence_of(covered[layout.boxes.size()], "the covered cells of a box")) {
      Rect rect = rect_of(rects, ndim);
      for (size_t d = 0; d < max_frame_dims; ++d) rect.lo[d] -= box.lo[d];
      box.covered.push_back(rect);
    }
    layout.element_count += static_cast<uint64_t>(box.cells());
    if (layout.element_count > max_elements)
      refuse(fmt::format("boxes of more than {} cells together", max_elements));
    layout.boxes.push_back(std::move(box));
  }
  return layout;
}

// Buffers that hold `value_bytes` for each cell of each box. `what`: of the values, for errors.
std::deque<Buffer> buffers_of(const nb::sequence& objects, const FrameLayout& layout, uint64_t value_bytes,
                              std::string_view what) {
  std::deque<Buffer> buffers;
  for (const nb::handle object : objects) {
    try {
      buffers.emplace_back(object, Buffer::Access::read, Buffer::Order::first_index_fastest);
    } catch (const nb::python_error&) {
      refuse(fmt::format("{} of box {} are no buffer with x fastest and without gaps", what, buffers.size()));
    }
  }
  if (buffers.size() != layout.boxes.size())
    refuse(fmt::format("{} of {} boxes, for {}", what, buffers.size(), layout.boxes.size()));
  for (size_t b = 0; b < buffers.size(); ++b) {
    const uint64_t needed = static_cast<uint64_t>(layout.boxes[b].cells()) * value_bytes;
    if (buffers[b].size_bytes() != needed)
      refuse(fmt::format("{} of box {} have {} bytes, not {}", what, b, buffers[b].size_bytes(), needed));
  }
  return buffers;
}

// What the arguments say themselves, or values of a level do not have, is no option here.
void check_names(const std::map<std::string, std::string>& options_text) {
  std::string allowed = "codec, effort, threads";
  for (const options::Option& option : options::table()) {
    if (option.is_of_tuning) allowed += fmt::format(", {}", option.key);
  }
  for (const auto& [name, value] : options_text) {
    const options::Option* const option = options::find(name);
    const bool is_allowed = option != nullptr && (option->is_of_tuning || option->key == "codec" ||
                                                  option->key == "effort" || option->key == "threads");
    if (!is_allowed) refuse(fmt::format("option \"{}\"; allowed: {}", name, allowed));
  }
}

ArrayOptions options_of(const std::map<std::string, std::string>& text, DType dtype, double bound_abs) {
  check_names(text);
  OptionsSoFar so_far;
  so_far.dtype = dtype;
  so_far.given = {"bound"};
  so_far.values.bound = bound_abs == 0 ? Bound{BoundMode::lossless, 0} : Bound{BoundMode::abs, bound_abs};
  check(check_bound(so_far.values.bound));
  return unwrap(parse_array_options(text, std::move(so_far)));
}

// `boxes` are pairs of corners, `covered` lists of such for each box: cells that the frame leaves out, but
// where a byte of `keep` (none: an empty list) is not 0. `values` and `keep` hold a box each, x fastest.
// The range is that of the values, empty with `lowest` above `highest`. `options` are those of
// neve/options.hpp, as text.
nb::bytes encode_boxes(bool is_double, int ndim, nb::sequence boxes, nb::sequence covered,
                       nb::sequence values, nb::sequence keep, double bound_abs, double lowest,
                       double highest, const std::map<std::string, std::string>& options_text) {
  const DType dtype = is_double ? DType::f64 : DType::f32;
  if (ndim < 1 || ndim > max_frame_dims)
    refuse(fmt::format("{} dimensions; 1 to {} are allowed", ndim, max_frame_dims));
  if (!std::isfinite(lowest) || !std::isfinite(highest))
    refuse(fmt::format("a range from {} to {}; finite numbers are allowed", lowest, highest));
  const ArrayOptions options = options_of(options_text, dtype, bound_abs);
  const FrameLayout layout =
      layout_of(ndim, boxes, sequence_of(covered, "the list of covered cells", nb::len(boxes)));
  const std::deque<Buffer> held = buffers_of(values, layout, dtype_bytes(dtype), "values");
  std::deque<Buffer> kept;
  if (nb::len(keep) > 0) kept = buffers_of(keep, layout, 1, "marks to keep");

  ComponentSpec spec;
  spec.bound_abs = bound_abs;
  spec.asked = options.bound;
  spec.codec = options.codec;
  spec.tuning = options.tuning;
  spec.range = {lowest, highest, lowest > highest};
  spec.drop_covered = true;
  std::vector<BoxData> data;
  for (size_t b = 0; b < held.size(); ++b) {
    data.push_back(dense_box_data(held[b].data(), layout.boxes[b]));
    if (!kept.empty()) data.back().keep = reinterpret_cast<const uint8_t*>(kept[b].data());
  }
  std::vector<std::byte> frame;
  {
    const nb::gil_scoped_release release;
    frame = unwrap(encode_frame(dtype, layout, {&spec, 1}, data, options.encode));
  }
  return nb::bytes(reinterpret_cast<const char*>(frame.data()), frame.size());
}

}  // namespace

void bind_boxes(nb::module_& module) {
  module.def("encode_boxes", &encode_boxes, nb::arg("is_double"), nb::arg("ndim"), nb::arg("boxes"),
             nb::arg("covered"), nb::arg("values"), nb::arg("keep"), nb::arg("bound_abs"), nb::arg("lowest"),
             nb::arg("highest"), nb::arg("options"));
}

}  // namespace neve::python
