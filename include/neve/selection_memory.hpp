// SPDX-License-Identifier: BSD-3-Clause
// The choices of `auto` for each field of each level, kept from one time step to the next, so that most steps
// need no trials.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "neve/members.hpp"
#include "neve/types.hpp"

#pragma GCC visibility push(default)
namespace neve {

struct Selection {
  Codec codec = Codec::automatic;
  Arrangement arrangement = Arrangement::automatic;   // of most of the field
  LosslessMethod method = LosslessMethod::automatic;  // of codec lossless, likewise

  auto fields() const { return all_members<3>(*this); }
  bool operator==(const Selection& other) const { return fields() == other.fields(); }
  bool operator!=(const Selection& other) const { return !(*this == other); }
};

// Owned by the caller, who hands it to each write of a series. Thread-safe. Every rank has its own; they stay
// equal because a write's report is equal on all ranks.
class SelectionMemory {
 public:
  // A new selection is made after this many steps, in which another one may have become better unnoticed.
  static constexpr int steps_between_trials = 16;
  static constexpr double default_delta = 0.05;

  // ACOMPS' rule: a selection is kept until the performance it reaches leaves [best - delta, best + delta],
  // where best is its performance when it was made. `delta` is a fraction of that best, not negative.
  explicit SelectionMemory(double delta = default_delta) : delta_(delta) {}

  double delta() const { return delta_; }

  // What won for this field, or nothing when a (new) choice is due.
  std::optional<Selection> recall(Effort effort, int level, const std::string& field) const;
  // Records what a write used, by trial or as recalled, and its performance: the ratio, or, where speed
  // counts, measured_speed * speed_weight + ratio * ratio_weight; the ratio alone makes the same choices
  // every time. Returns whether the selection still holds.
  bool note(Effort effort, int level, const std::string& field, const Selection& selection,
            double performance);
  int decisions(Effort effort, int level, const std::string& field) const;  // so far

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

  double delta_;
  mutable std::mutex mutex_;
  std::map<Key, Entry> entries_;
};

}  // namespace neve
#pragma GCC visibility pop
