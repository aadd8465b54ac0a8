// SPDX-License-Identifier: BSD-3-Clause
// One lane, on fields of every kind (the public ones: public_fields_test.cpp).
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/rtl/fields.hpp"
#include "tests/rtl/lane_bench.hpp"

namespace neve::rtl {
namespace {

void run(const LaneCase& c, const std::vector<float>& values) {
  LaneBench bench(c, values);
  if (!::testing::Test::HasFailure()) bench.run();
}

TEST(Lane, TakesAValueInEveryCycle) {
  const std::vector<float> field = test::rough_field<float>({64, 32, 40}, 0.01, 3);
  LaneCase c;
  c.block_values = 4096;
  LaneBench bench(c, field);
  bench.run();
  EXPECT_EQ(bench.input_cycles(), field.size());
}

TEST(Lane, OneDirection) {
  LaneCase c;
  c.offered = 0.7;
  c.taken = 0.5;
  run(c, test::rough_field<float>({100, 100}, 0.02, 4));
}

TEST(Lane, TwoDirections) {
  for (const uint32_t line : {8U, 9U, 100U, 1024U}) {
    SCOPED_TRACE(line);
    for (const uint32_t restart : {0U, 1U, 3U}) {
      LaneCase c;
      c.dims = 2;
      c.line = line;
      c.restart_blocks = restart;
      c.block_values = restart == 1 ? 1000 : 1024;
      c.offered = line == 9 ? 0.5 : 1;
      run(c, test::rough_field<float>({line, 10240 / line}, 0.02, 5));
    }
  }
}

TEST(Lane, ThreeDirections) {
  const std::vector<std::vector<uint32_t>> shapes{
      {8, 2, 500}, {16, 16, 40}, {33, 17, 20}, {100, 50, 3}, {1000, 3, 4}};
  for (const auto& shape : shapes) {
    SCOPED_TRACE(shape[0]);
    for (const uint32_t restart : {0U, 1U, 2U}) {
      LaneCase c;
      c.dims = 3;
      c.line = shape[0];
      c.lines_per_plane = shape[1];
      c.restart_blocks = restart;
      c.block_values = restart == 2 ? 777 : 1024;
      c.offered = shape[0] == 33 ? 0.6 : 1;
      run(c, test::rough_field<float>({shape[0], shape[1], shape[2]}, 0.02, 6));
    }
  }
}

TEST(Lane, SpecialValues) {
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    SCOPED_TRACE(seed);
    LaneCase c;
    c.dims = static_cast<int>(seed % 3) + 1;
    c.line = c.dims > 1 ? 50 : 0;
    c.lines_per_plane = c.dims > 2 ? 10 : 0;
    c.restart_blocks = seed > 3 ? 1 : 0;
    c.fill = 1e20F;
    c.offered = 0.8;
    c.taken = seed % 2 == 0 ? 0.3 : 1;
    c.seed = seed;
    const double share = seed == 2 ? 0.5 : 0.01;
    run(c, spiked_field({50, 10, 16}, 0.1, share, 1e20F, seed));
  }
}

TEST(Lane, AnyBits) {
  for (const double bound : {1e-20, 1e-3, 1e9, 1e28}) {
    SCOPED_TRACE(bound);
    LaneCase c;
    c.bound = bound;
    c.block_values = 4096;
    run(c, random_bits(30000, 7));
  }
}

TEST(Lane, MiddlesBetweenQuantCodes) {
  for (const float step : {1.0F, 0x1p-96F, 0x1p96F, 0.0123F, 3.99F}) {
    SCOPED_TRACE(step);
    LaneCase c;
    c.step = step;
    c.bound = 0.501 * static_cast<double>(step);
    run(c, halves(8192, step, 8));
  }
}

TEST(Lane, NothingHasAQuantCodeWithoutAStep) {
  LaneCase c;
  c.step = 0;
  c.bound = 0;
  run(c, test::rough_field<float>({60, 50}, 0.1, 9));
  run(c, std::vector<float>(3000, 2.5F));
}

TEST(Lane, SmallStreams) {
  for (const size_t count : {1U, 2U, 255U, 256U, 1023U, 1024U, 1025U}) {
    SCOPED_TRACE(count);
    LaneCase c;
    run(c, test::rough_field<float>({static_cast<int64_t>(count)}, 0.1, 10));
  }
}

TEST(Settings, StepsTheEngineDoesNotTake) {
  for (const double step : {0x1p-97, 0x1p97}) {
    const auto made = quantizer_settings(stream::stream_quantizer<float>(step / 2, step, {}));
    ASSERT_FALSE(made.ok());
    EXPECT_NE(made.status().message().find("2^-96 to 2^96"), std::string::npos);
  }
  EXPECT_FALSE(quantizer_settings(stream::stream_quantizer<float>(0.4, 1, {})).ok());
}

}  // namespace
}  // namespace neve::rtl
