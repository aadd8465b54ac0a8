// SPDX-License-Identifier: BSD-3-Clause
// The decoder lane gives the values that Neve's own decoder gives, bit for bit, whatever waits for what.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "core/stream/chunk.hpp"
#include "core/stream/codebook.hpp"
#include "neve/stream.hpp"
#include "tests/rtl/decoder_bench.hpp"
#include "tests/rtl/fields.hpp"
#include "tests/rtl/public_fields.hpp"
#include "tests/rtl/software_streams.hpp"

namespace neve::rtl {
namespace {

struct Cost {
  double cycles = 0;  // for a value
  double code_bits = 0;
};

Cost check(const StreamOptions& options, const std::vector<float>& values, const Pace& pace = {}) {
  const Bytes bytes = encode(options, values);
  std::vector<float> expected(values.size());
  EXPECT_TRUE(
      decode_stream(bytes, reinterpret_cast<std::byte*>(expected.data()), expected.size() * sizeof(float))
          .ok());
  DecoderBench bench(pace);
  bench.decode(bytes);
  EXPECT_EQ(bench.values().size(), expected.size());
  if (bench.values().size() != expected.size()) return {};
  EXPECT_EQ(std::memcmp(bench.values().data(), expected.data(), expected.size() * sizeof(float)), 0);
  return {bench.cycles_per_value(), bench.bits_per_value()};
}

TEST(DecoderLane, OneTwoAndThreeDirections) {
  const std::vector<std::vector<uint64_t>> shapes{{9000},       {90, 100},    {300, 30},
                                                  {20, 30, 15}, {5, 12, 150}, {1125, 1, 8},
                                                  {1800, 5},    {60, 50, 3},  {1, 9000, 1}};
  for (const auto& shape : shapes) {
    for (const uint32_t restart : {0U, 1U, 3U}) {
      StreamOptions o = options(shape, 1e-3);
      o.restart_blocks = restart;
      o.block_values = restart == 3 ? 777 : 1024;
      check(o, test::rough_field<float>({9000}, 0.02, restart + 1));
    }
  }
}

TEST(DecoderLane, EveryRuleOfCodebooks) {
  for (const CodebookRule rule :
       {CodebookRule::exact_cost, CodebookRule::chi, CodebookRule::always, CodebookRule::never}) {
    StreamOptions o = options({40, 25, 30}, 1e-4);
    o.rule = rule;
    o.chunk_bytes = uint64_t{1} << 17;
    check(o, test::rough_field<float>({40, 25, 30}, 0.01, 7));
  }
}

TEST(DecoderLane, SpecialValuesAndStalls) {
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    SCOPED_TRACE(seed);
    std::vector<uint64_t> shape{16, 10, 50};
    if (seed % 3 == 1) shape = {8000};
    if (seed % 3 == 2) shape = {160, 50};
    StreamOptions o = options(shape, 1e-3);
    o.fill = 1e20F;
    o.restart_blocks = seed > 3 ? 1 : 0;
    Pace pace;
    pace.seed = seed;
    pace.given = seed % 2 == 0 ? 0.3 : 1;
    pace.taken = seed % 3 == 0 ? 0.4 : 1;
    check(o, spiked_field({50, 10, 16}, 0.1, seed == 2 ? 0.5 : 0.01, 1e20F, seed), pace);
  }
}

TEST(DecoderLane, AnyBits) {
  for (const double bound : {1e-20, 1e-3, 1e9}) check(options({20000}, bound), random_bits(20000, 7));
}

// Quantization codes of more than 24 bits round on their way to float32.
TEST(DecoderLane, LargeQuantCodes) {
  std::vector<float> values;
  for (int i = 0; i < 4000; ++i) {
    values.push_back(std::ldexp(1.0F, 27) - static_cast<float>(i) * 16 * (i % 2 == 0 ? 1.0F : -1.0F));
  }
  check(options({4000}, 0.5), values);
}

TEST(DecoderLane, WithoutAStep) {
  constexpr double no_step = 1e-300;  // float32 has no bound as small
  check(options({3000}, no_step), test::rough_field<float>({3000}, 0.1, 9));
  check(options({70000}, no_step), std::vector<float>(70000, 2.5F));  // runs as long as they get
}

// A ratio changes the step on the way.
TEST(DecoderLane, StepsThatChange) {
  StreamOptions o = options({60000}, 1);
  o.bound = {BoundMode::ratio, 8};
  o.chunk_bytes = uint64_t{1} << 16;
  std::vector<float> values = test::rough_field<float>({60000}, 0.01, 3);
  for (size_t i = 20000; i < 40000; ++i) values[i] *= 1000;
  check(o, values);
}

TEST(DecoderLane, SmallStreams) {
  for (const size_t count : {1U, 2U, 255U, 256U, 257U, 1025U}) {
    check(options({count}, 1e-3), test::rough_field<float>({static_cast<int64_t>(count)}, 0.1, 10));
  }
}

// What does not fit together ends in an error, and the block behind it is decoded as ever.
TEST(DecoderLane, BlocksThatDoNotFit) {
  DecoderBench bench({});
  stream::Header header;
  bench.begin(header);
  bench.set_step(0.501, 1, {});
  stream::Codebook single;
  single.length[600] = 1;
  bench.load(single);
  const Bytes zeros(3, std::byte{0});
  const Bytes ones(3, std::byte{0xff});
  const auto fails = [&](uint32_t values, uint32_t symbols, const Bytes& codes) {
    bench.run_block(values, symbols, true, codes, {});
    return bench.failed();
  };
  EXPECT_FALSE(fails(20, 20, zeros));
  EXPECT_TRUE(fails(20, 20, ones));   // no code
  EXPECT_TRUE(fails(20, 10, zeros));  // fewer symbols than values
  EXPECT_TRUE(fails(10, 20, zeros));  // more
  EXPECT_TRUE(fails(25, 25, zeros));  // fewer bits than symbols
  EXPECT_TRUE(fails(16, 16, zeros));  // a byte left over
  EXPECT_FALSE(fails(20, 20, zeros));
  // Entries of the side stream: a NaN that five equal ones follow, and a value with a quantization code.
  stream::Codebook escapes;
  escapes.length[0] = 1;
  EXPECT_TRUE(bench.load(escapes));
  const Bytes byte(1, std::byte{0});
  const Bytes nan{std::byte{0}, std::byte{0}, std::byte{0xc0}, std::byte{0x7f}, std::byte{5}, std::byte{0}};
  const Bytes one{std::byte{0}, std::byte{0}, std::byte{0x80}, std::byte{0x3f}};
  const auto side_fails = [&](uint32_t values, uint32_t symbols, Bytes side) {
    bench.run_block(values, symbols, true, byte, side);
    return bench.failed();
  };
  const auto both = [](Bytes a, const Bytes& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
  };
  EXPECT_FALSE(side_fails(6, 1, nan));
  EXPECT_TRUE(side_fails(5, 1, nan));  // a run that is longer than the block
  EXPECT_TRUE(side_fails(7, 1, nan));
  EXPECT_FALSE(side_fails(1, 1, one));
  EXPECT_FALSE(side_fails(7, 2, both(one, nan)));
  EXPECT_FALSE(side_fails(7, 2, both(nan, one)));
  EXPECT_TRUE(side_fails(1, 1, {}));  // more escapes than bytes
  EXPECT_TRUE(side_fails(8, 3, both(nan, one)));
  EXPECT_TRUE(side_fails(6, 1, both(nan, one)));  // bytes left over
  EXPECT_TRUE(side_fails(6, 1, both(nan, byte)));
  for (size_t size = 1; size < nan.size(); ++size) {
    EXPECT_TRUE(side_fails(6, 1, {nan.begin(), nan.begin() + static_cast<ptrdiff_t>(size)})) << size;
  }
  EXPECT_FALSE(side_fails(6, 1, nan));
}

// Lengths that are no complete code are told apart from those that are.
TEST(DecoderLane, CodebooksThatAreNone) {
  const auto loads = [&](const std::vector<std::pair<size_t, uint8_t>>& lengths) {
    DecoderBench fresh({});
    fresh.begin({});
    stream::Codebook codebook;
    for (const auto& [symbol, length] : lengths) codebook.length[symbol] = length;
    return fresh.load(codebook);
  };
  EXPECT_FALSE(loads({}));
  EXPECT_TRUE(loads({{1023, 1}}));
  EXPECT_FALSE(loads({{1023, 2}}));
  EXPECT_TRUE(loads({{0, 1}, {1023, 1}}));
  EXPECT_FALSE(loads({{0, 1}, {5, 1}, {1023, 1}}));
  EXPECT_FALSE(loads({{0, 2}, {1023, 2}}));  // half of the code space, but of two symbols
  EXPECT_TRUE(loads({{0, 1}, {1, 2}, {2, 2}}));
  EXPECT_FALSE(loads({{0, 1}, {1, 2}, {2, 16}}));
  std::vector<std::pair<size_t, uint8_t>> all;
  for (size_t s = 0; s < 1024; ++s) all.emplace_back(s, 10);
  EXPECT_TRUE(loads(all));
  for (auto& [symbol, length] : all) length = 1;
  EXPECT_FALSE(loads(all));
}

TEST(DecoderLane, PublicFields) {
  size_t compared = 0;
  for (const char* name : public_field_names) {
    std::optional<PublicField> field = public_field(name);
    if (!field) continue;
    SCOPED_TRACE(name);
    const auto [low, high] = std::minmax_element(field->values.begin(), field->values.end());
    StreamOptions o = options(field->shape, 1e-3 * (double{*high} - double{*low}));
    o.block_values = 1U << 16;
    o.chunk_bytes = uint64_t{32} << 20;
    // Planes that the test's lane has room for.
    const uint64_t plane = field->shape[1] * field->shape[2];
    if (plane > uint64_t{1} << 16) o.shape = {field->shape[0] * field->shape[1], field->shape[2]};
    const Cost cost = check(o, field->values);
    RecordProperty(std::string(name) + ".cycles_per_value", fmt::format("{:.3f}", cost.cycles));
    RecordProperty(std::string(name) + ".code_bits_per_value", fmt::format("{:.3f}", cost.code_bits));
    ++compared;
  }
  if (compared == 0) GTEST_SKIP() << "no " << NEVE_SHARED_DATA << "/arrays: public fields not compared";
}

}  // namespace
}  // namespace neve::rtl
