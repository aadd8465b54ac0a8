// SPDX-License-Identifier: BSD-3-Clause
#include "neve/series.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "core/codecs/series_step.hpp"
#include "core/codecs/step_codec.hpp"
#include "core/format/array_shape.hpp"
#include "core/format/codec_choices.hpp"
#include "core/status/guarded.hpp"

namespace neve {
namespace {

Status check_step(const Step& step, const SelectionMemory& memory) {
  if (!(memory.delta() >= 0) || !std::isfinite(memory.delta())) {
    return usage_error(
        fmt::format("memory of selections: delta {}, must be finite and not negative", memory.delta()));
  }
  NEVE_TRY(check_choice_rules(memory.rules()).in("memory of selections"));
  if (!step.piece && step.pieces > 0)
    return usage_error(fmt::format("the function that gives the {} pieces of a step is empty", step.pieces));
  NEVE_TRY(check_dtype(step.dtype));
  return count_values(step.shape).status();
}

bool is_chosen(const ArrayOptions& options) {
  return (options.codec == Codec::automatic || options.codec == Codec::lossless) &&
         options.tuning.method == LosslessMethod::automatic;
}

// Whether every bit is kept, so that methods of codec lossless are all there is to choose from.
bool is_exact(const Step& step, const ArrayOptions& options) {
  return is_integer(step.dtype) || options.codec == Codec::lossless ||
         options.bound.mode == BoundMode::lossless;
}

double performance_of(const EncodedStep& encoded, const ArrayOptions& options) {
  const Selection& selection = encoded.report.selection;
  return selection_score(selection.codec, selection.method, static_cast<double>(encoded.report.raw_bytes),
                         static_cast<double>(encoded.report.frame_bytes), options.tuning);
}

void complete(const EncodedStep& encoded, const ArrayOptions& options, Choice& choice) {
  choice.selection = encoded.report.selection;
  choice.performance = performance_of(encoded, options);
  choice.raw_bytes = encoded.report.raw_bytes;
  choice.coded_bytes = encoded.report.frame_bytes;
  choice.choosing_ns += encoded.choosing_ns;
  choice.coding_ns = encoded.coding_ns;
}

// By the codec that the memory has of the variable, while that performs as it did; else anew.
Result<EncodedStep> encode_by_codec(const Step& step, const ArrayOptions& options, SelectionMemory& memory,
                                    const std::string& variable, Choice& choice) {
  const Effort effort = options.encode.effort;
  choice.reason = memory.reason_to_choose(effort, 0, variable);
  if (const std::optional<Selection> kept = memory.recall(effort, 0, variable); kept) {
    NEVE_ASSIGN(EncodedStep encoded, encode_pieces(step, with_selection(options, *kept)));
    if (memory.note(effort, 0, variable, *kept, performance_of(encoded, options))) {
      encoded.report.is_recalled = true;
      complete(encoded, options, choice);
      return encoded;
    }
    choice.reason = ChoiceReason::drift;
    choice.choosing_ns = encoded.choosing_ns + encoded.coding_ns;
  }
  NEVE_ASSIGN(EncodedStep encoded, encode_pieces(step, options));
  encoded.report.had_drifted = choice.reason == ChoiceReason::drift;
  complete(encoded, options, choice);
  memory.note(effort, 0, variable, encoded.report.selection, choice.performance);
  return encoded;
}

Result<EncodedStep> encode_logged(const Step& step, const ArrayOptions& options, SelectionMemory& memory,
                                  const std::string& variable) {
  NEVE_TRY(check_step(step, memory));
  Choice choice;
  choice.variable = variable;
  const auto encode = [&]() -> Result<EncodedStep> {
    if (!is_chosen(options)) {
      NEVE_ASSIGN(EncodedStep encoded, encode_pieces(step, options));
      complete(encoded, options, choice);
      return encoded;
    }
    if (!is_exact(step, options)) return encode_by_codec(step, options, memory, variable, choice);
    const std::shared_ptr<SeriesState> state = memory.series(options.encode.effort, variable);
    const std::lock_guard lock(state->mutex);
    return encode_kept_step(step, options, memory.rules(), *state, choice);
  };
  Result<EncodedStep> encoded = encode();
  if (encoded.ok()) memory.log(std::move(choice));
  return encoded;
}

}  // namespace

Result<Frames> encode_step(DType dtype, Span<const uint64_t> shape, size_t pieces,
                           const std::function<const void*(size_t)>& piece, const ArrayOptions& options,
                           SelectionMemory& memory, const std::string& variable, StepReport* report) {
  return guarded("encoding a step", [&]() -> Result<Frames> {
    NEVE_ASSIGN(EncodedStep step, encode_logged({dtype, shape, pieces, piece}, options, memory, variable));
    if (report != nullptr) *report = step.report;
    return std::move(step.frames);
  });
}

}  // namespace neve
