// SPDX-License-Identifier: BSD-3-Clause
// The choices of `auto` for each field of each level, kept from one time step to the next, so that most steps
// need no trials.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "neve/choice.hpp"
#include "neve/types.hpp"

#pragma GCC visibility push(default)
namespace neve {

struct SeriesState;

// Owned by the caller, who hands it to each write of a series. Thread-safe. Every rank has its own; they stay
// equal because a write's report is equal on all ranks, unless speeds are measured.
class SelectionMemory {
 public:
  // A new selection is made after this many steps, in which another one may have become better unnoticed.
  static constexpr int steps_between_trials = 16;
  static constexpr double default_delta = ChoiceRules{}.delta;
  // The log keeps so many choices; the oldest are dropped for new ones.
  static constexpr size_t max_choices = 65536;

  // ACOMPS' rule: a selection is kept until the performance it reaches leaves [best - delta, best + delta],
  // where best is its performance when it was made.
  explicit SelectionMemory(ChoiceRules rules) : rules_(rules) {}
  explicit SelectionMemory(double delta = default_delta) { rules_.delta = delta; }

  const ChoiceRules& rules() const { return rules_; }
  double delta() const { return rules_.delta; }

  // What won for this field, or nothing when a (new) choice is due.
  std::optional<Selection> recall(Effort effort, int level, const std::string& field) const;
  // Records what a write used, by trial or as recalled, and its performance: the ratio, or, where speed
  // counts, measured_speed * speed_weight + ratio * ratio_weight; the ratio alone makes the same choices
  // every time. Returns whether the selection still holds.
  bool note(Effort effort, int level, const std::string& field, const Selection& selection,
            double performance);
  // So far: selections that were not the one before.
  int decisions(Effort effort, int level, const std::string& field) const;

  // Why recall has nothing; none: it has something.
  ChoiceReason reason_to_choose(Effort effort, int level, const std::string& field) const;

  // The log, a record for each step of each variable, in the order of the writes.
  std::vector<Choice> choices() const;
  uint64_t choices_dropped() const;  // because there were more than max_choices
  void log(Choice choice);           // numbers the steps of each variable of each level itself

  // What encode_step knows of a variable; made where there is none yet.
  std::shared_ptr<SeriesState> series(Effort effort, const std::string& variable);

 private:
  struct Entry {
    Selection selection;
    double best = 0;  // performance at the trial
    int steps = 0;    // since then
    int decisions = 0;
    bool drifted = false;
  };
  using Key = std::pair<std::pair<Effort, int>, std::string>;
  static bool is_due(const Entry& entry) { return entry.drifted || entry.steps >= steps_between_trials; }

  ChoiceRules rules_;
  mutable std::mutex mutex_;
  std::map<Key, Entry> entries_;
  std::map<Key, std::shared_ptr<SeriesState>> series_;
  std::deque<Choice> choices_;
  std::map<std::pair<int, std::string>, uint64_t> steps_logged_;  // by level and variable
  uint64_t choices_dropped_ = 0;
};

}  // namespace neve
#pragma GCC visibility pop
