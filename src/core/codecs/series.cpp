// SPDX-License-Identifier: BSD-3-Clause
#include "neve/series.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/format/array_shape.hpp"
#include "core/format/codec_choices.hpp"
#include "core/status/guarded.hpp"

namespace neve {
namespace {

using Frames = std::vector<std::vector<std::byte>>;

struct EncodedStep {
  Frames frames;
  StepReport report;

  double ratio() const {
    return static_cast<double>(report.raw_bytes) /
           static_cast<double>(std::max<uint64_t>(report.frame_bytes, 1));
  }
};

ArrayOptions with_selection(ArrayOptions options, const Selection& selection) {
  options.codec = selection.codec;
  options.tuning.method = selection.method;
  if (options.tuning.arrangement == Arrangement::automatic)
    options.tuning.arrangement = selection.arrangement;
  return options;
}

Result<Frames> encode_pieces(DType dtype, std::span<const uint64_t> shape, size_t pieces,
                             const std::function<const void*(size_t)>& piece, const ArrayOptions& options,
                             SelectionMemory& memory, const std::string& variable, StepReport* report) {
  if (!(memory.delta() >= 0) || !std::isfinite(memory.delta())) {
    return usage_error(
        fmt::format("memory of selections: delta {}, must be finite and not negative", memory.delta()));
  }
  if (!piece && pieces > 0)
    return usage_error(fmt::format("no function gives the {} pieces of a step", pieces));
  NEVE_TRY(check_dtype(dtype));
  NEVE_ASSIGN(const uint64_t piece_values, count_values(shape));
  const uint64_t piece_bytes = piece_values * dtype_bytes(dtype);
  const auto encode = [&](const ArrayOptions& how) -> Result<EncodedStep> {
    EncodedStep step;
    std::vector<std::pair<Selection, uint64_t>> found;  // with the pieces that took it
    for (size_t i = 0; i < pieces; ++i) {
      FrameReport of_piece;
      NEVE_ASSIGN(std::vector<std::byte> frame, encode_array(dtype, shape, piece(i), how, &of_piece));
      const ComponentReport& component = of_piece.components.front();
      const Selection selection{component.codec, Arrangement::automatic, component.method};
      const auto known = std::find_if(found.begin(), found.end(),
                                      [&](const auto& entry) { return entry.first == selection; });
      if (known == found.end()) {
        found.emplace_back(selection, 1);
      } else {
        ++known->second;
      }
      step.report.raw_bytes += piece_bytes;
      step.report.frame_bytes += frame.size();
      step.frames.push_back(std::move(frame));
    }
    // Pieces of one value chose nothing.
    uint64_t most = 0;
    for (const auto& [selection, count] : found) {
      const bool is_choice = selection.codec != Codec::constant;
      if (count > most && (is_choice || step.report.selection.codec == Codec::automatic)) {
        step.report.selection = selection;
        most = is_choice ? count : 0;
      }
    }
    return step;
  };
  const auto give = [&](EncodedStep&& step) -> Result<Frames> {
    if (report != nullptr) *report = step.report;
    return std::move(step.frames);
  };

  const bool chooses = (options.codec == Codec::automatic || options.codec == Codec::lossless) &&
                       options.tuning.method == LosslessMethod::automatic;
  const Effort effort = options.encode.effort;
  std::optional<Selection> kept;
  if (chooses) kept = memory.recall(effort, 0, variable);
  if (kept) {
    Result<EncodedStep> step = encode(with_selection(options, *kept));
    // Ranks may no longer be able to hold the values: then another method is chosen.
    if (!step.ok() && kept->method != LosslessMethod::rank) return step.status();
    if (step.ok() && memory.note(effort, 0, variable, *kept, step->ratio())) {
      step->report.is_recalled = true;
      return give(std::move(*step));
    }
  }
  NEVE_ASSIGN(EncodedStep step, encode(options));
  step.report.had_drifted = kept.has_value();
  if (chooses) memory.note(effort, 0, variable, step.report.selection, step.ratio());
  return give(std::move(step));
}

}  // namespace

Result<Frames> encode_step(DType dtype, Span<const uint64_t> shape, size_t pieces,
                           const std::function<const void*(size_t)>& piece, const ArrayOptions& options,
                           SelectionMemory& memory, const std::string& variable, StepReport* report) {
  return guarded("encoding a step", [&] {
    return encode_pieces(dtype, shape, pieces, piece, options, memory, variable, report);
  });
}

}  // namespace neve
