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

// What a caller asks for.
struct Step {
  DType dtype = DType::f32;
  std::span<const uint64_t> shape;  // of a piece
  size_t pieces = 0;
  const std::function<const void*(size_t)>& piece;
};

Status check_step(const Step& step, const SelectionMemory& memory) {
  if (!(memory.delta() >= 0) || !std::isfinite(memory.delta())) {
    return usage_error(
        fmt::format("memory of selections: delta {}, must be finite and not negative", memory.delta()));
  }
  if (!step.piece && step.pieces > 0)
    return usage_error(fmt::format("the function that gives the {} pieces of a step is empty", step.pieces));
  NEVE_TRY(check_dtype(step.dtype));
  return count_values(step.shape).status();
}

// What pieces took, with their number.
class Selections {
 public:
  void add(const Selection& selection) {
    const auto known = std::find_if(found_.begin(), found_.end(),
                                    [&](const auto& entry) { return entry.first == selection; });
    if (known == found_.end()) {
      found_.emplace_back(selection, 1);
    } else {
      ++known->second;
    }
  }
  // What most took; pieces of one value chose nothing.
  Selection most_frequent() const {
    Selection best;
    uint64_t most = 0;
    for (const auto& [selection, count] : found_) {
      const bool is_choice = selection.codec != Codec::constant;
      if (count > most && (is_choice || best.codec == Codec::automatic)) {
        best = selection;
        most = is_choice ? count : 0;
      }
    }
    return best;
  }

 private:
  std::vector<std::pair<Selection, uint64_t>> found_;
};

Result<EncodedStep> encode_pieces(const Step& step, const ArrayOptions& options) {
  NEVE_ASSIGN(const uint64_t piece_values, count_values(step.shape));
  EncodedStep encoded;
  Selections found;
  for (size_t i = 0; i < step.pieces; ++i) {
    FrameReport of_piece;
    NEVE_ASSIGN(std::vector<std::byte> frame,
                encode_array(step.dtype, step.shape, step.piece(i), options, &of_piece));
    const ComponentReport& component = of_piece.components.front();
    found.add({component.codec, Arrangement::automatic, component.method});
    encoded.report.raw_bytes += piece_values * dtype_bytes(step.dtype);
    encoded.report.frame_bytes += frame.size();
    encoded.frames.push_back(std::move(frame));
  }
  encoded.report.selection = found.most_frequent();
  return encoded;
}

// By the selection that the memory has of the variable, while that performs as it did; else anew.
Result<EncodedStep> encode_with_memory(const Step& step, const ArrayOptions& options, SelectionMemory& memory,
                                       const std::string& variable) {
  NEVE_TRY(check_step(step, memory));
  const bool chooses = (options.codec == Codec::automatic || options.codec == Codec::lossless) &&
                       options.tuning.method == LosslessMethod::automatic;
  const Effort effort = options.encode.effort;
  std::optional<Selection> kept;
  if (chooses) kept = memory.recall(effort, 0, variable);
  if (kept) {
    Result<EncodedStep> encoded = encode_pieces(step, with_selection(options, *kept));
    // Ranks may no longer be able to hold the values: then another method is chosen.
    if (!encoded.ok() && kept->method != LosslessMethod::rank) return encoded.status();
    if (encoded.ok() && memory.note(effort, 0, variable, *kept, encoded->ratio())) {
      encoded->report.is_recalled = true;
      return encoded;
    }
  }
  NEVE_ASSIGN(EncodedStep encoded, encode_pieces(step, options));
  encoded.report.had_drifted = kept.has_value();
  if (chooses) memory.note(effort, 0, variable, encoded.report.selection, encoded.ratio());
  return encoded;
}

}  // namespace

Result<Frames> encode_step(DType dtype, Span<const uint64_t> shape, size_t pieces,
                           const std::function<const void*(size_t)>& piece, const ArrayOptions& options,
                           SelectionMemory& memory, const std::string& variable, StepReport* report) {
  return guarded("encoding a step", [&]() -> Result<Frames> {
    NEVE_ASSIGN(EncodedStep step,
                encode_with_memory({dtype, shape, pieces, piece}, options, memory, variable));
    if (report != nullptr) *report = step.report;
    return std::move(step.frames);
  });
}

}  // namespace neve
