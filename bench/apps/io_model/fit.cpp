// SPDX-License-Identifier: BSD-3-Clause
#include "bench/apps/io_model/fit.hpp"

#include <algorithm>
#include <cmath>

namespace neve::io_bench {
namespace {

constexpr double first_step = 1.5, last_step = 1.0005;
constexpr double changed_by = 0.2;

// Least misses first; where those are alike, the least sum of squares of all misses, so that constants that
// the largest miss does not depend on are not left where they are.
struct Objective {
  double largest = 0, squares = 0;
  double value() const { return largest + 1e-2 * squares; }
};

Objective objective_of(std::span<const Section> sections, const Constants& constants, bool fitted_ones) {
  Objective objective;
  for (const Section& section : sections) {
    if (section.is_fitted != fitted_ones) continue;
    const auto ranges = ranges_of(section, with_constants(section.system, constants));
    for (size_t f = 0; f < factor_count; ++f) {
      for (const double miss : {std::log(ranges[f].low / section.paper[f].low),
                                std::log(ranges[f].high / section.paper[f].high)}) {
        objective.largest = std::max(objective.largest, std::abs(miss));
        objective.squares += miss * miss;
      }
    }
  }
  return objective;
}

}  // namespace

Constants built_in_constants() {
  const io_model::FileSystem edison = *io_model::named_file_system("edison");
  const io_model::FileSystem cori = *io_model::named_file_system("cori");
  return {edison.request_seconds, edison.lock_seconds, cori.request_seconds, cori.lock_seconds,
          edison.call_seconds_per_rank};
}

io_model::FileSystem with_constants(const std::string& system, const Constants& constants) {
  io_model::FileSystem result = *io_model::named_file_system(system);
  const size_t first = system == "edison" ? 0 : 2;
  result.request_seconds = constants[first];
  result.lock_seconds = constants[first + 1];
  result.call_seconds_per_rank = constants[4];
  return result;
}

double largest_miss(std::span<const Section> sections, const Constants& constants, bool fitted_ones) {
  return objective_of(sections, constants, fitted_ones).largest;
}

Constants fit(std::span<const Section> sections, const Constants& start) {
  Constants best = start;
  double least = objective_of(sections, best, true).value();
  const auto try_step = [&](size_t a, double by_a, size_t b, double by_b) {
    Constants tried = best;
    tried[a] *= by_a;
    tried[b] *= by_b;
    const double value = objective_of(sections, tried, true).value();
    if (value >= least) return false;
    best = tried;
    least = value;
    return true;
  };
  for (double step = first_step; step > last_step;) {
    bool helped = false;
    for (size_t a = 0; a < constant_count; ++a) {
      for (const double by : {step, 1 / step}) {
        helped |= try_step(a, by, a, 1);
        for (size_t b = 0; b < a; ++b) {
          helped |= try_step(a, by, b, step);
          helped |= try_step(a, by, b, 1 / step);
        }
      }
    }
    if (!helped) step = std::sqrt(step);
  }
  return best;
}

std::vector<Sensitivity> sensitivities(std::span<const Section> sections, const Constants& constants) {
  std::vector<Sensitivity> result;
  for (size_t c = 0; c < constant_count; ++c) {
    for (const double factor : {1 - changed_by, 1 + changed_by}) {
      Constants changed = constants;
      changed[c] *= factor;
      result.push_back(
          {c, factor, largest_miss(sections, changed, true), largest_miss(sections, changed, false)});
    }
  }
  return result;
}

}  // namespace neve::io_bench
