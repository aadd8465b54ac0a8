// SPDX-License-Identifier: BSD-3-Clause
// The constants of the model of writes, fitted to the ACB paper's scaling section.
#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "bench/apps/io_model/paper_runs.hpp"

namespace neve::io_bench {

// Seconds, but for the bandwidths all that the model knows of a system; the last is shared by both.
inline constexpr size_t constant_count = 5;
inline constexpr std::array<const char*, constant_count> constant_names = {
    "edison: request that does not fill a stripe", "edison: lock that changes hands",
    "cori: request that does not fill a stripe", "cori: lock that changes hands",
    "collective call, for each rank"};
using Constants = std::array<double, constant_count>;

// Those that `neve plan` uses.
Constants built_in_constants();
io_model::FileSystem with_constants(const std::string& system, const Constants& constants);

// Where the fit begins: a disk's seek, a lock's round trip, some microseconds a rank.
inline constexpr Constants fit_start = {5e-3, 10e-3, 5e-3, 10e-3, 5e-6};

// How far an end of a modelled range lies from the paper's: the largest |log(model / paper)| of the sections
// chosen, all ends of all factors.
double largest_miss(std::span<const Section> sections, const Constants& constants, bool fitted_ones);

// Constants of the least largest_miss over the fitted sections: found by steps of each constant and of pairs
// of them, ever smaller ones, from `start`. The same on every machine.
Constants fit(std::span<const Section> sections, const Constants& start);

// Largest misses, fitted and predicted, where one constant is `factor` times as large.
struct Sensitivity {
  size_t constant = 0;
  double factor = 1;
  double fitted_miss = 0, predicted_miss = 0;
};
std::vector<Sensitivity> sensitivities(std::span<const Section> sections, const Constants& constants);

}  // namespace neve::io_bench
