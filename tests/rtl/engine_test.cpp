// SPDX-License-Identifier: BSD-3-Clause
// The engine against its model, byte for byte, under stalls and bubbles; and what Neve reads out of its
// streams.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <iostream>
#include <map>
#include <set>
#include <string>

#include "Vengine1.h"
#include "Vengine4.h"
#include "tests/rtl/command.hpp"
#include "tests/rtl/engine_bench.hpp"
#include "tests/rtl/engine_builds.hpp"

namespace neve::rtl {
namespace {

TEST(Engine1, Directions) {
  EngineBench<Vengine1> bench(one, one_bytes, 1);
  const std::vector<std::vector<uint64_t>> shapes{
      {20000}, {1, 150, 130}, {9, 40, 60}, {3, 2, 20, 100}, {5000, 4}};
  for (const auto& shape : shapes) {
    for (const bool restarts : {false, true}) {
      EngineOptions o;
      o.shape = shape;
      o.bounds = {1e-3};
      o.restarts = restarts;
      o.block_values = restarts ? 1000 : 4096;
      const std::vector<int64_t> size(shape.rbegin(), shape.rend());
      check(bench, one, o, test::rough_field<float>(size, 0.01, 1), {});
    }
  }
}

TEST(Engine4, DirectionsUnderStallsAndBubbles) {
  EngineBench<Vengine4> bench(four, four_bytes, 2);
  uint64_t seed = 1;
  for (const auto& shape :
       std::vector<std::vector<uint64_t>>{{30000}, {150, 130}, {9, 40, 60}, {100, 10, 16}}) {
    for (const Flow& flow : {Flow{1, 1}, Flow{0.6, 1}, Flow{1, 0.1}, Flow{0.7, 0.5}}) {
      EngineOptions o;
      o.shape = shape;
      o.bounds = {2e-3};
      o.block_values = seed % 2 == 0 ? 1024 : 700;
      const std::vector<int64_t> size(shape.rbegin(), shape.rend());
      check(bench, four, o, test::rough_field<float>(size, 0.02, seed), {flow.offered, flow.taken, seed});
      ++seed;
    }
  }
}

TEST(Engine4, SpecialValues) {
  EngineBench<Vengine4> bench(four, four_bytes, 3);
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    EngineOptions o;
    o.shape = {16, 30, 50};
    o.bounds = {1e-3};
    o.range = {-10, 10, false};
    o.fill = 1e20F;
    o.block_values = 1024;
    check(bench, four, o, spiked_field({50, 30, 16}, 0.1, seed == 2 ? 0.5 : 0.01, 1e20F, seed),
          {0.9, seed == 3 ? 0.2 : 1, seed});
  }
  EngineOptions o;
  o.shape = {20000};
  o.bounds = {1e-3};
  o.block_values = 1024;
  check(bench, four, o, random_bits(20000, 5), {});
  o.bounds = {0};
  check(bench, four, o, test::rough_field<float>({20000}, 0.1, 6), {});
}

TEST(Engine4, SmallStreams) {
  EngineBench<Vengine4> bench(four, four_bytes, 4);
  for (const uint64_t count : {1U, 3U, 256U, 1023U, 1024U, 1025U, 4096U, 4097U, 8192U}) {
    SCOPED_TRACE(count);
    EngineOptions o;
    o.shape = {count};
    o.bounds = {1e-3};
    o.block_values = 1024;
    check(bench, four, o, test::rough_field<float>({static_cast<int64_t>(count)}, 0.1, 10), {});
  }
}

// A field that gets rougher and smoother again: codebooks of all kinds, by every way that leads to one.
std::vector<float> changing_field(size_t count, uint64_t seed) {
  test::Random random(seed);
  std::vector<float> field(count);
  double at = 0;
  for (size_t i = 0; i < count; ++i) {
    const size_t part = i / 24000 % 5;
    const double width = part == 0 ? 0.0002 : part == 1 ? 0.05 : part == 2 ? 0.05 : part == 3 ? 0.4 : 0.004;
    at += width * (random.uniform() + random.uniform() - 1);
    field[i] = static_cast<float>(at);
  }
  return field;
}

// Every branch of every rule, and every kind of codebook that a rule can come to.
TEST(Engine4, EveryCodebookDecision) {
  EngineBench<Vengine4> bench(four, four_bytes, 5);
  const std::vector<float> field = changing_field(200000, 3);
  std::map<std::string, size_t> branches;
  std::map<std::string, size_t> codebooks;
  for (const CodebookRule rule :
       {CodebookRule::exact_cost, CodebookRule::chi, CodebookRule::always, CodebookRule::never}) {
    EngineOptions o;
    o.shape = {field.size()};
    o.bounds = {1e-3};
    o.block_values = 1024;
    o.rule = rule;
    o.chi_keep = 0.5;
    o.chi_offline = 8;
    std::vector<EngineRound> rounds;
    const EngineRun run = check(bench, four, o, field, {1, rule == CodebookRule::chi ? 0.5 : 1, 7}, &rounds);
    for (const EngineRound& r : rounds) ++branches[std::string(r.why)];
    for (const EngineChoice& c : run.choices)
      ++codebooks[fmt::format("{}, {}", codebook_rule_name(rule), codebook_kind_name(c.codebook))];
  }
  for (const auto& [name, count] : branches) std::cout << fmt::format("branch {}: {} rounds\n", name, count);
  for (const auto& [name, count] : codebooks) {
    std::cout << fmt::format("rule and codebook {}: {} rounds\n", name, count);
    RecordProperty(name, static_cast<int>(count));
  }
  for (const char* branch :
       {"cost, kept", "cost, offline", "cost, rebuilt", "chi, first", "chi, large change",
        "chi, small change", "chi, change", "chi, change, none on offer", "always", "always, none on offer",
        "never", "never, first"}) {
    EXPECT_GT(branches[branch], 0U) << branch;
  }
  // `always` keeps nothing, `never` builds nothing.
  EXPECT_EQ(codebooks.size(), 10U);
  EXPECT_FALSE(codebooks.contains("always, kept"));
  EXPECT_FALSE(codebooks.contains("never, rebuilt"));
}

TEST(Engine4, HoldsARatio) {
  EngineBench<Vengine4> bench(four, four_bytes, 6);
  const std::vector<float> field = changing_field(300000, 4);
  for (const double ratio : {6.0, 12.0}) {
    SCOPED_TRACE(ratio);
    EngineOptions o;
    o.shape = {field.size()};
    o.bounds = bound_ladder(1e-4, 64);
    o.first_rung = 30;
    o.block_values = 1024;
    o.ratio = ratio;
    std::vector<EngineRound> rounds;
    const EngineRun run = check(bench, four, o, field, {0.9, 0.9, 8}, &rounds);
    const double reached =
        static_cast<double>(field.size() * sizeof(float)) / static_cast<double>(run.bytes.size());
    EXPECT_NEAR(reached / ratio, 1, 0.15);
    EXPECT_GT(std::set<uint32_t>([&] {
                std::set<uint32_t> rungs;
                for (const EngineRound& r : rounds) rungs.insert(r.rung);
                return rungs;
              }())
                  .size(),
              3U);
  }
}

// The command that users have.
TEST(Engine, StreamsAreReadByTheCommand) {
  EngineBench<Vengine4> bench(four, four_bytes, 9);
  EngineOptions o;
  o.shape = {12, 40, 50};
  o.bounds = {1e-3};
  o.fill = 1e20F;
  o.range = {-10, 10, false};
  o.block_values = 1024;
  const std::vector<float> field = spiked_field({50, 40, 12}, 0.1, 0.001, 1e20F, 11);
  const EngineRun run = check(bench, four, o, field, {});
  expect_command_reads(run.bytes, o.shape);
}

// What an engine was not built for is refused by name.
TEST(Model, Refusals) {
  const std::vector<float> field(4096, 1);
  const auto message = [&](EngineOptions o, const EngineBuild& build) {
    o.shape = o.shape.empty() ? std::vector<uint64_t>{4096} : o.shape;
    const auto made = model_engine(build, o, field);
    return made.ok() ? std::string() : made.status().message();
  };
  EngineOptions good;
  good.bounds = {1e-3};
  EXPECT_EQ(message(good, one), "");
  EngineOptions o = good;
  o.block_values = 100;
  EXPECT_NE(message(o, one).find("blocks of 100 values"), std::string::npos);
  o = good;
  o.block_values = 1024;
  o.shape = {2, 2048};
  EXPECT_NE(message(o, four).find("lines of 2048 values"), std::string::npos);
  o = good;
  o.block_values = 1024;
  o.restarts = false;
  EXPECT_NE(message(o, four).find("prediction across blocks with 4 lanes"), std::string::npos);
  o = good;
  o.bounds = {1e-35};
  EXPECT_NE(message(o, one).find("2^-96 to 2^96"), std::string::npos);
  o = good;
  o.build_rounds = 3;
  EXPECT_NE(message(o, one).find("codebooks of 3 rounds"), std::string::npos);
  o = good;
  o.shape = {5};
  EXPECT_NE(message(o, one).find("4096 values for a shape of 5"), std::string::npos);
}

}  // namespace
}  // namespace neve::rtl
