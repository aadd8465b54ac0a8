// SPDX-License-Identifier: BSD-3-Clause
#include "core/codecs/part_trials.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/bits/ordered_words.hpp"
#include "core/bits/value_types.hpp"
#include "core/stages/lossless/value_ranks.hpp"

namespace neve {

namespace {

// Values that tell how many different ones a step has.
constexpr size_t judged_values = 4096;
// Estimates may be so many times too high.
constexpr double times_too_high = 1.2;

template <class T>
WordOf<T> word_at(const StepPart& part, size_t i) {
  WordOf<T> word;
  std::memcpy(&word, part.values.data() + i * sizeof(T), sizeof(T));
  return word_of<T>(word);
}

template <class T>
std::vector<WordOf<T>> some_words(const std::vector<StepPart>& parts) {
  size_t total = 0;
  for (const StepPart& part : parts) total += part.values.size() / sizeof(T);
  // (An odd distance meets no alignment of rows.)
  const size_t apart = std::max<size_t>(1, total / judged_values) | 1;
  std::vector<WordOf<T>> words;
  for (const StepPart& part : parts) {
    for (size_t i = 0; i < part.values.size() / sizeof(T); i += apart) words.push_back(word_at<T>(part, i));
  }
  return words;
}

// The share of values that differ from the one before.
template <class T>
double share_of_changes(const std::vector<StepPart>& parts) {
  double changes = 0, pairs = 0;
  for (const StepPart& part : parts) {
    for (size_t i = 1; i < part.values.size() / sizeof(T); ++i, ++pairs)
      changes += word_at<T>(part, i) != word_at<T>(part, i - 1) ? 1 : 0;
  }
  return pairs > 0 ? changes / pairs : 0;
}

// In a piece of so many values. Of values in order each change is to another one; of others, by those that
// come once and twice in a sample (Chao's estimate, with its correction of bias).
template <class T>
double different_values(const std::vector<StepPart>& parts, double piece_values) {
  std::vector<WordOf<T>> words = some_words<T>(parts);
  if (std::is_sorted(words.begin(), words.end()) || std::is_sorted(words.rbegin(), words.rend()))
    return share_of_changes<T>(parts) * piece_values;
  std::sort(words.begin(), words.end());
  double different = 0, once = 0, twice = 0;
  for (size_t i = 0, end = 0; i < words.size(); i = end) {
    while (end < words.size() && words[end] == words[i]) ++end;
    ++different;
    once += end - i == 1 ? 1 : 0;
    twice += end - i == 2 ? 1 : 0;
  }
  return different + once * (once - 1) / (2 * (twice + 1));
}

}  // namespace

PartTrials::PartTrials(const Step& step, const ArrayOptions& options, const MethodSpeeds& speeds,
                       PartSize size)
    : step_(step),
      options_(options),
      speeds_(speeds),
      parts_(parts_of(step, size)),
      is_whole_(neve::is_whole(step, parts_)) {
  for (const StepPart& part : parts_) raw_bytes_ += static_cast<double>(part.values.size());
}

// A step in one piece is judged by what comes of it. Any values of small pieces have ranks.
bool PartTrials::is_hopeless(LosslessMethod method) const {
  if (method != LosslessMethod::rank || is_whole_ || step_.piece_values() <= max_ranks) return false;
  const auto piece_values = static_cast<double>(step_.piece_values());
  return visit_value_type(step_.dtype, [&]<class T>(std::type_identity<T>) {
    return different_values<T>(parts_, piece_values) > times_too_high * max_ranks;
  });
}

Status PartTrials::code(LosslessMethod method) {
  Entry& made = entries_[static_cast<size_t>(method)];
  if (made.is_coded) return {};
  made.is_coded = true;
  if (is_hopeless(method)) return {};
  ArrayOptions options = with_selection(options_, {Codec::lossless, Arrangement::automatic, method});
  options.encode.explain = true;
  double bytes = 0;
  for (const StepPart& part : parts_) {
    FrameReport report;
    auto frame = encode_array(step_.dtype, part.shape, part.values.data(), options, &report);
    if (!frame.ok() && method == LosslessMethod::rank) return {};
    if (!frame.ok()) return frame.status();
    is_constant_ = is_constant_ && report.components.front().codec != Codec::lossless;
    bytes += static_cast<double>(frame->size());
    if (is_whole_) wholes_.push_back({method, encoded_whole(step_, std::move(*frame), report)});
  }
  made.bytes = bytes;
  return {};
}

double PartTrials::ratio(LosslessMethod method) const {
  return entry(method).bytes > 0 ? raw_bytes_ / entry(method).bytes : 0;
}

double PartTrials::score(LosslessMethod method) const {
  return entry(method).bytes > 0 ? speeds_.score(method, raw_bytes_, entry(method).bytes, options_.tuning)
                                 : 0;
}

std::vector<MethodScore> PartTrials::scores() const {
  std::vector<MethodScore> scores;
  for (size_t m = 1; m < entries_.size(); ++m) {
    const auto method = static_cast<LosslessMethod>(m);
    if (entries_[m].bytes > 0) scores.push_back({method, score(method)});
  }
  sort_by_score(scores);
  return scores;
}

}  // namespace neve
