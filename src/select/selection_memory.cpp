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

void SelectionMemory::note(Effort effort, int level, const std::string& field, const Selection& selection,
                           double bytes_per_cell) {
  // Neither is weighed against anything: a field may be constant at one step and not at the next.
  if (selection.codec == Codec::constant || selection.codec == Codec::exact) return;
  const std::lock_guard lock(mutex_);
  const Key key{{effort, level}, field};
  const auto found = entries_.find(key);
  if (found == entries_.end() || is_due(found->second)) {
    entries_[key] = {selection, bytes_per_cell, 0, false};
    return;
  }
  Entry& entry = found->second;
  ++entry.steps;
  entry.drifted = std::abs(bytes_per_cell - entry.bytes_per_cell) > drift_share * entry.bytes_per_cell;
}

}  // namespace neve
