// SPDX-License-Identifier: BSD-3-Clause
// Boxes of other levels that were decoded last: several coarser boxes average the same finer one, several
// finer ones are predicted with the same coarser one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

namespace neve::hdf5 {

class RecentBoxes {
 public:
  using Values = std::shared_ptr<const std::vector<std::byte>>;

  Values find(size_t level, size_t box, int component) {
    const auto at = places_.find({level, box, component});
    if (at == places_.end()) return nullptr;
    entries_.splice(entries_.begin(), entries_, at->second);
    return at->second->values;
  }

  void insert(size_t level, size_t box, int component, Values values) {
    held_bytes_ += values->size() + entry_bytes;
    const Key key{level, box, component};
    entries_.push_front({key, std::move(values)});
    places_[key] = entries_.begin();
    while (held_bytes_ > max_bytes_ && entries_.size() > 1) {
      held_bytes_ -= entries_.back().values->size() + entry_bytes;
      places_.erase(entries_.back().key);
      entries_.pop_back();
    }
  }

  void forget() {
    places_.clear();
    entries_.clear();
    held_bytes_ = 0;
  }
  void keep_at_most(uint64_t bytes) { max_bytes_ = bytes; }

 private:
  using Key = std::tuple<size_t, size_t, int>;  // level, box, component
  static constexpr uint64_t entry_bytes = 256;  // of its own: many boxes have no values to be kept
  struct Entry {
    Key key;
    Values values;
  };
  std::list<Entry> entries_;                          // most recent first
  std::map<Key, std::list<Entry>::iterator> places_;  // small boxes are many
  uint64_t max_bytes_ = uint64_t{64} << 20;
  uint64_t held_bytes_ = 0;
};

}  // namespace neve::hdf5
