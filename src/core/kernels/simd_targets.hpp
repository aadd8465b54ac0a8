// SPDX-License-Identifier: BSD-3-Clause
// The instruction sets that kernels are compiled for: included before Highway's foreach_target.
#pragma once

// Targets that bring nothing over a neighbour only cost build time, and vectors whose size is known only when
// they run (SVE) can be no members of our classes. Who builds may leave out others instead.
#ifndef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
#endif
