// SPDX-License-Identifier: BSD-3-Clause
// What neve.Filter needs to know of the HDF5 filter's parameters, and of the values to come.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "binding.hpp"
#include "core/catalog/choices.hpp"
#include "core/catalog/codecs.hpp"
#include "core/codecs/array_part.hpp"
#include "io/hdf5/filter_parameters.hpp"
#include "io/hdf5/filter_text.hpp"
#include "neve/frame.hpp"

namespace neve::python {

namespace {

void check_filter_words(const std::vector<uint32_t>& words) {
  check(hdf5::check_promises(unwrap(hdf5::parse_user_words(words)).parameters));
}

std::vector<uint32_t> filter_parameters(const std::string& text) {
  const hdf5::FilterParameters parameters = unwrap(hdf5::parse_filter_text(text));
  check(hdf5::check_promises(parameters));
  return hdf5::to_words(parameters);
}

std::string filter_text(const std::vector<uint32_t>& words) { return unwrap(hdf5::words_text(words)); }

// The words behind those of layout 2, none where nothing is said.
std::vector<uint32_t> words_on_methods(const std::string& candidates, double speed_weight,
                                       double ratio_weight) {
  hdf5::FilterParameters parameters;
  parameters.candidates = unwrap(parse_lossless_methods(candidates));
  parameters.speed_weight = speed_weight;
  parameters.ratio_weight = ratio_weight;
  return hdf5::words_on_methods(parameters);
}

// {mode, value} of a bound relative to the range of all values.
std::pair<int, double> bound_in_range(double rel, double lowest, double highest) {
  const Bound bound = hdf5::bound_in_range({BoundMode::rel, rel}, {lowest, highest, false});
  return {static_cast<int>(bound.mode), bound.value};
}

// `values` is C-contiguous, native-endian, f32 or f64. {"fill", "min", "max"}, the last two None where no
// value is valid.
nb::dict measure(nb::handle values, bool is_single, std::optional<double> fill,
                 const std::vector<double>& missing, bool detect_fill) {
  const Buffer input(values, Buffer::Access::read);
  const DType type = is_single ? DType::f32 : DType::f64;
  ArrayOptions options;
  options.fill = fill;
  options.detect_fill = detect_fill;
  options.missing.fills = missing;
  FrameBox box;
  box.size[0] = static_cast<int64_t>(input.size_bytes() / dtype_bytes(type));
  ArrayMeasure found;
  if (box.size[0] > 0) {
    const nb::gil_scoped_release release;
    found = unwrap(measure_array(type, box, input.data(), options));
  }
  nb::dict out;
  out["fill"] = found.fill;
  out["min"] = found.range.empty ? nb::object(nb::none()) : nb::cast(found.range.min);
  out["max"] = found.range.empty ? nb::object(nb::none()) : nb::cast(found.range.max);
  return out;
}

// The numbers of what can be asked for, by name.
nb::dict codec_numbers() {
  nb::dict numbers;
  for (const CodecTraits& row : codec_rows) {
    if (row.is_asked_for) numbers[nb::str(row.name.data(), row.name.size())] = static_cast<int>(row.codec);
  }
  return numbers;
}

nb::dict effort_numbers() {
  nb::dict numbers;
  for (const auto& row : effort_names)
    numbers[nb::str(row.name.data(), row.name.size())] = static_cast<int>(row.value);
  return numbers;
}

}  // namespace

void bind_filter(nb::module_& module) {
  module.def("check_filter_words", &check_filter_words, nb::arg("words"));
  module.def("filter_parameters", &filter_parameters, nb::arg("text"));
  module.def("filter_text", &filter_text, nb::arg("words"));
  module.def("words_on_methods", &words_on_methods, nb::arg("candidates"), nb::arg("speed_weight"),
             nb::arg("ratio_weight"));
  module.def("bound_in_range", &bound_in_range, nb::arg("rel"), nb::arg("lowest"), nb::arg("highest"));
  module.def("measure", &measure, nb::arg("values"), nb::arg("is_single"), nb::arg("fill").none(),
             nb::arg("missing"), nb::arg("detect_fill"));
  module.attr("FILTER_ID") = hdf5::neve_filter_id;
  nb::list filter_ids;
  filter_ids.append(hdf5::neve_filter_id);
  for (const int id : hdf5::former_filter_ids) filter_ids.append(id);
  module.attr("FILTER_IDS") = nb::tuple(filter_ids);
  // Without words on methods, and with them.
  module.attr("FILTER_LAYOUTS") =
      nb::make_tuple(hdf5::filter_layout_without_methods, hdf5::filter_parameters_version);
  module.attr("MAX_MISSING") = hdf5::max_missing;
  module.attr("CODECS") = codec_numbers();
  module.attr("EFFORTS") = effort_numbers();
}

}  // namespace neve::python
