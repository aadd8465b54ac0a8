// SPDX-License-Identifier: BSD-3-Clause
#include "preload/trace/shared_memory.hpp"

#include <sched.h>
#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>

#include "preload/trace/next.hpp"

namespace {

std::atomic<bool> has_cloned{false};

#if defined __x86_64__ || defined __aarch64__
constexpr bool vfork_is_seen = true;
#else
constexpr bool vfork_is_seen = false;
#endif
__attribute__((tls_model("initial-exec"))) thread_local bool has_vforked = !vfork_is_seen;

}  // namespace

namespace neve::trace {

bool may_be_child_in_parents_memory() { return has_vforked || has_cloned.load(std::memory_order_relaxed); }

void is_parent() { has_vforked = !vfork_is_seen; }

}  // namespace neve::trace

NEVE_EXPORT int clone(int (*run)(void*), void* stack, int flags, void* argument, ...) noexcept {
  va_list more;
  va_start(more, argument);
  auto* const parent_thread = va_arg(more, pid_t*);
  auto* const storage = va_arg(more, void*);
  auto* const child_thread = va_arg(more, pid_t*);
  va_end(more);
  NEVE_NEXT(clone);
  if ((flags & CLONE_VM) != 0 && (flags & CLONE_THREAD) == 0) has_cloned.store(true);
  if (next != nullptr) return next(run, stack, flags, argument, parent_thread, storage, child_thread);
  errno = ENOSYS;
  return -1;
}

// vfork returns twice to its caller, and the child would return through this wrapper's frame before the
// parent does. So the wrapper has none: it jumps to the function behind it.
#if defined __x86_64__ || defined __aarch64__

extern "C" __attribute__((used, visibility("hidden"))) void* neve_trace_before_vfork() {
  static std::atomic<void*> slot{};
  has_vforked = true;
  void* const next = neve::trace::next_function(slot, "vfork");
  return next != nullptr ? next : reinterpret_cast<void*>(&fork);
}

#if defined __x86_64__
#define VFORK_BODY                   \
  "  endbr64\n"                      \
  "  subq $8, %rsp\n"                \
  "  call neve_trace_before_vfork\n" \
  "  addq $8, %rsp\n"                \
  "  jmp *%rax\n"
#else
#define VFORK_BODY                 \
  "  stp x29, x30, [sp, #-16]!\n"  \
  "  bl neve_trace_before_vfork\n" \
  "  ldp x29, x30, [sp], #16\n"    \
  "  br x0\n"
#endif

__asm__(
    ".text\n"
    ".balign 16\n"
    ".globl vfork\n"
    ".globl __vfork\n"
    ".type vfork, %function\n"
    ".type __vfork, %function\n"
    "vfork:\n"
    "__vfork:\n" VFORK_BODY
    ".size vfork, . - vfork\n"
    ".size __vfork, . - __vfork\n");

#endif
