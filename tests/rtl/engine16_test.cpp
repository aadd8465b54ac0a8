// SPDX-License-Identifier: BSD-3-Clause
// Sixteen lanes, as the paper's engine has: bit-exact as fewer are, and a value for each in every cycle.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "Vengine16.h"
#include "tests/rtl/engine_bench.hpp"

namespace neve::rtl {
namespace {

constexpr EngineBuild sixteen{.lanes = 16, .block_bits = 12, .dims = 3, .line_bits = 12, .plane_bits = 12};
constexpr unsigned sixteen_bytes = 32;

TEST(Engine16, TakesAValueInEveryCycleOfEveryLane) {
  EngineBench<Vengine16> bench(sixteen, sixteen_bytes, 1);
  EngineOptions o;
  o.shape = {10, 256, 256};
  o.bounds = {2e-3};
  o.block_values = 4096;
  const std::vector<float> field = test::rough_field<float>({256, 256, 10}, 0.02, 1);
  const EngineRun run = check(bench, sixteen, o, field, {});
  // Lanes begin one after the other.
  EXPECT_LE(run.input_cycles, field.size() / 16 + 16);
  RecordProperty("input_cycles", static_cast<int>(run.input_cycles));
  RecordProperty("samples_per_cycle",
                 fmt::format("{:.4f}", static_cast<double>(field.size()) /
                                           (16 * static_cast<double>(run.input_cycles))));
  RecordProperty("cycles", static_cast<int>(run.cycles));
}

// Half of what comes in goes out, 32 bytes a cycle.
TEST(Engine16, TakesAValueInEveryCycleOfNoise) {
  EngineBench<Vengine16> bench(sixteen, sixteen_bytes, 3);
  EngineOptions o;
  o.shape = {16 * 4096 * 6};
  o.bounds = {2e-6};
  o.block_values = 4096;
  const std::vector<float> field = test::rough_field<float>({16 * 4096 * 6}, 1e-3, 5);
  const EngineRun run = check(bench, sixteen, o, field, {});
  const auto in = static_cast<double>(field.size() * sizeof(float));
  EXPECT_LT(in / static_cast<double>(run.bytes.size()), 4);
  EXPECT_LE(run.input_cycles, field.size() / 16 + 16);
}

TEST(Engine16, UnderStallsAndBubbles) {
  EngineBench<Vengine16> bench(sixteen, sixteen_bytes, 2);
  EngineOptions o;
  o.shape = {5, 300, 131};
  o.bounds = {1e-3};
  o.fill = 1e20F;
  o.block_values = 2048;
  o.range = {-10, 10, false};
  check(bench, sixteen, o, spiked_field({131, 300, 5}, 0.05, 0.003, 1e20F, 3), {0.8, 0.7, 4});
}

}  // namespace
}  // namespace neve::rtl
