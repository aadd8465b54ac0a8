// SPDX-License-Identifier: BSD-3-Clause
#include "core/select/series_state_text.hpp"

#include <bit>
#include <cstdint>
#include <sstream>
#include <type_traits>

namespace neve {
namespace {

constexpr uint64_t most_methods = lossless_methods;

class Writer {
 public:
  void add(double value) { add(std::bit_cast<uint64_t>(value)); }
  template <class T>
  void add(T value) {
    out_ << (out_.tellp() > 0 ? " " : "") << static_cast<uint64_t>(value);
  }
  std::string text() const { return out_.str(); }

 private:
  std::ostringstream out_;
};

class Reader {
 public:
  explicit Reader(const std::string& text) : in_(text) {}
  template <class T>
  T next() {
    uint64_t number = 0;
    in_ >> number;
    if constexpr (std::is_same_v<T, double>) {
      return std::bit_cast<double>(number);
    } else {
      return static_cast<T>(number);
    }
  }
  LosslessMethod method() {
    const auto number = next<uint64_t>();
    is_sound_ &= number < most_methods;
    return static_cast<LosslessMethod>(number);
  }
  uint64_t count() {
    const auto number = next<uint64_t>();
    is_sound_ &= number <= most_methods;
    return is_sound_ && !in_.fail() ? number : 0;
  }
  bool is_whole() { return is_sound_ && !in_.fail() && (in_ >> std::ws).eof(); }

 private:
  std::istringstream in_;
  bool is_sound_ = true;
};

void add_tuning(const CodecTuning& tuning, Writer& out) {
  const auto& [arrangement, unit, block, merge, method, candidates, speed, ratio] = tuning;
  out.add(arrangement);
  out.add(unit);
  out.add(block);
  out.add(merge);
  out.add(method);
  out.add(candidates.bits);
  out.add(speed);
  out.add(ratio);
}

CodecTuning next_tuning(Reader& in) {
  CodecTuning tuning;
  tuning.arrangement = in.next<Arrangement>();
  tuning.unit_cells = in.next<int>();
  tuning.block_cells = in.next<int>();
  tuning.merge_units = in.next<uint64_t>() != 0;
  tuning.method = in.method();
  tuning.candidates.bits = in.next<decltype(tuning.candidates.bits)>();
  tuning.speed_weight = in.next<double>();
  tuning.ratio_weight = in.next<double>();
  return tuning;
}

void add_print(const StepPrint& print, Writer& out) {
  const auto& [bits, repeat_distance] = print;
  for (const double feature : bits) out.add(feature);
  out.add(repeat_distance);
}

}  // namespace

std::string series_state_text(SeriesState& state) {
  // All members are named, so that one that is added has to be thought of here.
  auto& [mutex, decisions, tuning, speeds, kept, last_best, best_ones, print, tolerance, in_vain, steps_since,
         performance, whole_scores, whole_bytes, values_without_rank, drifted, rival] = state;
  const std::lock_guard lock(mutex);
  static_cast<void>(speeds);  // measured ones are of a process
  Writer out;
  out.add(decisions.load());
  out.add(tuning.has_value());
  add_tuning(tuning.value_or(CodecTuning()), out);
  out.add(kept.value_or(LosslessMethod::automatic));
  out.add(last_best);
  out.add(best_ones.size());
  for (const LosslessMethod method : best_ones) out.add(method);
  add_print(print, out);
  out.add(tolerance);
  out.add(in_vain);
  out.add(steps_since);
  out.add(performance);
  out.add(whole_scores.size());
  for (const auto& [method, score] : whole_scores) {
    out.add(method);
    out.add(score);
  }
  out.add(whole_bytes);
  out.add(values_without_rank);
  out.add(drifted);
  out.add(rival);
  return out.text();
}

Status read_series_state(const std::string& text, const ChoiceRules& rules, SeriesState& state) {
  SeriesState found;
  Reader in(text);
  found.decisions = in.next<int>();
  const bool has_tuning = in.next<uint64_t>() != 0;
  const CodecTuning tuning = next_tuning(in);
  const LosslessMethod kept = in.method();
  found.last_best = in.method();
  for (uint64_t left = in.count(); left > 0; --left) found.best_ones.push_back(in.method());
  for (double& feature : found.print.bits) feature = in.next<double>();
  found.print.repeat_distance = in.next<uint64_t>();
  found.tolerance = in.next<double>();
  found.in_vain = in.next<int>();
  found.steps_since = in.next<int>();
  found.performance = in.next<double>();
  for (uint64_t left = in.count(); left > 0; --left) {
    const LosslessMethod method = in.method();
    found.whole_scores[method] = in.next<double>();
  }
  found.whole_bytes = in.next<uint64_t>();
  found.values_without_rank = in.next<uint64_t>();
  found.drifted = in.next<double>();
  found.rival = in.next<double>();
  if (!in.is_whole()) return corrupt("the state of a series cannot be read");
  const std::lock_guard lock(state.mutex);
  state.decisions = found.decisions.load();
  if (has_tuning) state.tuning = tuning;
  state.speeds = MethodSpeeds(rules.speeds);
  if (kept != LosslessMethod::automatic) state.kept = kept;
  state.last_best = found.last_best;
  state.best_ones = found.best_ones;
  state.print = found.print;
  state.tolerance = found.tolerance;
  state.in_vain = found.in_vain;
  state.steps_since = found.steps_since;
  state.performance = found.performance;
  state.whole_scores = found.whole_scores;
  state.whole_bytes = found.whole_bytes;
  state.values_without_rank = found.values_without_rank;
  state.drifted = found.drifted;
  state.rival = found.rival;
  return {};
}

}  // namespace neve
