// SPDX-License-Identifier: BSD-3-Clause
// Neve as an operator that ADIOS2 loads: PluginName = neve, PluginLibrary = adios2neve.
#include <adios2/plugin/PluginOperatorInterface.h>

#include <cstring>
#include <span>
#include <stdexcept>
#include <string>

#include "adapters/adios2/parameters.hpp"

#if ADIOS2_PLUGIN_OPERATOR_INTERFACE != 2
#error "Neve's ADIOS2 operator is written for version 2 of the plugin interface (ADIOS2 2.12)"
#endif

namespace neve::adios2_operator {
namespace {

// ADIOS2 wants exceptions; its Python shows their words.
[[noreturn]] void fail(const Status& status) {
  const std::string words = "neve: " + status.message();
  if (status.code() == Code::usage) throw std::invalid_argument(words);
  throw std::runtime_error(words);
}

class NeveOperator : public adios2::plugin::PluginOperatorInterface {
 public:
  explicit NeveOperator(const adios2::Params& parameters) : PluginOperatorInterface(parameters) {
    const Result<ArrayOptions> options = parse_parameters(parameters);
    if (!options.ok()) fail(options.status());
    options_ = *options;
  }

  size_t Operate(const char* data, const adios2::Dims& /*start*/, const adios2::Dims& count,
                 const adios2::DataType type, char* out) override {
    if (!IsDataTypeValid(type)) fail(usage_error("values are of a type that is neither float nor double"));
    const DType dtype = type == adios2::DataType::Float ? DType::f32 : DType::f64;
    const std::vector<uint64_t> shape(count.begin(), count.end());
    const auto frame = encode_array(dtype, shape, data, options_);
    if (!frame.ok()) fail(frame.status());
    size_t values = 1;
    for (const size_t size : count) values *= size;
    if (const size_t room = most_bytes(values * dtype_bytes(dtype)); frame->size() > room) {
      fail(failure("a frame of " + std::to_string(frame->size()) + " bytes; ADIOS2 was promised at most " +
                   std::to_string(room)));
    }
    std::memcpy(out, frame->data(), frame->size());
    return frame->size();
  }

  // ADIOS2 does not say how much room `out` has: it is that of the variable's block, of which the frame knows
  // as much. A file that lies about one of the two is not found out here.
  size_t InverseOperate(const char* in, const size_t in_bytes, char* out) override {
    const auto frame = Frame::parse(std::as_bytes(std::span(in, in_bytes)));
    if (!frame.ok()) fail(frame.status());
    const size_t bytes = frame->layout().element_count * dtype_bytes(frame->dtype());
    const Status status = frame->decode(reinterpret_cast<std::byte*>(out), bytes, options_.encode.threads);
    if (!status.ok()) fail(status);
    return bytes;
  }

  bool IsDataTypeValid(const adios2::DataType type) const override {
    return type == adios2::DataType::Float || type == adios2::DataType::Double;
  }

  size_t GetEstimatedSize(const size_t count, const size_t value_bytes, const size_t /*dims*/,
                          const size_t* /*sizes*/) const override {
    return most_bytes(count * value_bytes);
  }

 private:
  // What will not compress is kept as it is, with a few bytes for every section.
  static size_t most_bytes(size_t value_bytes) {
    constexpr size_t header_bytes = size_t{1} << 16;
    return value_bytes + value_bytes / 8 + header_bytes;
  }

  ArrayOptions options_;
};

}  // namespace
}  // namespace neve::adios2_operator

extern "C" {

adios2::plugin::PluginOperatorInterface* OperatorCreate(const adios2::Params& parameters) {
  return new neve::adios2_operator::NeveOperator(parameters);
}

void OperatorDestroy(adios2::plugin::PluginOperatorInterface* made) { delete made; }
}
