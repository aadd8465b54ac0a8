// SPDX-License-Identifier: BSD-3-Clause
// What `auto` settled on for each field of each level, kept from one time step to the next, so that
// most steps need no trials.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "neve/types.hpp"

namespace neve {

struct Selection {
  Codec codec = Codec::automatic;
  Arrangement arrangement = Arrangement::automatic;  // of most of the field

  bool operator==(const Selection&) const = default;
};

// Owned by the caller, who hands it to each write of a series. Thread-safe. Every rank has its own; they stay
// equal because a write's report is equal on all ranks.
class SelectionMemory {
 public:
  // Fields are weighed again after this many steps, and as soon as their bytes per cell have changed by more
  // than this share: the codec that won may then no longer be the best.
  static constexpr int steps_between_trials = 16;
  static constexpr double drift_share = 0.15;

  // What won for this field, or nothing when it is to be weighed (again).
  std::optional<Selection> recall(Effort effort, int level, const std::string& field) const;
  // What a write did: by trial, or as recalled.
  void note(Effort effort, int level, const std::string& field, const Selection& selection,
            double bytes_per_cell);

 private:
  struct Entry {
    Selection selection;
    double bytes_per_cell = 0;  // at the trial
    int steps = 0;              // since then
    bool drifted = false;
  };
  using Key = std::pair<std::pair<Effort, int>, std::string>;
  static bool is_due(const Entry& entry) { return entry.drifted || entry.steps >= steps_between_trials; }

  mutable std::mutex mutex_;
  std::map<Key, Entry> entries_;
};

}  // namespace neve
