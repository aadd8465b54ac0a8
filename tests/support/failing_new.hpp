// SPDX-License-Identifier: BSD-3-Clause
// Memory that ends at a chosen allocation, on whichever thread: replaces operator new of the program that
// includes it, in one file of it.
#pragma once

#include <atomic>
#include <cstdlib>
#include <new>

namespace neve::test {

// Allocations still granted; below 0 all are.
inline std::atomic<long> granted{-1};
// Whether memory is back after the first refusal, or gone for good.
inline std::atomic<bool> fails_once{true};
inline std::atomic<long> refusals{0};

inline void* allocate(std::size_t bytes) {
  long left = granted.load();
  while (left > 0 && !granted.compare_exchange_weak(left, left - 1)) {
  }
  if (left == 0) {
    ++refusals;
    if (fails_once) granted = -1;
    throw std::bad_alloc();
  }
  void* const memory = std::malloc(bytes == 0 ? 1 : bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

inline void* allocate_or_null(std::size_t bytes) noexcept {
  try {
    return allocate(bytes);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

// Calls work() with memory for so many allocations. Whether one was refused.
template <class Work>
bool with_memory_for(long allocations, bool once, Work&& work) {
  fails_once = once;
  refusals = 0;
  granted = allocations;
  work();
  granted = -1;
  return refusals > 0;
}

}  // namespace neve::test

void* operator new(std::size_t bytes) { return neve::test::allocate(bytes); }
void* operator new[](std::size_t bytes) { return neve::test::allocate(bytes); }
// The library's own would do; a sanitizer's are not made of those above.
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return neve::test::allocate_or_null(bytes);
}
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept {
  return neve::test::allocate_or_null(bytes);
}

// Never inlined: GCC would see free() of what operator new has returned, and warn.
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete[](void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
