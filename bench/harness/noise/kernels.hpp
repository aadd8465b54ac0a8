// SPDX-License-Identifier: BSD-3-Clause
// A block of a row of noise, per instruction set; all give the same bits. `portable` is the reference.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace neve::apps::noise {

// Samples share what a block's begin has in common. Blocks begin at multiples of this in every row, whatever
// part of it is asked for.
inline constexpr size_t block_samples = 64;

// In the lattice's own coordinates u = x + skew (x0 + x1 + x2 + x3) all lattice points are whole.
struct Block {
  float base[4];  // u of the block's begin, less its whole part
  float step[4];  // of u
  uint32_t hash;  // of the whole part
};

inline constexpr double skew = 0.30901699437494742410;    // (sqrt(5) - 1) / 4
inline constexpr double unskew = 0.13819660112501051518;  // (5 - sqrt(5)) / 20: x = u - unskew (sum of u)

// Squared radius within which a corner counts: the simplex's height, so that noise is as smooth as
// (radius2 - r^2)^4 at its border, three times differentiable.
inline constexpr float radius2 = 0.5f;
// 2^-31, for gradients are words with a sign, over the largest possible sum of corners: 0.018422, by search.
inline constexpr float scale = static_cast<float>(0x1p-31 / 0.01843);

// What a step along an axis adds to the hash: odd, with no small whole relation between them.
inline constexpr uint32_t prime[4] = {0x9e3779b1u, 0x85ebca77u, 0xc2b2ae3du, 0x27d4eb2fu};
inline constexpr uint32_t mix1 = 0x7feb352du, mix2 = 0x846ca68bu;  // Wellons' hash

// Samples [first, first + count) of the block. `out` has room for row_padding more.
inline constexpr size_t row_padding = 16;
using BlockKernel = void (*)(const Block& block, size_t first, size_t count, float* out);

struct Target {
  const char* name;  // as those of kernels/targets.hpp
  BlockKernel fill;
};
const std::vector<Target>& simd_targets();  // compiled ones: not all may run here
void fill_portable(const Block& block, size_t first, size_t count, float* out);
BlockKernel kernel_in_force();

}  // namespace neve::apps::noise
