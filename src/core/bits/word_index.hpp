// SPDX-License-Identifier: BSD-3-Clause
// Numbers of words: a hash table with open addressing, for many words of few different values.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace neve {

template <class U>
class WordIndex {
 public:
  // `expected`: words, so that few insertions need more room.
  explicit WordIndex(size_t expected = 0) : entries_(std::bit_ceil(std::max<size_t>(2 * expected, 256))) {}

  // Whether the word had no number yet; else it keeps the one it has. Numbers lie below 2^32 - 1.
  bool insert(U word, uint32_t number) {
    Entry& entry = entries_[place_of(word)];
    if (entry.number != unused) return false;
    entry = {word, number};
    if (++size_ * 2 > entries_.size()) grow();
    return true;
  }
  // Of a word that was inserted.
  uint32_t number(U word) const { return entries_[place_of(word)].number; }
  size_t size() const { return size_; }

 private:
  static constexpr uint32_t unused = ~uint32_t{0};
  struct Entry {
    U word = 0;
    uint32_t number = unused;
  };

  // Its own, or the free one where it would lie.
  size_t place_of(U word) const {
    const size_t mask = entries_.size() - 1;
    // 2^64 over the golden ratio: neighbours are spread (Knuth, "The Art of Computer Programming", 6.4).
    size_t at = static_cast<size_t>((uint64_t{word} * 0x9e3779b97f4a7c15) >> 32) & mask;
    while (entries_[at].number != unused && entries_[at].word != word) at = (at + 1) & mask;
    return at;
  }

  void grow() {
    std::vector<Entry> before(entries_.size() * 2);
    std::swap(before, entries_);
    for (const Entry& entry : before) {
      if (entry.number != unused) entries_[place_of(entry.word)] = entry;
    }
  }

  std::vector<Entry> entries_;
  size_t size_ = 0;
};

}  // namespace neve
