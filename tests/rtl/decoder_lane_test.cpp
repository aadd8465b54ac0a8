// SPDX-License-Identifier: BSD-3-Clause
// The decoder lane gives the values that Neve's own decoder gives, bit for bit, whatever waits for what.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "Vdecoder_lane.h"
#include "neve/stream.hpp"
#include "rtl/model/settings.hpp"
#include "stream/book.hpp"
#include "stream/chunk.hpp"
#include "stream/stream_format.hpp"
#include "tests/rtl/clocked.hpp"
#include "tests/rtl/fields.hpp"
#include "tests/rtl/public_fields.hpp"

namespace neve::rtl {
namespace {

constexpr uint64_t cycles_before_it_hangs = 400'000;
constexpr int most_behind_ready = 16;  // values that leave after out_ready has gone

struct Pace {
  double given = 1;  // share of cycles in which codes and side stream are there
  double taken = 1;  // share of cycles in which values may leave
  uint64_t seed = 1;
};

// The reader around the lane.
class Bench {
 public:
  explicit Bench(const Pace& pace) : pace_(pace), random_(pace.seed), dut_(pace.seed) {}

  void decode(ByteSpan bytes) {
    const auto size = stream::header_bytes(bytes);
    ASSERT_TRUE(size.ok() && size->has_value());
    const auto header = stream::read_header(bytes.first(**size));
    ASSERT_TRUE(header.ok());
    bytes = bytes.subspan(**size);
    begin(*header);
    for (bool is_last = false; !is_last;) {
      const auto block = stream::read_block_header(bytes, *header);
      ASSERT_TRUE(block.ok());
      is_last = block->is_last;
      const size_t whole = stream::block_header_bytes + block->payload_bytes;
      if (block->values > 0) {
        decode_block(*header, *block, bytes.first(whole).subspan(stream::block_header_bytes));
        if (::testing::Test::HasFailure()) return;
      }
      bytes = bytes.subspan(whole);
    }
  }

  const std::vector<float>& values() const { return values_; }
  bool failed() { return dut_->failed != 0; }
  double bits_per_value() const {
    return static_cast<double>(code_bytes_) * 8 / static_cast<double>(values_.size());
  }
  double cycles_per_value() const {
    return static_cast<double>(block_cycles_) / static_cast<double>(values_.size());
  }

  // Hostile blocks: what the lane is given need not fit together.
  void begin(const stream::Header& header) {
    Vdecoder_lane& m = *dut_;
    m.rst = 1;
    m.load = 0;
    m.length_valid = 0;
    m.start = 0;
    m.code_valid = 0;
    m.side_valid = 0;
    m.out_ready = 0;
    m.limit_write = 0;
    m.dims = header.dims;
    m.line_last = header.line - 1;
    m.plane_last = header.lines_per_plane - 1;
    m.plane_values = header.line * header.lines_per_plane;
    for (int i = 0; i < 32; ++i) dut_.tick();
    m.rst = 0;
  }
  void set_step(double bound, double step, std::optional<double> fill) {
    const auto made = quantizer_settings(stream::stream_quantizer<float>(bound, step, fill));
    ASSERT_TRUE(made.ok()) << made.status().message();
    Vdecoder_lane& m = *dut_;
    for (int i = 0; i < most_behind_ready; ++i) cycle(0);  // values under way are of the step before
    m.has_step = made->has_step;
    m.inverse = made->inverse;
    m.inverse_shift = made->inverse_shift;
    m.step = made->step;
    m.step_exponent = made->step_exponent;
    m.is_power = made->is_power;
    m.has_fill = made->has_fill;
    m.fill = made->fill;
    m.limit_write = 1;
    for (uint32_t i = 0; i < made->limits.size(); ++i) {
      m.limit_addr = i;
      m.limit_data = made->limits[i];
      cycle(0);
    }
    m.limit_write = 0;
  }
  void load(const stream::Book& book) {
    dut_->load = 1;
    cycle(0);
    dut_->load = 0;
    for (size_t s = 0; s < book.length.size();) {
      dut_->length_valid = random_.uniform() < pace_.given;
      dut_->length = dut_->length_valid != 0 ? book.length[s] : 31;
      dut_.settle();
      const bool goes = dut_->length_valid != 0 && dut_->length_ready != 0;
      cycle(0);
      if (goes) ++s;
      ASSERT_LT(dut_.cycles(), limit_);
    }
    dut_->length_valid = 0;
    while (dut_->loaded == 0) {
      cycle(0);
      ASSERT_LT(dut_.cycles(), limit_);
    }
  }
  // Words and halves as they come in a stream; until the lane says done.
  void run_block(uint32_t values, uint32_t symbols, bool restarts, ByteSpan codes, ByteSpan side) {
    codes_ = codes;
    code_bytes_ += codes.size();
    side_ = side;
    dut_->block_values = values;
    dut_->block_symbols = symbols;
    dut_->block_restart = restarts;
    dut_->start = 1;
    limit_ = dut_.cycles() + cycles_before_it_hangs + 40 * uint64_t{values} * 64;
    const uint64_t before = dut_.cycles();
    cycle(pace_.given);
    dut_->start = 0;
    while (dut_->done == 0) {
      cycle(pace_.given);
      ASSERT_LT(dut_.cycles(), limit_) << "hangs";
    }
    block_cycles_ += dut_.cycles() - before;
  }
  size_t side_left() const { return side_.size(); }

 private:
  void decode_block(const stream::Header& header, const stream::BlockHeader& block, ByteSpan payload) {
    ByteReader in(payload);
    if (block.has_step) {
      const auto bound = in.get<double>();
      const auto step = in.get<double>();
      set_step(bound, step, header.fill);
    }
    if (block.book == BookKind::rebuilt) {
      const auto book = stream::read_book(in);
      ASSERT_TRUE(book.ok());
      load(*book);
    } else if (block.book == BookKind::offline) {
      load(stream::offline_books()[block.offline_book]);
    }
    const ByteSpan codes = in.get_bytes(in.remaining() - block.side_bytes);
    const ByteSpan side = in.get_bytes(block.side_bytes);
    run_block(block.values, block.symbols, block.restarts, codes, side);
    EXPECT_FALSE(failed());
    EXPECT_EQ(side_left(), 0U);
    for (int i = 0; i < most_behind_ready; ++i) cycle(0);
  }

  void cycle(double given) {
    Vdecoder_lane& m = *dut_;
    uint32_t word = static_cast<uint32_t>(random_.next());
    uint16_t half = static_cast<uint16_t>(random_.next());
    m.code_valid = !codes_.empty() && random_.uniform() < given;
    m.side_valid = !side_.empty() && random_.uniform() < given;
    const size_t word_bytes = std::min(sizeof word, codes_.size());
    if (m.code_valid != 0) std::memcpy(&word, codes_.data(), word_bytes);
    if (m.side_valid != 0) std::memcpy(&half, side_.data(), sizeof half);
    m.code_word = word;
    m.side_half = half;
    m.out_ready = random_.uniform() < pace_.taken;
    behind_ready_ = m.out_ready != 0 ? 0 : behind_ready_ + 1;
    dut_.settle();
    const bool takes_word = m.code_valid != 0 && m.code_ready != 0;
    const bool takes_half = m.side_valid != 0 && m.side_ready != 0;
    dut_.tick();
    if (takes_word) codes_ = codes_.subspan(word_bytes);
    if (takes_half) side_ = side_.subspan(sizeof half);
    if (m.out_valid == 0) return;
    EXPECT_LE(behind_ready_, most_behind_ready);
    values_.push_back(std::bit_cast<float>(m.out_value));
  }

  Pace pace_;
  test::Random random_;
  Clocked<Vdecoder_lane> dut_;
  ByteSpan codes_;
  ByteSpan side_;
  int behind_ready_ = 0;
  uint64_t limit_ = std::numeric_limits<uint64_t>::max();
  uint64_t block_cycles_ = 0;
  uint64_t code_bytes_ = 0;
  std::vector<float> values_;
};

Bytes encode(const StreamOptions& options, const std::vector<float>& values) {
  auto encoder = StreamEncoder::create(options);
  EXPECT_TRUE(encoder.ok()) << encoder.status().message();
  EXPECT_TRUE(encoder->push(values.data(), values.size()).ok());
  EXPECT_TRUE(encoder->finish().ok());
  const auto bytes = encoder->output();
  return {bytes.begin(), bytes.end()};
}

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
  Bench bench(pace);
  bench.decode(bytes);
  EXPECT_EQ(bench.values().size(), expected.size());
  if (bench.values().size() != expected.size()) return {};
  EXPECT_EQ(std::memcmp(bench.values().data(), expected.data(), expected.size() * sizeof(float)), 0);
  return {bench.cycles_per_value(), bench.bits_per_value()};
}

StreamOptions options(std::vector<uint64_t> shape, double bound) {
  StreamOptions o;
  o.shape = std::move(shape);
  o.bound = {BoundMode::abs, bound};
  o.block_values = 1024;
  o.chunk_bytes = uint64_t{1} << 14;
  return o;
}

TEST(DecoderLane, OneTwoAndThreeDirections) {
  const std::vector<std::vector<uint64_t>> shapes{{9000}, {90, 100}, {300, 30}, {20, 30, 15}, {5, 12, 150}};
  for (const auto& shape : shapes) {
    for (const uint32_t restart : {0U, 1U, 3U}) {
      StreamOptions o = options(shape, 1e-3);
      o.restart_blocks = restart;
      o.block_values = restart == 3 ? 777 : 1024;
      check(o, test::rough_field<float>({9000}, 0.02, restart + 1));
    }
  }
}

TEST(DecoderLane, EveryRuleOfBooks) {
  for (const BookRule rule : {BookRule::exact_cost, BookRule::chi, BookRule::always, BookRule::never}) {
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

// Quanta of more than 24 bits round on their way to float32.
TEST(DecoderLane, LargeQuanta) {
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
  Bench bench({});
  stream::Header header;
  bench.begin(header);
  bench.set_step(0.501, 1, {});
  stream::Book single;
  single.length[600] = 1;
  bench.load(single);
  const Bytes zeros(8, std::byte{0});
  const Bytes ones(8, std::byte{0xff});
  const auto fails = [&](uint32_t values, uint32_t symbols, const Bytes& codes) {
    bench.run_block(values, symbols, true, codes, {});
    return bench.failed();
  };
  EXPECT_FALSE(fails(20, 20, zeros));
  EXPECT_TRUE(fails(20, 20, ones));   // no code
  EXPECT_TRUE(fails(20, 10, zeros));  // fewer symbols than values
  EXPECT_TRUE(fails(10, 20, zeros));  // more
  EXPECT_FALSE(fails(20, 20, zeros));
  // A run that is longer than the block.
  single = {};
  single.length[0] = 1;
  bench.load(single);
  const Bytes side{std::byte{0}, std::byte{0}, std::byte{0xc0}, std::byte{0x7f}, std::byte{9}, std::byte{0}};
  bench.run_block(10, 1, true, zeros, side);
  EXPECT_FALSE(bench.failed());
  bench.run_block(9, 1, true, zeros, side);
  EXPECT_TRUE(bench.failed());
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
