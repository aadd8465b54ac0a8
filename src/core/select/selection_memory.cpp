// SPDX-License-Identifier: BSD-3-Clause
#include "neve/selection_memory.hpp"

#include <cmath>
#include <utility>

#include "core/select/series_state.hpp"

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
  entry.drifted = !(std::abs(performance - entry.best) <= rules_.delta * entry.best);
  return !entry.drifted;
}

int SelectionMemory::decisions(Effort effort, int level, const std::string& field) const {
  const std::lock_guard lock(mutex_);
  const Key key{{effort, level}, field};
  const auto found = entries_.find(key);
  if (found != entries_.end()) return found->second.decisions;
  const auto of_series = series_.find(key);
  return of_series == series_.end() ? 0 : of_series->second->decisions.load();
}

std::shared_ptr<SeriesState> SelectionMemory::series(Effort effort, const std::string& variable) {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<SeriesState>& state = series_[{{effort, 0}, variable}];
  if (state == nullptr) state = std::make_shared<SeriesState>();
  return state;
}

std::vector<Choice> SelectionMemory::choices() const {
  const std::lock_guard lock(mutex_);
  return {choices_.begin(), choices_.end()};
}

uint64_t SelectionMemory::choices_dropped() const {
  const std::lock_guard lock(mutex_);
  return choices_dropped_;
}

ChoiceReason SelectionMemory::reason_to_choose(Effort effort, int level, const std::string& field) const {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find({{effort, level}, field});
  if (found == entries_.end()) return ChoiceReason::first;
  if (!is_due(found->second)) return ChoiceReason::none;
  return found->second.drifted ? ChoiceReason::drift : ChoiceReason::due;
}

void SelectionMemory::log(Choice choice) {
  const std::lock_guard lock(mutex_);
  choice.step = steps_logged_[{choice.level, choice.variable}]++;
  choices_.push_back(std::move(choice));
  if (choices_.size() <= max_choices) return;
  choices_.pop_front();
  ++choices_dropped_;
}

}  // namespace neve
