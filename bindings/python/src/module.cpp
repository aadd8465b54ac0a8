// SPDX-License-Identifier: BSD-3-Clause
// The extension module: a thin layer over the C++ contracts. Arguments are checked and documented in
// the Python modules above it.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <limits>

#include "binding.hpp"
#include "core/catalog/refusals.hpp"
#include "core/format/frame_file.hpp"
#include "neve/frame.hpp"
#include "neve/stream.hpp"

namespace {

void translate_status_error(const std::exception_ptr& exception, void*) {
  try {
    std::rethrow_exception(exception);
  } catch (const neve::python::StatusError& error) {
    namespace nb = nanobind;
    const nb::object type = nb::module_::import_("neve._errors").attr("Error");
    const nb::object value =
        type(nb::str(error.what(), error.status().message().size()), static_cast<int>(error.status().code()));
    PyErr_SetObject(type.ptr(), value.ptr());
  }
}

// The least and the most of each number of a StreamEncoder, by its keyword.
nanobind::dict stream_limits() {
  nanobind::dict limits;
  limits["dims"] = nanobind::make_tuple(1, neve::max_stream_dims);
  limits["block_values"] = nanobind::make_tuple(neve::min_stream_block_values, neve::max_stream_block_values);
  limits["chunk_bytes"] = nanobind::make_tuple(neve::min_stream_chunk_bytes, neve::max_stream_chunk_bytes);
  limits["restart_blocks"] = nanobind::make_tuple(0, std::numeric_limits<uint32_t>::max());
  limits["offline_codebook"] = nanobind::make_tuple(0, neve::offline_codebook_count - 1);
  return limits;
}

}  // namespace

NB_MODULE(_core, module) {
  nanobind::register_exception_translator(translate_status_error);
  neve::python::bind_array(module);
  neve::python::bind_boxes(module);
  neve::python::bind_files(module);
  neve::python::bind_filter(module);
  neve::python::bind_frame(module);
  neve::python::bind_plotfile(module);
  neve::python::bind_series(module);
  neve::python::bind_stream(module);
  module.attr("STREAM_LIMITS") = stream_limits();
  module.attr("MAX_THREADS") = neve::max_threads;
  module.attr("MAX_BLOCK_BYTES") = neve::max_frame_value_bytes;
  module.def(
      "out_of_range",
      [](const std::string& what, const std::string& found, uint64_t least, uint64_t most) {
        return neve::out_of_range(what, found, least, most).message();
      },
      "What is said of a number that is refused.");
  module.def("simd_target", &neve::simd_target,
             "The instruction set that hot loops run with: \"AVX2\", \"portable\", ...");
  module.def("simd_targets", &neve::simd_targets, "All that this machine can run.");
  module.def(
      "set_simd_target", [](const std::string& name) { neve::python::check(neve::set_simd_target(name)); },
      nanobind::arg("name"),
      "Makes hot loops run with one of simd_targets(); neve.Error for any other name. Bytes and values do "
      "not\n"
      "depend on it. Not to be called while another thread encodes or decodes.");
}
