// SPDX-License-Identifier: BSD-3-Clause
// Boxes of other levels that were decoded last: several coarser boxes average the same finer one, several
// finer ones are predicted with the same coarser one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <utility>
#include <vector>

namespace neve::hdf5 {

class RecentBoxes {
 public:
  using Values = std::shared_ptr<const std::vector<std::byte>>;

  Values find(size_t level, size_t box, int component) {
    const auto at = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& e) {
      return e.level == level && e.box == box && e.component == component;
    });
    if (at == entries_.end()) return nullptr;
    entries_.splice(entries_.begin(), entries_, at);
    return at->values;
  }

  void insert(size_t level, size_t box, int component, Values values) {
    constexpr uint64_t most_bytes = uint64_t{64} << 20;
    held_bytes_ += values->size();
    entries_.push_front({level, box, component, std::move(values)});
    while (held_bytes_ > most_bytes && entries_.size() > 1) {
      held_bytes_ -= entries_.back().values->size();
      entries_.pop_back();
    }
  }

 private:
  struct Entry {
    size_t level;
    size_t box;
    int component;
    Values values;
  };
  std::list<Entry> entries_;
  uint64_t held_bytes_ = 0;
};

}  // namespace neve::hdf5
