// SPDX-License-Identifier: BSD-3-Clause
// Whether this processor, and the system for its registers, can run what is compiled for an instruction set.
// Highway's target attributes (hwy/ops/set_macros-inl.h) say which features the compiler may use there: each
// set has a group of them, and all of the set below.
#pragma once

#if defined(__x86_64__)
#include <cpuid.h>

namespace neve {

// A bit of the third register of a CPUID leaf: for features that not every compiler's
// __builtin_cpu_supports knows by name.
inline bool has_cpuid_bit(unsigned leaf, unsigned bit) {
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  return __get_cpuid(leaf, &a, &b, &c, &d) != 0 && ((c >> bit) & 1) != 0;
}
inline bool has_f16c() { return has_cpuid_bit(1, 29); }
inline bool has_lzcnt() { return has_cpuid_bit(0x80000001, 5); }

inline bool can_run_sse4() {
  return __builtin_cpu_supports("ssse3") && __builtin_cpu_supports("sse4.1") &&
         __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("pclmul") &&
         __builtin_cpu_supports("aes");
}
inline bool can_run_avx2() {
  return can_run_sse4() && __builtin_cpu_supports("avx") && __builtin_cpu_supports("avx2") &&
         __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
         has_f16c() && has_lzcnt();
}
inline bool can_run_avx3() {
  return can_run_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512cd");
}

}  // namespace neve
#endif
