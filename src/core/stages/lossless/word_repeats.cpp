// SPDX-License-Identifier: BSD-3-Clause
#include "core/stages/lossless/word_repeats.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "core/bits/ordered_words.hpp"
#include "core/kernels/word_kernels.hpp"
#include "core/stages/lossless/byte_pack.hpp"

namespace neve {

namespace {

// Where runs of min_repeat words stood last, by hash. Small enough for the second-level cache; the hash
// beside the place saves a look at words far away.
struct Seen {
  uint32_t hash = 0;
  uint32_t place = nowhere;

  static constexpr uint32_t nowhere = std::numeric_limits<uint32_t>::max();
};
constexpr int table_bits = 16;

template <class U>
constexpr U sign_bit = U{1} << (word_bits<U> - 1);

// Hashes of the runs that begin at each word, computed piece by piece. They do not change when a run is
// turned around. Only one hash in sampled_share counts: both places of a repeat choose alike, and what is
// found is extended in both directions.
template <class U>
class RunHashes {
 public:
  explicit RunHashes(std::span<const U> words) : words_(words) {}

  // The next run from `at` on, before `end`, whose hash counts; `end` when there is none.
  size_t next(size_t at, size_t end) {
    while (at < end) {
      if (at < begin_ || at >= end_) load(at, end);
      for (; at < end_; ++at) {
        if (sampled(hash_[at - begin_])) return at;
      }
    }
    return end;
  }
  uint32_t operator[](size_t at) const { return hash_[at - begin_]; }

 private:
  static constexpr size_t piece_words = 1024;
  static constexpr int sampled_share_bits = 2;

  static bool sampled(uint32_t hash) { return hash >> (32 - sampled_share_bits) == 0; }
  void load(size_t at, size_t end) {
    begin_ = at;
    end_ = std::min(end, at + piece_words);
    const size_t n = end_ - begin_;
    std::array<uint32_t, piece_words + min_repeat> each;
    word_kernels(U{}).hash(words_.data() + at, n + min_repeat - 1, each.data());
    for (size_t i = 0; i < n; ++i) hash_[i] = hash_of_run(each.data() + i);
  }

  std::span<const U> words_;
  size_t begin_ = 0, end_ = 0;
  std::array<uint32_t, piece_words> hash_;
};

// A run of words in either direction against the one that begins at another place.
template <class U>
class Matcher {
 public:
  explicit Matcher(std::span<const U> words) : words_(words) {}

  // The longest repeat through [at, at + min_repeat) of which the words in [free, at) are not predicted
  // yet; `seen` is where words of the same hash are, in their order or turned around. count 0: none.
  WordRepeat match(size_t at, size_t seen, size_t free) const {
    WordRepeat found{at, 0, seen, false, false};
    if (!agrees(found)) {
      found.source = seen + min_repeat - 1;
      found.is_reversed = true;
      if (found.source >= at || !agrees(found)) return {};
    }
    found.is_negated = ((words_[at] ^ words_[found.source]) & sign_bit<U>) != 0;
    while (found.begin + found.count < words_.size() && (!found.is_reversed || found.count <= found.source) &&
           is_same(found, found.begin + found.count)) {
      ++found.count;
    }
    if (found.count < min_repeat) return {};
    while (found.begin > free) {
      WordRepeat longer = found;
      --longer.begin;
      ++longer.count;
      if (found.is_reversed) {
        if (++longer.source >= longer.begin) break;
      } else if (longer.source-- == 0) {
        break;
      }
      if (!is_same(longer, longer.begin)) break;
      found = longer;
    }
    return found;
  }

 private:
  bool agrees(const WordRepeat& repeat) const {
    for (size_t k = 0; k < min_repeat; ++k) {
      const size_t source = repeat.is_reversed ? repeat.source - k : repeat.source + k;
      if (repeated_part(words_[source]) != repeated_part(words_[repeat.begin + k])) return false;
    }
    return true;
  }
  bool is_same(const WordRepeat& repeat, size_t at) const {
    const U a = words_[at];
    const U b = repeat.word(words_.data(), at);
    return repeated_part(a) == repeated_part(b) && ((a ^ b) & sign_bit<U>) == 0;
  }

  std::span<const U> words_;
};

}  // namespace

template <class U>
std::vector<WordRepeat> find_repeats(std::span<const U> words) {
  std::vector<WordRepeat> repeats;
  if (words.size() < 2 * min_repeat || words.size() >= Seen::nowhere) return repeats;
  const Matcher<U> matcher(words);
  RunHashes<U> hashes(words);
  thread_local std::vector<Seen> table;
  table.assign(size_t{1} << table_bits, Seen{});
  const size_t end = words.size() - min_repeat + 1;
  size_t free = 0;
  for (size_t i = 0; (i = hashes.next(i, end)) < end;) {
    const uint32_t hash = hashes[i];
    Seen& slot = table[hash % table.size()];
    const Seen seen = slot;
    slot = {hash, static_cast<uint32_t>(i)};
    WordRepeat found;
    if (seen.place != Seen::nowhere && seen.hash == hash) found = matcher.match(i, seen.place, free);
    if (found.count == 0) {
      ++i;
      continue;
    }
    repeats.push_back(found);
    free = i = found.begin + found.count;
  }
  return repeats;
}

// Three lists, each of which has its own regularity.
void write_repeats(std::span<const WordRepeat> repeats, ByteWriter& out) {
  std::array<Bytes, 3> lists;
  ByteWriter gaps(lists[0]), counts(lists[1]), distances(lists[2]);
  size_t end = 0;
  for (const WordRepeat& repeat : repeats) {
    gaps.put_varint(repeat.begin - end);
    counts.put_varint(uint64_t{repeat.count - min_repeat} << 2 | (repeat.is_reversed ? 2U : 0U) |
                      (repeat.is_negated ? 1U : 0U));
    distances.put_varint(repeat.begin - repeat.source);
    end = repeat.begin + repeat.count;
  }
  out.put_varint(repeats.size());
  for (const Bytes& list : lists) write_packed(list, out);
}

Result<std::vector<WordRepeat>> read_repeats(ByteReader& in, size_t words) {
  const uint64_t repeat_count = in.get_varint();
  if (in.failed() || repeat_count > words / min_repeat) {
    return corrupt(fmt::format("repeats: {} in {} values", repeat_count, words));
  }
  constexpr uint64_t varint_bytes = 10;
  std::array<Bytes, 3> lists;
  for (Bytes& list : lists) {
    NEVE_ASSIGN(list, read_packed(in, repeat_count * varint_bytes));
  }
  ByteReader gaps(lists[0]), counts(lists[1]), distances(lists[2]);
  std::vector<WordRepeat> repeats;
  repeats.reserve(repeat_count);
  size_t end = 0;
  for (uint64_t k = 0; k < repeat_count; ++k) {
    const uint64_t gap = gaps.get_varint();
    const uint64_t count = counts.get_varint();
    const uint64_t distance = distances.get_varint();
    WordRepeat repeat;
    repeat.is_reversed = (count & 2) != 0;
    repeat.is_negated = (count & 1) != 0;
    const uint64_t left = words - end;
    const bool fits = gap <= left && left - gap >= min_repeat && (count >> 2) <= left - gap - min_repeat;
    repeat.begin = end + (fits ? gap : 0);
    repeat.count = (count >> 2) + min_repeat;
    repeat.source = repeat.begin - distance;
    if (gaps.failed() || counts.failed() || distances.failed() || !fits || distance < 1 ||
        distance > repeat.begin || (repeat.is_reversed && repeat.count > repeat.source + 1)) {
      return corrupt(
          fmt::format("repeats: number {} of {} does not lie within its {} values", k, repeat_count, words));
    }
    repeats.push_back(repeat);
    end = repeat.begin + repeat.count;
  }
  if (gaps.remaining() + counts.remaining() + distances.remaining() != 0) {
    return corrupt(fmt::format("repeats: bytes left over behind {}", repeat_count));
  }
  return repeats;
}

template std::vector<WordRepeat> find_repeats<uint32_t>(std::span<const uint32_t>);
template std::vector<WordRepeat> find_repeats<uint64_t>(std::span<const uint64_t>);

}  // namespace neve
