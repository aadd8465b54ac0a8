// SPDX-License-Identifier: BSD-3-Clause
// Encoding of a whole array.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "binding.hpp"
#include "core/format/codec_choices.hpp"
#include "neve/frame.hpp"

namespace neve::python {

namespace {

// As neve/_array.py names it.
DType dtype_of_name(const std::string& name) {
  for (int t = 0; t < dtypes; ++t) {
    if (name == dtype_name(static_cast<DType>(t))) return static_cast<DType>(t);
  }
  check(usage_error("array of dtype " + name + ", which is none of neve's"));
  return DType::f64;  // not reached: check throws
}

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

// `array` is C-contiguous and native-endian; neve/_array.py has seen to it. The frame; with `explain`, what
// was weighed instead.
nb::object encode(nb::handle array, const std::string& dtype, const std::vector<uint64_t>& shape,
                  int bound_mode, double bound_value, const std::string& codec,
                  const std::string& arrangement, int unit_cells, int block_cells, bool merge_units,
                  const std::string& method, double speed_weight, double ratio_weight,
                  const std::string& effort, std::optional<double> fill, std::optional<uint64_t> integer_fill,
                  bool detect_fill, int threads, bool explain) {
  const DType type = dtype_of_name(dtype);
  ArrayOptions options;
  options.bound = {static_cast<BoundMode>(bound_mode), bound_value};
  check(check_bound(options.bound, BoundUse::array));
  options.codec = unwrap(parse_codec(codec));
  if (!is_integer(type)) check(check_keeps_bound(options.bound, options.codec));
  options.tuning = {unwrap(parse_arrangement(arrangement)), unit_cells,   block_cells, merge_units,
                    unwrap(parse_lossless_method(method)),  speed_weight, ratio_weight};
  options.fill = fill;
  options.integer_fill = integer_fill;
  options.detect_fill = detect_fill;
  options.encode.effort = unwrap(parse_effort(effort));
  options.encode.threads = threads;
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
             nb::arg("bound_mode"), nb::arg("bound_value"), nb::arg("codec"), nb::arg("arrangement"),
             nb::arg("unit_cells"), nb::arg("block_cells"), nb::arg("merge_units"), nb::arg("method"),
             nb::arg("speed_weight"), nb::arg("ratio_weight"), nb::arg("effort"), nb::arg("fill").none(),
             nb::arg("integer_fill").none(), nb::arg("detect_fill"), nb::arg("threads"), nb::arg("explain"));
}

}  // namespace neve::python
