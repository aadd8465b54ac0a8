// SPDX-License-Identifier: BSD-3-Clause
// Range asymmetric numeral systems (Duda 2013; Giesen, "Interleaved entropy coders", 2014): 32-bit states,
// 16-bit words, two states in turn so that their latencies overlap.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>

#include "core/bits/bytes.hpp"
#include "core/stages/entropy/nibble_model.hpp"
#include "core/threads/scratch.hpp"

namespace neve {

inline constexpr uint32_t rans_min_state = 1U << 16;

// Takes symbols' shares in coding order and codes them backwards at the end, as the method demands.
class RansEncoder {
 public:
  void reserve(size_t symbols) { shares_.reserve(symbols); }
  // The share [begin, end) of [0, 2^15).
  void put(uint32_t begin, uint32_t end) { shares_.push_back(begin << 16 | (end - begin)); }
  size_t size() const { return shares_.size(); }

  // Two states, then the words in the order in which they are read.
  void finish(ByteWriter& out) {
    RawVector<uint16_t> words(shares_.size() + 1);
    size_t at = words.size();
    std::array<uint32_t, 2> state{rans_min_state, rans_min_state};
    for (size_t i = shares_.size(); i-- > 0;) {
      const uint32_t begin = shares_[i] >> 16;
      const uint32_t frequency = shares_[i] & 0xffff;
      uint32_t& x = state[i & 1];
      // Below 2^17 * frequency the new state fits 32 bits.
      if (x >> 17 >= frequency) {
        words[--at] = static_cast<uint16_t>(x);
        x >>= 16;
      }
      x = ((x / frequency) << probability_bits) + x % frequency + begin;
    }
    out.put(state[0]);
    out.put(state[1]);
    out.put_bytes(words.data() + at, (words.size() - at) * sizeof(uint16_t));
  }

 private:
  RawVector<uint32_t> shares_;
};

class RansDecoder {
 public:
  explicit RansDecoder(ByteSpan bytes) {
    ByteReader in(bytes);
    for (uint32_t& x : state_) x = in.get<uint32_t>();
    failed_ = in.failed() || in.remaining() % sizeof(uint16_t) != 0;
    words_ = in.get_bytes(in.remaining());
  }

  uint32_t slot() const { return state_[0] & ((1U << probability_bits) - 1); }
  // Takes out the symbol with share [begin, end) that holds slot().
  void advance(uint32_t begin, uint32_t end) {
    uint32_t x = (end - begin) * (state_[0] >> probability_bits) + slot() - begin;
    if (x < rans_min_state) {
      if (at_ + sizeof(uint16_t) <= words_.size()) {
        uint16_t word = 0;
        std::memcpy(&word, words_.data() + at_, sizeof word);
        x = x << 16 | word;
        at_ += sizeof word;
      } else {
        failed_ = true;
        x |= rans_min_state;
      }
    }
    state_[0] = state_[1];
    state_[1] = x;
  }
  bool failed() const { return failed_; }
  // Whether all words were used and the states are back where an encoder starts.
  bool is_at_end() const {
    return !failed_ && at_ == words_.size() && state_[0] == rans_min_state && state_[1] == rans_min_state;
  }

 private:
  std::array<uint32_t, 2> state_{};
  ByteSpan words_;
  size_t at_ = 0;
  bool failed_ = false;
};

}  // namespace neve
