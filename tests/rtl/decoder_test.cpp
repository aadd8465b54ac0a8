// SPDX-License-Identifier: BSD-3-Clause
// Streams through the whole decoder: the values that Neve's own decoder gives, or a number that says why not.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "Vdecoder.h"
#include "Vdecoder4.h"
#include "Vstep_settings.h"
#include "core/kernels/stream_kernels.hpp"
#include "core/stream/chunk.hpp"
#include "core/stream/codebook.hpp"
#include "core/stream/stream_format.hpp"
#include "neve/stream.hpp"
#include "rtl/model/engine_model.hpp"
#include "tests/rtl/engine_bench.hpp"
#include "tests/rtl/engine_builds.hpp"
#include "tests/rtl/public_fields.hpp"
#include "tests/rtl/settings_port.hpp"
#include "tests/rtl/software_streams.hpp"

namespace neve::rtl {
namespace {

// rtl/neve_pkg.sv.
enum Failure : int {
  none = 0,
  not_a_stream = 1,
  version = 2,
  header = 3,
  header_checksum = 4,
  not_built_for = 5,
  block_header = 6,
  block_checksum = 7,
  codebook = 8,
  codes = 9,
  ends_early = 10,
  wrong_values = 11,
  wrong_step = 12,
};

struct Given {
  double offered = 1;  // share of cycles with a word at the input
  double taken = 1;    // share of cycles with room at the output
  double whole = 1;    // share of words that are full
  uint64_t seed = 1;
};

struct Decoded {
  std::vector<std::byte> values;
  int failure = none;
  uint64_t cycles = 0;
};

constexpr uint64_t cycles_of_a_stream = 100'000;  // beside those of its bytes and values

template <class Module, unsigned bytes_of_word>
class WholeDecoder {
 public:
  explicit WholeDecoder(uint64_t seed) : dut_(seed) {
    dut_->rst = 1;
    dut_->s_axis_tvalid = 0;
    dut_->m_axis_tready = 0;
    for (int i = 0; i < 64; ++i) dut_.tick();
    dut_->rst = 0;
    dut_.tick();
  }

  Decoded decode(ByteSpan stream, size_t max_values, const Given& given = {}) {
    test::Random random(given.seed);
    Decoded out;
    const uint64_t begin = dut_.cycles();
    const auto slowest = std::min(given.offered * given.whole, given.taken);
    const uint64_t limit =
        begin + cycles_of_a_stream +
        static_cast<uint64_t>(static_cast<double>(stream.size() + 16 * max_values) * 8 / slowest);
    bool sends = true;
    bool holds = false;
    size_t count = 0;
    bool is_ended = false;
    while (sends || !is_ended || dut_->busy != 0) {
      if (sends && !holds && random.uniform() < given.offered) {
        holds = true;
        count = std::min<size_t>(bytes_of_word, stream.size());
        if (random.uniform() >= given.whole) count = random.below(static_cast<int64_t>(count) + 1);
        std::array<std::byte, bytes_of_word> word;
        for (std::byte& b : word) b = static_cast<std::byte>(random.next());
        if (count > 0) std::memcpy(word.data(), stream.data(), count);
        for (size_t w = 0; w < bytes_of_word / 4; ++w) {
          uint32_t quarter;
          std::memcpy(&quarter, word.data() + 4 * w, 4);
          set_word(dut_->s_axis_tdata, w, quarter);
        }
        dut_->s_axis_tkeep =
            static_cast<std::remove_reference_t<decltype(dut_->s_axis_tkeep)>>((uint32_t{1} << count) - 1);
        dut_->s_axis_tlast = count == stream.size();
      }
      dut_->s_axis_tvalid = holds;
      dut_->m_axis_tready = random.uniform() < given.taken;
      dut_.settle();
      if (holds && dut_->s_axis_tready != 0) {
        holds = false;
        sends = count < stream.size();
        stream = stream.subspan(count);
      }
      if (dut_->m_axis_tvalid != 0 && dut_->m_axis_tready != 0) {
        EXPECT_FALSE(is_ended) << "words behind the last one";
        is_ended = dut_->m_axis_tlast != 0;
        if (dut_->m_axis_tkeep != 0) {
          const uint32_t value = dut_->m_axis_tdata;
          const auto* at = reinterpret_cast<const std::byte*>(&value);
          out.values.insert(out.values.end(), at, at + sizeof value);
        } else {
          EXPECT_TRUE(is_ended);
        }
      }
      dut_.tick();
      if (dut_.cycles() > limit) {
        ADD_FAILURE() << "hangs with " << stream.size() << " bytes to come, " << out.values.size() / 4
                      << " values out, failure " << static_cast<int>(dut_->failure);
        break;
      }
    }
    EXPECT_EQ(dut_->failed != 0, dut_->failure != 0);
    out.failure = dut_->failure;
    out.cycles = dut_.cycles() - begin;
    return out;
  }

 private:
  Clocked<Module> dut_;
};

using Decoder = WholeDecoder<Vdecoder, 16>;
using NarrowDecoder = WholeDecoder<Vdecoder4, 4>;

struct Expected {
  Status status;
  std::vector<std::byte> values;
};
Expected software(ByteSpan stream) {
  StreamDecoder decoder;
  Expected e;
  e.status = decoder.push(stream);
  if (e.status.ok()) e.status = decoder.finish();
  e.values.assign(decoder.output().begin(), decoder.output().end());
  return e;
}

template <class AnyDecoder>
Decoded check(AnyDecoder& decoder, ByteSpan stream, const Given& given = {}) {
  const Expected expected = software(stream);
  EXPECT_TRUE(expected.status.ok()) << expected.status.message();
  Decoded decoded = decoder.decode(stream, expected.values.size() / sizeof(float), given);
  EXPECT_EQ(decoded.failure, none);
  EXPECT_EQ(decoded.values.size(), expected.values.size());
  EXPECT_TRUE(decoded.values == expected.values);
  return decoded;
}

TEST(Decoder, SoftwareStreams) {
  Decoder wide(1);
  NarrowDecoder narrow(2);
  uint64_t seed = 1;
  for (const auto& shape : std::vector<std::vector<uint64_t>>{
           {9000}, {90, 100}, {20, 30, 15}, {1800, 5}, {60, 50, 3}, {1, 9000, 1}, {0, 100}, {0}, {1}}) {
    for (const CodebookRule rule : {CodebookRule::exact_cost, CodebookRule::always, CodebookRule::never}) {
      SCOPED_TRACE(seed);
      StreamOptions o = options(shape, 1e-3);
      o.rule = rule;
      o.fill = 1e20F;
      o.restart_blocks = seed % 3 == 0 ? 1 : 0;
      o.block_values = seed % 2 == 0 ? 777 : 1024;
      const std::vector<float> field = spiked_field({9000}, 0.02, seed % 4 == 0 ? 0.3 : 0.002, 1e20F, seed);
      const auto count = static_cast<ptrdiff_t>(shape == std::vector<uint64_t>{1} ? 1 : field.size());
      const Bytes stream = encode(o, {field.begin(), field.begin() + count});
      check(wide, stream, {1, 1, 1, seed});
      check(narrow, stream, {0.7, 0.6, 0.5, seed});
      if (HasFailure()) return;
      ++seed;
    }
  }
}

TEST(Decoder, AnyBitsAndStepsThatChange) {
  Decoder decoder(3);
  for (const double bound : {1e-20, 1e-3, 1e9, 1e-300}) {
    check(decoder, encode(options({5000}, bound), random_bits(5000, 7)), {1, 0.5, 0.9, 1});
  }
  check(decoder, encode(options({70000}, 1e-300), std::vector<float>(70000, 2.5F)));
  StreamOptions o = options({60000}, 1);
  o.bound = {BoundMode::ratio, 8};
  o.chunk_bytes = uint64_t{1} << 16;
  std::vector<float> values = test::rough_field<float>({60000}, 0.01, 3);
  for (size_t i = 20000; i < 40000; ++i) values[i] *= 1000;
  check(decoder, encode(o, values));
}

// From the engine's output into the decoder's input.
TEST(Decoder, EngineAndBack) {
  EngineBench<Vengine1> engine(one, one_bytes, 1);
  Decoder decoder(4);
  uint64_t seed = 1;
  for (const auto& shape : std::vector<std::vector<uint64_t>>{{20000}, {150, 130}, {9, 40, 60}}) {
    EngineOptions o;
    o.shape = shape;
    o.bounds = {1e-3};
    o.range = {-10, 10, false};
    o.fill = 1e20F;
    o.block_values = 1000;
    const std::vector<int64_t> size(shape.rbegin(), shape.rend());
    const EngineRun run = neve::rtl::check(engine, one, o, spiked_field(size, 0.02, 0.001, 1e20F, seed), {});
    check(decoder, run.bytes, {0.9, 0.8, 1, seed});
    ++seed;
  }
}

TEST(Decoder, PublicFields) {
  size_t compared = 0;
  Decoder decoder(5);
  for (const char* name : public_field_names) {
    const std::optional<PublicField> field = public_field(name);
    if (!field) continue;
    SCOPED_TRACE(name);
    EngineOptions o;
    o.shape = field->shape;
    o.bounds = {1e-3 * field->range.width()};
    o.range = field->range;
    o.fill = field->fill;
    const auto engine = model_engine(one, o, field->values);
    ASSERT_TRUE(engine.ok()) << engine.status().message();
    const Decoded decoded = check(decoder, engine->stream);
    RecordProperty(std::string(name) + ".stream_cycles_per_value",
                   fmt::format("{:.3f}", static_cast<double>(decoded.cycles) /
                                             static_cast<double>(field->values.size())));
    ++compared;
  }
  if (compared == 0) GTEST_SKIP() << "no " << NEVE_SHARED_DATA << "/arrays: public fields not compared";
}

// --- what is wrong with a stream -------------------------------------------------------------------------

struct Part {
  size_t begin;
  size_t size;
  size_t checksum_at;
};
// The header and each block of a whole stream.
std::vector<Part> parts_of(ByteSpan stream) {
  const auto head = stream::header_bytes(stream);
  std::vector<Part> parts{{0, **head, **head - 4}};
  const auto header = stream::read_header(stream.first(**head));
  for (size_t at = **head; at < stream.size(); at += parts.back().size) {
    const auto block = stream::read_block_header(stream.subspan(at), *header);
    parts.push_back({at, stream::block_header_bytes + block->payload_bytes, at + 20});
  }
  return parts;
}
// Checksums as if what stands there were what had been written.
void sign(Bytes& stream, const std::vector<Part>& parts) {
  for (const Part& part : parts) {
    const auto crc32 = kernels().stream->crc32;
    const size_t behind = part.checksum_at + 4;
    uint32_t state = crc32(0, stream.data() + part.begin, part.checksum_at - part.begin);
    state = crc32(state, stream.data() + behind, part.begin + part.size - behind);
    std::memcpy(stream.data() + part.checksum_at, &state, sizeof state);
  }
}

// Small, with a side stream with runs, and three directions; codebooks of its own or offline ones, and kept
// ones.
Bytes small_stream(CodebookRule rule) {
  StreamOptions o = options({4, 20, 12}, 1e-2);
  o.block_values = 256;
  o.chunk_bytes = 2048;
  o.fill = 1e20F;
  o.rule = rule;
  std::vector<float> field = test::rough_field<float>({12, 20, 4}, 0.05, 3);
  for (size_t i = 100; i < 130; ++i) field[i] = 1e20F;
  field[300] = std::numeric_limits<float>::quiet_NaN();
  field[301] = 1e9F;
  return encode(o, field);
}

bool begins_with(const std::vector<std::byte>& whole, const std::vector<std::byte>& begin) {
  return begin.size() <= whole.size() && std::equal(begin.begin(), begin.end(), whole.begin());
}

TEST(Decoder, EveryByteFlipped) {
  const Bytes stream = small_stream(CodebookRule::always);
  const Expected right = software(stream);
  ASSERT_TRUE(right.status.ok());
  const size_t values = right.values.size() / sizeof(float);
  NarrowDecoder decoder(6);
  test::Random random(1);
  for (size_t at = 0; at < stream.size(); ++at) {
    SCOPED_TRACE(at);
    Bytes flipped = stream;
    flipped[at] ^= static_cast<std::byte>(1U << random.below(8));
    const Decoded decoded = decoder.decode(flipped, values);
    EXPECT_NE(decoded.failure, none);
    EXPECT_TRUE(begins_with(right.values, decoded.values));
    if (HasFailure()) return;
  }
  EXPECT_EQ(decoder.decode(stream, values).failure, none);
}

// What checksums do not tell: a stream that was written wrong. Where software reads it, so does the decoder,
// or it says that it is not built for it.
TEST(Decoder, EveryByteFlippedAndSigned) {
  NarrowDecoder decoder(7);
  test::Random random(2);
  std::array<size_t, 16> seen{};
  for (const CodebookRule rule : {CodebookRule::always, CodebookRule::never}) {
    const Bytes stream = small_stream(rule);
    const std::vector<Part> parts = parts_of(stream);
    const size_t values = software(stream).values.size() / sizeof(float);
    for (size_t at = 0; at < stream.size(); ++at) {
      SCOPED_TRACE(at);
      Bytes flipped = stream;
      flipped[at] ^= static_cast<std::byte>(1U << random.below(8));
      sign(flipped, parts);
      const Expected expected = software(flipped);
      const Decoded decoded = decoder.decode(flipped, values);
      ++seen[static_cast<size_t>(decoded.failure)];
      if (!expected.status.ok()) {
        EXPECT_NE(decoded.failure, none) << expected.status.message();
      } else if (decoded.failure == none) {
        EXPECT_TRUE(decoded.values == expected.values);
      } else {
        EXPECT_TRUE(decoded.failure == not_built_for || decoded.failure == wrong_step) << decoded.failure;
      }
      if (HasFailure()) return;
    }
  }
  for (const Failure f : {none, header, not_built_for, block_header, codebook, codes, wrong_values}) {
    EXPECT_GT(seen[static_cast<size_t>(f)], 0U) << "no failure " << f;
  }
}

TEST(Decoder, EveryTruncation) {
  const Bytes stream = small_stream(CodebookRule::always);
  const Expected right = software(stream);
  NarrowDecoder decoder(8);
  for (size_t size = 0; size < stream.size(); ++size) {
    SCOPED_TRACE(size);
    const Decoded decoded = decoder.decode(ByteSpan(stream).first(size), right.values.size() / sizeof(float));
    EXPECT_EQ(decoded.failure, ends_early);
    EXPECT_TRUE(begins_with(right.values, decoded.values));
    if (HasFailure()) return;
  }
  Bytes longer = stream;
  longer.push_back(std::byte{0});
  EXPECT_EQ(decoder.decode(longer, right.values.size() / sizeof(float)).failure, wrong_values);
}

TEST(Decoder, NumbersOfFailures) {
  NarrowDecoder decoder(9);
  const Bytes good = small_stream(CodebookRule::always);
  const std::vector<Part> parts = parts_of(good);
  const auto failure = [&](size_t at, std::initializer_list<uint8_t> bytes, bool is_signed = true) {
    Bytes wrong = good;
    for (const uint8_t b : bytes) wrong[at++] = static_cast<std::byte>(b);
    if (is_signed) sign(wrong, parts);
    return decoder.decode(wrong, 1000).failure;
  };
  EXPECT_EQ(failure(0, {'N', 'E', 'V', 'E'}), not_a_stream);
  EXPECT_EQ(failure(4, {2}), version);
  EXPECT_EQ(failure(6, {1}), not_built_for);  // float64
  EXPECT_EQ(failure(6, {2}), header);         // no such type
  EXPECT_EQ(failure(9, {0}, false), header_checksum);
  EXPECT_EQ(failure(16, {0, 8}), not_built_for);  // blocks of 2048 values
  EXPECT_EQ(failure(20, {1, 4}), not_built_for);  // lines of 1025 values
  EXPECT_EQ(failure(16, {255, 0}), header);       // blocks of 255 values
  const size_t block = parts[1].begin;
  EXPECT_EQ(failure(8, {2}), not_built_for);                           // a raw stream
  EXPECT_EQ(failure(block + 2, {0x01 | 0x0c | 0x20}), not_built_for);  // extra bits
  EXPECT_EQ(failure(block + 2, {0x0c | 0x40}), not_built_for);         // a raw block
  EXPECT_EQ(failure(block + 2, {0x01 | 0x0c | 0x80}), block_header);   // a flag that there is not
  EXPECT_EQ(failure(block, {'B', 'N'}), block_header);
  EXPECT_EQ(failure(block + 20, {1, 2, 3, 4}, false), block_checksum);
  EXPECT_EQ(failure(block + 2, {8}), block_header);                 // its first block does not restart
  EXPECT_EQ(failure(block + 4, {0, 1, 0, 0, 1, 1}), block_header);  // more symbols than values
  // The bound: negative; far above the step.
  EXPECT_EQ(failure(block + 24 + 7, {0xbf}), wrong_step);
  EXPECT_EQ(failure(block + 24 + 6, {0xf0, 0x3f}), wrong_step);
  EXPECT_EQ(decoder.decode(good, 1000).failure, none);
}

// --- settings ----------------------------------------------------------------------------------------------

TEST(StepSettings, AsTheDriverMakesThem) {
  Clocked<Vstep_settings> dut(1);
  dut->rst = 1;
  dut->start = 0;
  dut.tick();
  dut->rst = 0;
  test::Random random(4);
  size_t taken = 0;
  for (int i = 0; i < 20000; ++i) {
    const double wide = std::ldexp(1 + random.uniform(), static_cast<int>(random.below(210)) - 105);
    // Steps of float32, as encoders set them, or of any bits; bounds around the half of them, and any.
    double step = i % 3 == 0 ? wide : static_cast<double>(static_cast<float>(wide));
    if (i % 50 == 0) step = std::ldexp(1.0, static_cast<int>(random.below(194)) - 97);
    if (i % 500 == 0) step = 0;
    double bound = step * (0.5 + std::ldexp(random.uniform(), -static_cast<int>(random.below(20))));
    if (i % 7 == 0) bound = std::ldexp(1 + random.uniform(), static_cast<int>(random.below(300)) - 150);
    SCOPED_TRACE(fmt::format("bound {} step {}", bound, step));
    dut->bound = std::bit_cast<uint64_t>(bound);
    dut->step_f64 = std::bit_cast<uint64_t>(step);
    dut->start = 1;
    dut.tick();
    dut->start = 0;
    for (int cycle = 0; dut->busy != 0; ++cycle) {
      dut.tick();
      ASSERT_LT(cycle, 64);
    }
    EXPECT_EQ(dut->is_none, 0);
    const auto expected = quantizer_settings(stream::stream_quantizer<float>(bound, step, {}));
    if (!expected.ok() || dut->refused != 0) {
      // At the threshold itself, half a step and what rounding adds, the decoder may refuse a bound.
      EXPECT_EQ(dut->refused, 1);
      if (expected.ok()) {
        EXPECT_LT(bound / step, 0.5 + 0x1p-19);
      }
      continue;
    }
    ++taken;
    constexpr StepFields fields(0);
    EXPECT_EQ(get(dut->step, fields.has_step) != 0, expected->has_step);
    if (!expected->has_step) continue;
    EXPECT_EQ(get(dut->step, fields.inverse), expected->inverse);
    EXPECT_EQ(get(dut->step, fields.inverse_shift), expected->inverse_shift);
    EXPECT_EQ(get(dut->step, fields.significand), expected->step);
    EXPECT_EQ(get(dut->step, fields.exponent), expected->step_exponent);
    EXPECT_EQ(get(dut->step, fields.is_power) != 0, expected->is_power);
    EXPECT_EQ(dut->limit, expected->limits[0]);
    if (HasFailure()) return;
  }
  EXPECT_GT(taken, 8000U);
}

}  // namespace
}  // namespace neve::rtl
