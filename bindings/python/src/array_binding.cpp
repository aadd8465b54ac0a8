// SPDX-License-Identifier: BSD-3-Clause
// Encoding of a whole array.
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "binding.hpp"
#include "neve/frame.hpp"
#include "neve/options.hpp"

namespace neve::python {

DType dtype_of_name(const std::string& name) {
  for (int t = 0; t < dtypes; ++t) {
    if (name == dtype_name(static_cast<DType>(t))) return static_cast<DType>(t);
  }
  check(usage_error("array of dtype " + name + ", which is none of neve's"));
  return DType::f64;  // not reached: check throws
}

namespace {

// As `neve compress --explain --json` has it.
nb::dict explanation_of(const SelectionReport& selection, const CodecTuning& tuning) {
  constexpr double nanosecond = 1e-9;
  nb::dict seconds;
  seconds["weigh"] = nanosecond * static_cast<double>(selection.times.weigh_ns);
  seconds["losers"] = nanosecond * static_cast<double>(selection.times.lost_ns);
  seconds["winners"] = nanosecond * static_cast<double>(selection.times.won_ns);
  nb::list candidates;
  for (const size_t place : selection.listed(tuning)) {
    const CandidateSums& sums = selection.candidates[place];
    nb::dict sections, candidate;
    for (const Fate fate : sums.by_frequency())
      sections[std::string(fate_name(fate)).c_str()] = sums.sections[static_cast<size_t>(fate)];
    candidate["name"] = candidate_name(place);
    candidate["score"] = selection.score(place, tuning);
    candidate["estimated_raw_bytes"] = sums.estimated_raw_bytes;
    candidate["estimated_bytes"] = sums.estimated_bytes;
    candidate["coded_raw_bytes"] = sums.coded_raw_bytes;
    candidate["coded_bytes"] = sums.coded_bytes;
    candidate["sections"] = sections;
    candidate["outcome"] = sums.outcome();
    candidates.append(candidate);
  }
  nb::dict found;
  found["sections"] = selection.sections;
  found["raw_bytes"] = selection.raw_bytes;
  found["speed_weight"] = tuning.speed_weight;
  found["ratio_weight"] = tuning.ratio_weight;
  found["cpu_seconds"] = seconds;
  found["cost_share"] = selection.times.share();
  found["candidates"] = candidates;
  return found;
}

// `array` is C-contiguous and native-endian; neve/_array.py has seen to it. `options` are those of
// neve/options.hpp, as text. The frame; with `explain`, what was weighed instead.
nb::object encode(nb::handle array, const std::string& dtype, const std::vector<uint64_t>& shape,
                  int bound_mode, double bound_value, std::optional<double> fill,
                  std::optional<uint64_t> integer_fill, bool detect_fill,
                  const std::map<std::string, std::string>& options_text, bool explain) {
  const DType type = dtype_of_name(dtype);
  OptionsSoFar so_far;
  so_far.dtype = type;
  so_far.given = {"bound"};
  so_far.values.bound = {static_cast<BoundMode>(bound_mode), bound_value};
  check(check_bound(so_far.values.bound, BoundUse::array));
  so_far.values.fill = fill;
  so_far.values.integer_fill = integer_fill;
  so_far.values.detect_fill = detect_fill;
  ArrayOptions options = unwrap(parse_array_options(options_text, std::move(so_far)));
  options.encode.explain = explain;

  const Buffer input(array, Buffer::Access::read);
  std::vector<std::byte> frame;
  FrameReport report;
  {
    const nb::gil_scoped_release release;
    frame = unwrap(encode_array(type, shape, input.data(), options, &report));
  }
  if (explain) return explanation_of(report.selections.front(), options.tuning);
  return nb::bytes(reinterpret_cast<const char*>(frame.data()), frame.size());
}

}  // namespace

void bind_array(nb::module_& module) {
  module.def("encode_array", &encode, nb::arg("array"), nb::arg("dtype"), nb::arg("shape"),
             nb::arg("bound_mode"), nb::arg("bound_value"), nb::arg("fill").none(),
             nb::arg("integer_fill").none(), nb::arg("detect_fill"), nb::arg("options"), nb::arg("explain"));
}

}  // namespace neve::python
