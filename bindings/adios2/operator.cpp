// SPDX-License-Identifier: BSD-3-Clause
// Neve as an operator that ADIOS2 loads: PluginName = neve, PluginLibrary = adios2neve.
#include <adios2/plugin/PluginOperatorInterface.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <map>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "neve/options.hpp"

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

// Ahead of values that are no frame.
constexpr std::string_view plain_mark = "neve: plain values:\n";

void say(const std::string& words) { std::fprintf(stderr, "neve: %s\n", words.c_str()); }

// Nothing for types that Neve has none of: complex numbers, long double, text.
std::optional<DType> dtype_of(adios2::DataType type) {
  switch (type) {
    case adios2::DataType::Float:
      return DType::f32;
    case adios2::DataType::Double:
      return DType::f64;
    case adios2::DataType::Int8:
    case adios2::DataType::Char:
      return DType::i8;
    case adios2::DataType::UInt8:
      return DType::u8;
    case adios2::DataType::Int16:
      return DType::i16;
    case adios2::DataType::UInt16:
      return DType::u16;
    case adios2::DataType::Int32:
      return DType::i32;
    case adios2::DataType::UInt32:
      return DType::u32;
    case adios2::DataType::Int64:
      return DType::i64;
    case adios2::DataType::UInt64:
      return DType::u64;
    default:
      return {};
  }
}

std::map<std::string, std::string> without_adios2s_own(adios2::Params parameters) {
  for (auto at = parameters.begin(); at != parameters.end();) {
    std::string name = at->first;  // ADIOS2 does not mind capitals
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
    at = name == "pluginname" || name == "pluginlibrary" ? parameters.erase(at) : std::next(at);
  }
  return parameters;
}

class NeveOperator : public adios2::plugin::PluginOperatorInterface {
 public:
  explicit NeveOperator(const adios2::Params& parameters) : PluginOperatorInterface(parameters) {
    // One operator may serve variables of any type. What it is told is judged as of floating point, which
    // takes the bound, also the one that holds if none is said.
    OptionsSoFar of_floats;
    of_floats.dtype = DType::f32;
    const Result<ArrayOptions> options =
        parse_array_options(without_adios2s_own(parameters), std::move(of_floats));
    if (!options.ok()) fail(options.status());
    options_ = *options;
  }

  // ADIOS2 calls this from its Put, its EndStep or its Close, none of which goes on after an exception: the
  // program would end in Close. So values for which there is no memory, or no room for the frame, are stored
  // as they are, with a word. What the parameters do not allow of a type was sorted out when the variable was
  // given the operator.
  size_t Operate(const char* data, const adios2::Dims& /*start*/, const adios2::Dims& count,
                 const adios2::DataType type, char* out) override {
    size_t value_bytes = dtype_of(type) ? dtype_bytes(*dtype_of(type)) : 0;
    for (const size_t size : count) value_bytes *= size;
    const Result<std::vector<std::byte>> frame = encode(data, {count.begin(), count.end()}, type);
    if (frame.ok() && frame->size() <= max_bytes(value_bytes)) {
      std::memcpy(out, frame->data(), frame->size());
      return frame->size();
    }
    say("a block is stored without compression: " +
        (frame.ok() ? "its frame has " + std::to_string(frame->size()) + " bytes"
                    : frame.status().message()));
    std::memcpy(out, plain_mark.data(), plain_mark.size());
    std::memcpy(out + plain_mark.size(), data, value_bytes);
    return plain_mark.size() + value_bytes;
  }

  // ADIOS2 does not say how much room `out` has: it is that of the variable's block, of which the frame knows
  // as much. A file that lies about one of the two is not found out here.
  size_t InverseOperate(const char* in, const size_t in_bytes, char* out) override {
    if (std::string_view(in, in_bytes).starts_with(plain_mark)) {
      std::memcpy(out, in + plain_mark.size(), in_bytes - plain_mark.size());
      return in_bytes - plain_mark.size();
    }
    const auto frame = Frame::parse(std::as_bytes(std::span(in, in_bytes)));
    if (!frame.ok()) fail(frame.status());
    const size_t bytes = frame->shape().element_count * dtype_bytes(frame->dtype());
    const Status status = frame->decode(reinterpret_cast<std::byte*>(out), bytes, options_.encode.threads);
    if (!status.ok()) fail(status);
    return bytes;
  }

  // Asked when a variable is given the operator, from where no exception may leave (ADIOS2 would end the
  // program); what is not valid ADIOS2 stores as it is. Whether the parameters go with the type, a few values
  // tell.
  bool IsDataTypeValid(const adios2::DataType type) const override {
    if (!dtype_of(type)) return false;
    try {
      const std::vector<char> zeros(64 * sizeof(double));
      const auto frame = encode(zeros.data(), {4, 4, 4}, type);
      if (!frame.ok()) say("a variable is stored without compression: " + frame.status().message());
      return frame.ok();
    } catch (const std::exception&) {
      return true;  // no memory for a word, now
    }
  }

  size_t GetEstimatedSize(const size_t count, const size_t value_bytes, const size_t /*dims*/,
                          const size_t* /*sizes*/) const override {
    return max_bytes(count * value_bytes);
  }

 private:
  Result<std::vector<std::byte>> encode(const char* values, const std::vector<uint64_t>& shape,
                                        adios2::DataType type) const {
    const std::optional<DType> dtype = dtype_of(type);
    if (!dtype) {
      return usage_error("values of a type that is neither float, double nor an integer of 8 to 64 bits");
    }
    return encode_array(*dtype, shape, values, options_for(*dtype, options_));
  }

  // What will not compress is kept as it is, with a few bytes for every section.
  static size_t max_bytes(size_t value_bytes) {
    constexpr size_t header_bytes = size_t{1} << 16;
    return value_bytes + value_bytes / 8 + header_bytes;
  }

  ArrayOptions options_;
};

}  // namespace
}  // namespace neve::adios2_operator

#pragma GCC visibility push(default)
extern "C" {

adios2::plugin::PluginOperatorInterface* OperatorCreate(const adios2::Params& parameters) {
  return new neve::adios2_operator::NeveOperator(parameters);
}

void OperatorDestroy(adios2::plugin::PluginOperatorInterface* made) { delete made; }
}
#pragma GCC visibility pop
