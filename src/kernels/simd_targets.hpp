// SPDX-License-Identifier: BSD-3-Clause
// The instruction sets that kernels are compiled for: included before Highway's foreach_target.
#pragma once

// Targets that bring nothing over a neighbour only cost build time.
#undef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3_DL)
