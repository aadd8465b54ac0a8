// SPDX-License-Identifier: BSD-3-Clause
// Large working buffers that are not cleared, and are used again by the next section of the same thread:
// clearing and page faults otherwise cost a third of encoding. A thread keeps at most three buffers of each
// type, of tile_max_cells symbols or the values of an arranged tile, which has up to twice as many cells, and
// margins where it is nested.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace neve {

// resize() leaves new elements undefined.
template <class T>
struct DefaultInitAllocator : std::allocator<T> {
  template <class U>
  struct rebind {
    using other = DefaultInitAllocator<U>;
  };
  template <class U>
  void construct(U* p) noexcept {
    ::new (static_cast<void*>(p)) U;
  }
  template <class U, class... Args>
  void construct(U* p, Args&&... args) {
    ::new (static_cast<void*>(p)) U(std::forward<Args>(args)...);
  }
};

template <class T>
using RawVector = std::vector<T, DefaultInitAllocator<T>>;

using Symbols = RawVector<uint8_t>;

// A buffer of `size` symbols, from recycle_symbols when there is one.
Symbols take_symbols(size_t size);
// Hands a buffer back to this thread's next take_symbols.
void recycle_symbols(Symbols&& symbols);

// The same for values; T is float, double or an unsigned integer.
template <class T>
RawVector<T> take_values(size_t size);
template <class T>
void recycle_values(RawVector<T>&& values);

// Memory of such a buffer for values of any type, handed back at the end of its life unless it is larger than
// what a thread should keep.
class ScratchBytes {
 public:
  explicit ScratchBytes(size_t bytes) : words_(take_values<uint64_t>((bytes + 7) / 8)) {}
  ScratchBytes(const ScratchBytes&) = delete;
  ScratchBytes& operator=(const ScratchBytes&) = delete;
  ~ScratchBytes() {
    if (words_.size() <= max_kept_words) recycle_values(std::move(words_));
  }

  std::byte* data() { return reinterpret_cast<std::byte*>(words_.data()); }

 private:
  static constexpr size_t max_kept_words = size_t{1} << 21;

  RawVector<uint64_t> words_;
};

}  // namespace neve
