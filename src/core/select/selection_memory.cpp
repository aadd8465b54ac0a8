// SPDX-License-Identifier: BSD-3-Clause
#include "neve/selection_memory.hpp"

#include <cmath>

namespace neve {

std::optional<Selection> SelectionMemory::recall(Effort effort, int level, const std::string& field) const {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find({{effort, level}, field});
  if (found == entries_.end() || is_due(found->second)) return {};
  return found->second.selection;
}

bool SelectionMemory::note(Effort effort, int level, const std::string& field, const Selection& selection,
                           double performance) {
  const std::lock_guard lock(mutex_);
  const Key key{{effort, level}, field};
  // None of these is weighed against anything: a field may be constant at one step and not at the next.
  const bool is_choice =
      selection.codec != Codec::constant && selection.codec != Codec::exact &&
      (selection.codec != Codec::lossless || selection.method != LosslessMethod::automatic);
  const auto found = entries_.find(key);
  if (found == entries_.end() || is_due(found->second)) {
    if (!is_choice) return true;
    const int before = found == entries_.end() ? 0 : found->second.decisions;
    entries_[key] = {selection, performance, 0, before + 1, false};
    return true;
  }
  Entry& entry = found->second;
  ++entry.steps;
  // (A NaN or an infinite performance is a drift.)
  entry.drifted = !(std::abs(performance - entry.best) <= delta_ * entry.best);
  return !entry.drifted;
}

int SelectionMemory::decisions(Effort effort, int level, const std::string& field) const {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find({{effort, level}, field});
  return found == entries_.end() ? 0 : found->second.decisions;
}

}  // namespace neve
