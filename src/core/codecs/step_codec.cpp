// SPDX-License-Identifier: BSD-3-Clause
#include "core/codecs/step_codec.hpp"

#include <algorithm>
#include <utility>

#include "core/threads/thread_clock.hpp"

namespace neve {

namespace {

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

// No values need no more of a codec than those that are all the same.
constexpr Selection no_values = {Codec::constant, Arrangement::automatic, LosslessMethod::automatic};

Selection selection_of(const FrameReport& report) {
  const ComponentReport& component = report.components.front();
  return {component.codec, Arrangement::automatic, component.method};
}

}  // namespace

Result<EncodedStep> encode_pieces(const Step& step, const ArrayOptions& asked) {
  ArrayOptions options = asked;
  options.encode.explain = true;  // for its times
  EncodedStep encoded;
  Selections found;
  uint64_t all_ns = 0;  // of all threads
  const uint64_t piece_bytes = step.piece_values() * dtype_bytes(step.dtype);
  for (size_t i = 0; i < step.pieces; ++i) {
    const void* const piece = step.piece(i);
    const uint64_t begin_ns = thread_time_ns();
    FrameReport of_piece;
    NEVE_ASSIGN(std::vector<std::byte> frame,
                encode_array(step.dtype, step.shape, piece, options, &of_piece));
    const uint64_t own_ns = thread_time_ns() - begin_ns;
    found.add(selection_of(of_piece));
    SelectionTimes times;
    if (!of_piece.selections.empty()) times = of_piece.selections.front().times;
    encoded.choosing_ns += times.weigh_ns + times.lost_ns;
    all_ns += std::max(own_ns, times.weigh_ns + times.lost_ns + times.won_ns);
    encoded.report.raw_bytes += piece_bytes;
    encoded.report.frame_bytes += frame.size();
    encoded.frames.push_back(std::move(frame));
  }
  encoded.coding_ns = all_ns - std::min(all_ns, encoded.choosing_ns);
  encoded.report.selection = encoded.report.raw_bytes > 0 ? found.most_frequent() : no_values;
  return encoded;
}

EncodedStep encoded_whole(const Step& step, std::vector<std::byte> frame, const FrameReport& report) {
  EncodedStep encoded;
  encoded.report.raw_bytes = step.raw_bytes();
  encoded.report.frame_bytes = frame.size();
  encoded.report.selection = selection_of(report);
  if (!report.selections.empty()) encoded.coding_ns = report.selections.front().times.won_ns;
  encoded.frames.push_back(std::move(frame));
  return encoded;
}

ArrayOptions with_selection(ArrayOptions options, const Selection& selection) {
  options.codec = selection.codec;
  options.tuning.method = selection.method;
  if (options.tuning.arrangement == Arrangement::automatic)
    options.tuning.arrangement = selection.arrangement;
  return options;
}

}  // namespace neve
