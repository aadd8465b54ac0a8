// SPDX-License-Identifier: BSD-3-Clause
// What stands beside a block's codes: values that are escapes (docs/format.md, "Stream").
#pragma once

#include <cstdint>
#include <cstring>

#include "core/bits/bytes.hpp"
#include "core/threads/scratch.hpp"

namespace neve::stream {

template <class T>
class SideStream {
 public:
  ByteSpan bytes() const { return bytes_; }
  void clear() { bytes_.clear(); }

  void put(T value) {
    const auto* const begin = reinterpret_cast<const std::byte*>(&value);
    bytes_.insert(bytes_.end(), begin, begin + sizeof value);
  }
  // Room for so many values behind what is there, to be written from the pointer on; take() says how many
  // were.
  std::byte* room(size_t values) {
    begin_ = bytes_.size();
    bytes_.resize(begin_ + values * sizeof(T));
    return bytes_.data() + begin_;
  }
  void take(size_t values) { bytes_.resize(begin_ + values * sizeof(T)); }

  // A value without a quantization code; set_more() says how many like it follow.
  void begin_run(T value) {
    put(value);
    more_at_ = bytes_.size();
    bytes_.resize(bytes_.size() + sizeof(uint16_t));
    set_more(0);
  }
  void set_more(uint16_t count) { std::memcpy(bytes_.data() + more_at_, &count, sizeof count); }

 private:
  // (Not cleared before it is written: at tight bounds most values pass through here.)
  RawVector<std::byte> bytes_;
  size_t begin_ = 0;
  size_t more_at_ = 0;
};

}  // namespace neve::stream
