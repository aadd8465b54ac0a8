// SPDX-License-Identifier: BSD-3-Clause
// The function a wrapper stands before.
#pragma once

#include <dlfcn.h>

#include <atomic>

namespace neve::trace {

// Looked up once. The lookup may allocate, and an allocator may open and read files: such a call within the
// lookup of its own name finds nullptr, and its wrapper then asks the kernel itself or fails with ENOSYS.
inline void* next_function(std::atomic<void*>& slot, const char* name) {
  void* found = slot.load(std::memory_order_acquire);
  if (found != nullptr) return found;
  static __attribute__((tls_model("initial-exec"))) thread_local bool looking = false;
  if (looking) return nullptr;
  looking = true;
  found = dlsym(RTLD_NEXT, name);
  looking = false;
  slot.store(found, std::memory_order_release);
  return found;
}

}  // namespace neve::trace

// Declares `next` as the function of this name behind the wrapper that says so.
#define NEVE_NEXT(name)                         \
  static std::atomic<void*> neve_slot_##name{}; \
  const auto next = reinterpret_cast<decltype(&::name)>(::neve::trace::next_function(neve_slot_##name, #name))

#define NEVE_EXPORT extern "C" __attribute__((visibility("default")))
