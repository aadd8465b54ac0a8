// SPDX-License-Identifier: BSD-3-Clause
// IEEE arithmetic as the format assumes it, while this object lives: round to nearest even, denormals kept.
// Simulations built with -ffast-math start with denormals flushed to zero, which would hide errors from
// the encoder's own check.
#pragma once

#include <cfenv>
#if defined(__SSE2__) && defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace neve {

#if defined(__SSE2__) && defined(__x86_64__)
// All of Neve's arithmetic is SSE's, whose register is the only one of the environment that need be looked
// at; to save and set all of it takes longer than a small array does.
class FloatEnvironment {
 public:
  FloatEnvironment() {
    if (has_changed()) _mm_setcsr(initial);
  }
  ~FloatEnvironment() {
    if (has_changed()) _mm_setcsr(saved_);
  }
  FloatEnvironment(const FloatEnvironment&) = delete;
  FloatEnvironment& operator=(const FloatEnvironment&) = delete;

 private:
  static constexpr unsigned initial = 0x1f80;        // as the processor starts: all exceptions masked
  static constexpr unsigned exception_flags = 0x3f;  // what has happened, not what is to happen
  bool has_changed() const { return (saved_ & ~exception_flags) != initial; }

  unsigned saved_ = _mm_getcsr();
};
#else
class FloatEnvironment {
 public:
  FloatEnvironment() {
    std::fegetenv(&saved_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~FloatEnvironment() { std::fesetenv(&saved_); }
  FloatEnvironment(const FloatEnvironment&) = delete;
  FloatEnvironment& operator=(const FloatEnvironment&) = delete;

 private:
  std::fenv_t saved_;
};
#endif

}  // namespace neve
