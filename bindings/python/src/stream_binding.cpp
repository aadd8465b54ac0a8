// SPDX-License-Identifier: BSD-3-Clause
// Streams: encoder and decoder as they are fed, and whole arrays.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <utility>

#include "binding.hpp"
#include "neve/stream.hpp"

namespace neve::python {

namespace {

nb::bytes to_bytes(std::span<const std::byte> bytes) {
  return nb::bytes(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

nb::dict info_dict(const StreamInfo& info) {
  nb::dict d;
  d["dtype"] = std::string(dtype_name(info.dtype));
  d["shape"] = info.shape;
  d["bound"] = to_string(info.bound);
  d["fill"] = info.fill;
  d["dims"] = info.dims;
  d["block_values"] = info.block_values;
  d["raw"] = info.is_raw;
  return d;
}

nb::object offline_number(int number) { return number < 0 ? nb::none() : nb::object(nb::int_(number)); }

// What is raw has none.
nb::object codebook_name(CodebookKind kind, bool is_raw) {
  if (is_raw) return nb::none();
  return nb::cast(std::string(codebook_kind_name(kind)));
}

nb::dict chunk_dict(const ChunkReport& chunk) {
  nb::dict d;
  d["values"] = chunk.values;
  d["stored_bytes"] = chunk.stored_bytes;
  d["bound_abs"] = chunk.bound_abs;
  d["max_abs_error"] = chunk.max_abs_error;
  d["exact_values"] = chunk.exact_values;
  d["special_values"] = chunk.special_values;
  d["raw_values"] = chunk.raw_values;
  d["extra_bits"] = chunk.extra_bits;
  d["codebook"] = codebook_name(chunk.codebook, chunk.reason == CodebookReason::raw);
  d["offline_codebook"] = offline_number(chunk.offline_codebook);
  d["reason"] = std::string(codebook_reason_name(chunk.reason));
  d["chi"] = chunk.chi;
  d["kept_bits"] = chunk.kept_bits;
  d["rebuilt_bits"] = chunk.rebuilt_bits;
  d["offline_bits"] = chunk.offline_bits;
  return d;
}

class Encoder {
 public:
  // As neve/_stream.py gives it, which knows dtype and shape of what is pushed.
  Encoder(const std::string& dtype, std::vector<uint64_t> shape, int bound_mode, double bound_value,
          bool best_effort, std::optional<double> lowest, std::optional<double> highest,
          std::optional<double> fill, uint32_t block_values, uint64_t chunk_bytes, uint32_t restart_blocks,
          const std::string& codebook_rule, double chi_keep, double chi_offline, int dims,
          int offline_codebook, bool for_engine)
      : encoder_(make(dtype, std::move(shape), {static_cast<BoundMode>(bound_mode), bound_value, best_effort},
                      lowest, highest, fill, block_values, chunk_bytes, restart_blocks, codebook_rule,
                      chi_keep, chi_offline, dims, offline_codebook, for_engine)) {}

  void push(nb::handle values) {
    const Buffer input(values, Buffer::Access::read);
    has_pushed_ = true;
    const nb::gil_scoped_release release;
    check(encoder_.push(input.data(), input.size_bytes() / value_bytes_));
  }
  void flush() { check(encoder_.flush()); }
  void finish() {
    const nb::gil_scoped_release release;
    check(encoder_.finish());
    has_pushed_ = false;
  }
  void reset() {
    has_pushed_ = false;
    encoder_.reset();
  }
  // A stream of its own for a small array.
  nb::bytes encode(nb::handle values) {
    if (has_pushed_) {
      check(usage_error(
          "StreamEncoder: encode() of an array where values have been pushed; finish() or reset() first"));
    }
    const Buffer input(values, Buffer::Access::read);
    encoder_.reset();
    Status made = encoder_.push(input.data(), input.size_bytes() / value_bytes_);
    if (made.ok()) made = encoder_.finish();
    if (!made.ok()) encoder_.reset();
    check(made);
    return to_bytes(encoder_.output());
  }
  // What encode() takes of it without Python, call by call.
  std::vector<double> encode_seconds(nb::handle values, int calls) {
    const Buffer input(values, Buffer::Access::read);
    std::vector<double> seconds;
    for (int i = 0; i < calls; ++i) {
      const auto begin = std::chrono::steady_clock::now();
      encoder_.reset();
      check(encoder_.push(input.data(), input.size_bytes() / value_bytes_));
      check(encoder_.finish());
      seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    }
    return seconds;
  }
  nb::bytes take() {
    const nb::bytes taken = to_bytes(encoder_.output());
    encoder_.clear_output();
    return taken;
  }
  nb::list reports() const {
    nb::list list;
    for (const ChunkReport& chunk : encoder_.reports()) list.append(chunk_dict(chunk));
    return list;
  }

 private:
  StreamEncoder make(const std::string& dtype, std::vector<uint64_t> shape, const Bound& bound,
                     std::optional<double> lowest, std::optional<double> highest, std::optional<double> fill,
                     uint32_t block_values, uint64_t chunk_bytes, uint32_t restart_blocks,
                     const std::string& codebook_rule, double chi_keep, double chi_offline, int dims,
                     int offline_codebook, bool for_engine) {
    StreamOptions o;
    o.dtype = dtype == dtype_name(DType::f64) ? DType::f64 : DType::f32;
    value_bytes_ = dtype_bytes(o.dtype);
    o.shape = std::move(shape);
    o.bound = bound;
    if (lowest && highest) o.range = {*lowest, *highest, false};
    o.fill = fill;
    o.block_values = block_values;
    o.chunk_bytes = chunk_bytes;
    o.restart_blocks = restart_blocks;
    o.rule = unwrap(parse_codebook_rule(codebook_rule));
    o.chi_keep = chi_keep;
    o.chi_offline = chi_offline;
    o.dims = dims;
    o.offline_codebook = offline_codebook;
    o.for_engine = for_engine;
    return unwrap(StreamEncoder::create(o));
  }

  size_t value_bytes_ = 0;
  bool has_pushed_ = false;  // and not finished
  StreamEncoder encoder_;
};

class Decoder {
 public:
  void push(nb::handle bytes) {
    const Buffer input(bytes, Buffer::Access::read);
    const nb::gil_scoped_release release;
    check(decoder_.push(input.bytes()));
  }
  nb::bytes take() {
    const nb::bytes taken = to_bytes(decoder_.output());
    decoder_.clear_output();
    return taken;
  }
  void finish() const { check(decoder_.finish()); }
  bool has_ended() const { return decoder_.has_ended(); }
  nb::object info() const {
    return decoder_.has_info() ? nb::object(info_dict(decoder_.info())) : nb::none();
  }

 private:
  StreamDecoder decoder_;
};

int best_dims(const std::string& dtype, std::vector<uint64_t> shape, double bound_abs,
              std::optional<double> lowest, std::optional<double> highest, std::optional<double> fill,
              bool for_engine, nb::handle values) {
  const Buffer input(values, Buffer::Access::read);
  StreamOptions o;
  o.dtype = dtype == dtype_name(DType::f64) ? DType::f64 : DType::f32;
  o.shape = std::move(shape);
  o.bound = {BoundMode::abs, bound_abs};
  if (lowest && highest) o.range = {*lowest, *highest, false};
  o.fill = fill;
  o.for_engine = for_engine;
  const nb::gil_scoped_release release;
  return unwrap(best_stream_dims(o, input.data()));
}

nb::dict describe(nb::handle bytes) {
  const Buffer input(bytes, Buffer::Access::read);
  const StreamContents contents = unwrap(describe_stream(input.bytes()));
  nb::dict d = info_dict(contents.info);
  nb::list blocks;
  for (const StreamBlock& block : contents.blocks) {
    nb::dict b;
    b["values"] = block.values;
    b["stored_bytes"] = block.stored_bytes;
    b["raw"] = block.is_raw;
    b["extra_bits"] = block.has_extra_bits;
    b["codebook"] = codebook_name(block.codebook, block.is_raw);
    b["offline_codebook"] = offline_number(block.offline_codebook);
    b["restarts"] = block.restarts;
    b["bound_abs"] = block.is_raw ? 0 : block.bound_abs;
    blocks.append(b);
  }
  d["values"] = contents.values;
  d["blocks"] = blocks;
  return d;
}

}  // namespace

void bind_stream(nb::module_& module) {
  nb::class_<Encoder>(module, "StreamEncoder")
      .def(nb::init<const std::string&, std::vector<uint64_t>, int, double, bool, std::optional<double>,
                    std::optional<double>, std::optional<double>, uint32_t, uint64_t, uint32_t,
                    const std::string&, double, double, int, int, bool>(),
           nb::arg("dtype"), nb::arg("shape"), nb::arg("bound_mode"), nb::arg("bound_value"),
           nb::arg("best_effort"), nb::arg("lowest").none(), nb::arg("highest").none(),
           nb::arg("fill").none(), nb::arg("block_values"), nb::arg("chunk_bytes"), nb::arg("restart_blocks"),
           nb::arg("codebook_rule"), nb::arg("chi_keep"), nb::arg("chi_offline"), nb::arg("dims"),
           nb::arg("offline_codebook"), nb::arg("for_engine"))
      .def("push", &Encoder::push)
      .def("flush", &Encoder::flush)
      .def("finish", &Encoder::finish)
      .def("reset", &Encoder::reset)
      .def("encode", &Encoder::encode)
      .def("encode_seconds", &Encoder::encode_seconds)
      .def("take", &Encoder::take)
      .def_prop_ro("reports", &Encoder::reports);
  nb::class_<Decoder>(module, "StreamDecoder")
      .def(nb::init<>())
      .def("push", &Decoder::push)
      .def("take", &Decoder::take)
      .def("finish", &Decoder::finish)
      .def_prop_ro("has_ended", &Decoder::has_ended)
      .def_prop_ro("info", &Decoder::info);
  module.def("is_stream",
             [](nb::handle bytes) { return is_stream(Buffer(bytes, Buffer::Access::read).bytes()); });
  module.def("describe_stream", &describe);
  module.def("best_stream_dims", &best_dims, nb::arg("dtype"), nb::arg("shape"), nb::arg("bound_abs"),
             nb::arg("lowest").none(), nb::arg("highest").none(), nb::arg("fill").none(),
             nb::arg("for_engine"), nb::arg("values"));
  module.def("decode_stream", [](nb::handle bytes, nb::handle array) {
    const Buffer input(bytes, Buffer::Access::read);
    const Buffer output(array, Buffer::Access::write);
    const nb::gil_scoped_release release;
    check(decode_stream(input.bytes(), output.data(), output.size_bytes()));
  });
}

}  // namespace neve::python
