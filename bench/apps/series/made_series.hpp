// SPDX-License-Identifier: BSD-3-Clause
// Made series of time steps whose best lossless method is another one from one step to the next.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace neve::series {

enum class Kind : uint8_t {
  walk,          // a random walk: differences
  few_values,    // any of some forty values: ranks
  far_repeats,   // a walk that repeats over distances that no small sample has
  wave,          // smooth along all axes
  showers,       // 0 but for a few patches
  layers,        // nearly constant along x and y
  decimals,      // a walk of whole multiples of 0.01
  coarse_noise,  // noise of few bits: bytes alike, values not
  periods,       // a sine of few digits: repeats over some two thousand values, all along
};
inline constexpr int kinds = 9;
std::string_view kind_name(Kind kind);  // "walk", "few values", ...

// Values of a step of that shape (slowest first), which its number alone changes.
template <class T>
std::vector<T> made_step(Kind kind, const std::vector<uint64_t>& shape, int step);

// A series of 30 steps that is of one kind up to step 9, of another one up to 19, of a third one from 20 on.
struct MadeSeries {
  std::string_view name;
  Kind kinds[3];

  Kind kind_at(int step) const { return kinds[step < 10 ? 0 : step < 20 ? 1 : 2]; }
};
inline constexpr int made_steps = 30;
inline constexpr MadeSeries made_series[] = {
    {"walk, few values, wave", {Kind::walk, Kind::few_values, Kind::wave}},
    {"wave, showers, layers", {Kind::wave, Kind::showers, Kind::layers}},
    {"walk, far repeats, decimals", {Kind::walk, Kind::far_repeats, Kind::decimals}},
    {"coarse noise, wave, few values", {Kind::coarse_noise, Kind::wave, Kind::few_values}},
};

}  // namespace neve::series
