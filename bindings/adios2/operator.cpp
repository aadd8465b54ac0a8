// SPDX-License-Identifier: BSD-3-Clause
// Neve as an operator that ADIOS2 loads: PluginName = neve, PluginLibrary = adios2neve.
#include <adios2/plugin/PluginOperatorInterface.h>
#include <fmt/format.h>

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

#include "bindings/adios2/choice_file.hpp"
#include "neve/options.hpp"
#include "neve/series.hpp"

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

// What is allowed where an option is unknown: this operator's own parameters, too.
Status with_own_names(const Status& status) {
  const bool is_list = status.message().starts_with("unknown option");
  return is_list ? Status(status.code(), status.message() + ", choices, variable") : status;
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

// ADIOS2's own parameters, and those of this operator alone, which it takes from the others.
struct OperatorParameters {
  explicit OperatorParameters(const adios2::Params& parameters) {
    for (const auto& [key, value] : parameters) {
      std::string name = key;  // ADIOS2 does not mind capitals
      std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
      if (name == "choices") {
        choices = value;
      } else if (name == "variable") {
        variable = value;
      } else if (name != "pluginname" && name != "pluginlibrary") {
        options[key] = value;
      }
    }
  }

  std::string choices;   // the log's file; empty: none
  std::string variable;  // its name in the log
  std::map<std::string, std::string> options;
};

// Blocks of a variable are series of their own, by where they begin.
std::string block_name(const std::string& variable, const adios2::Dims& start) {
  if (std::all_of(start.begin(), start.end(), [](size_t place) { return place == 0; })) return variable;
  return fmt::format("{} at {}", variable, fmt::join(start, ","));
}

class NeveOperator : public adios2::plugin::PluginOperatorInterface {
 public:
  explicit NeveOperator(const adios2::Params& all) : PluginOperatorInterface(all) {
    OperatorParameters parameters(all);
    // One operator may serve variables of any type. What it is told is judged as of floating point, which
    // takes the bound, also the one that holds if none is said.
    OptionsSoFar of_floats;
    of_floats.dtype = DType::f32;
    const Result<SeriesOptions> options = parse_series_options(parameters.options, std::move(of_floats));
    if (!options.ok()) fail(with_own_names(options.status()));
    options_ = options->array;
    memory_.emplace(options->rules);
    variable_ = parameters.variable;
    if (parameters.choices.empty()) return;
    Result<ChoiceFile> file = ChoiceFile::open(parameters.choices, choice_text(*options));
    if (!file.ok()) fail(file.status());
    choice_file_.emplace(std::move(*file));
  }

  ~NeveOperator() override {
    if (choice_file_) log_choices();
    if (!choice_file_) return;
    const Status status = choice_file_->finish();
    if (!status.ok()) say(status.message());
  }

  // ADIOS2 calls this from its Put, its EndStep or its Close, none of which goes on after an exception: the
  // program would end in Close. So values for which there is no memory, or no room for the frame, are stored
  // as they are, with a word. What the parameters do not allow of a type was sorted out when the variable was
  // given the operator.
  size_t Operate(const char* data, const adios2::Dims& start, const adios2::Dims& count,
                 const adios2::DataType type, char* out) override {
    size_t value_bytes = dtype_of(type) ? dtype_bytes(*dtype_of(type)) : 0;
    for (const size_t size : count) value_bytes *= size;
    const Result<std::vector<std::byte>> frame = encode_next(data, start, {count.begin(), count.end()}, type);
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
      const auto frame = encode_once(zeros.data(), {4, 4, 4}, type);
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
  static Status check_type(adios2::DataType type) {
    if (dtype_of(type)) return {};
    return usage_error("values of a type that is neither float, double nor an integer of 8 to 64 bits");
  }

  // The next step of a block, by the method that is remembered.
  Result<std::vector<std::byte>> encode_next(const char* values, const adios2::Dims& start,
                                             const std::vector<uint64_t>& shape, adios2::DataType type) {
    NEVE_TRY(check_type(type));
    const DType dtype = *dtype_of(type);
    if (variable_.empty() && choice_file_) variable_ = choice_file_->next_name();
    NEVE_ASSIGN(auto frames, encode_step(
                                 dtype, shape, 1, [&](size_t) { return values; },
                                 options_for(dtype, options_), *memory_, block_name(variable_, start)));
    // The memory gives all it has at once: it is asked more rarely the more that is, so that the cost of a
    // step does not grow. A program that is killed loses the newest ninth of the steps at most.
    ++steps_to_log_;
    if (choice_file_ && steps_to_log_ > std::min<uint64_t>(logged_ / 8, most_steps_to_log)) log_choices();
    return std::move(frames.front());
  }

  // What the memory has that the file has not. A file that cannot be written gets no more, with a word.
  void log_choices() {
    const std::vector<Choice> choices = memory_->choices();
    const uint64_t made = memory_->choices_dropped() + choices.size();
    const Status status = choice_file_->add(std::span(choices).last(made - logged_));
    logged_ = made;
    steps_to_log_ = 0;
    if (status.ok()) return;
    say(status.message());
    choice_file_.reset();
  }

  Result<std::vector<std::byte>> encode_once(const char* values, const std::vector<uint64_t>& shape,
                                             adios2::DataType type) const {
    NEVE_TRY(check_type(type));
    const DType dtype = *dtype_of(type);
    return encode_array(dtype, shape, values, options_for(dtype, options_));
  }

  // What will not compress is kept as it is, with a few bytes for every section.
  static size_t max_bytes(size_t value_bytes) {
    constexpr size_t header_bytes = size_t{1} << 16;
    return value_bytes + value_bytes / 8 + header_bytes;
  }

  ArrayOptions options_;
  std::optional<SelectionMemory> memory_;  // there once the parameters are read
  std::string variable_;
  std::optional<ChoiceFile> choice_file_;
  static constexpr uint64_t most_steps_to_log = SelectionMemory::max_choices / 16;
  uint64_t steps_to_log_ = 0, logged_ = 0;
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
