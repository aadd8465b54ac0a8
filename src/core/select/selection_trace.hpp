// SPDX-License-Identifier: BSD-3-Clause
// What is written down while a section's candidates are weighed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "neve/selection_report.hpp"

namespace neve {

struct SelectionTrace {
  std::vector<WeighedCandidate> candidates;
  SelectionTimes times;

  // A candidate that has been coded: the first of these is the best so far, unless it `wins` over it.
  void coded(WeighedCandidate candidate, uint64_t spent_ns, bool wins) {
    candidate.fate = wins ? Fate::won : Fate::lost;
    if (wins) {
      for (WeighedCandidate& other : candidates) {
        if (other.fate == Fate::won) other.fate = Fate::lost;
      }
      times.lost_ns += std::exchange(times.won_ns, spent_ns);
    } else {
      times.lost_ns += spent_ns;
    }
    candidates.push_back(candidate);
  }

  // The leader took more time to become smaller.
  void settled(uint64_t bytes, uint64_t spent_ns) {
    for (WeighedCandidate& candidate : candidates) {
      if (candidate.fate == Fate::won) candidate.coded_bytes = bytes;
    }
    times.won_ns += spent_ns;
  }

  // One that has not.
  void passed(WeighedCandidate candidate, Fate fate) {
    candidate.fate = fate;
    candidates.push_back(candidate);
  }
  void passed(Codec codec, Fate fate) { passed({codec, LosslessMethod::automatic, fate, 0, 0}, fate); }

  // `other` has been weighed for the same section, and lost. What stands in for a codec may be in both.
  void append_loser(const SelectionTrace& other) {
    for (WeighedCandidate candidate : other.candidates) {
      if (std::any_of(candidates.begin(), candidates.end(), [&](const WeighedCandidate& known) {
            return known.codec == candidate.codec && known.method == candidate.method;
          })) {
        continue;
      }
      if (candidate.fate == Fate::won) candidate.fate = Fate::lost;
      candidates.push_back(candidate);
    }
    times.weigh_ns += other.times.weigh_ns;
    times.lost_ns += other.times.lost_ns + other.times.won_ns;
  }
};

}  // namespace neve
