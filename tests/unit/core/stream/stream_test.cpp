// SPDX-License-Identifier: BSD-3-Clause
// Streams: what comes back, what hostile bytes do, which codebooks chunks get.
#include "neve/stream.hpp"

#include <gtest/gtest.h>
#include <xxhash.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>

#include "core/stream/codebook.hpp"
#include "core/stream/symbol_coder.hpp"
#include "tests/support/test_fields.hpp"

namespace neve {
namespace {

template <class T>
constexpr DType dtype_of = sizeof(T) == 4 ? DType::f32 : DType::f64;

template <class T>
uint64_t bits_of(T value) {
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return bits;
}

std::vector<std::byte> encode(const StreamOptions& options, const void* values, uint64_t count,
                              uint64_t at_once = UINT64_MAX) {
  auto encoder = StreamEncoder::create(options);
  EXPECT_TRUE(encoder.ok()) << encoder.status().message();
  const size_t value_bytes = dtype_bytes(options.dtype);
  for (uint64_t at = 0; at < count; at += std::min(at_once, count - at)) {
    const Status s = encoder->push(static_cast<const std::byte*>(values) + at * value_bytes,
                                   std::min(at_once, count - at));
    EXPECT_TRUE(s.ok()) << s.message();
  }
  const Status s = encoder->finish();
  EXPECT_TRUE(s.ok()) << s.message();
  return {encoder->output().begin(), encoder->output().end()};
}

template <class T>
std::vector<T> decode(std::span<const std::byte> bytes, size_t count) {
  std::vector<T> values(count);
  const Status s =
      decode_stream(bytes, reinterpret_cast<std::byte*>(values.data()), values.size() * sizeof(T));
  EXPECT_TRUE(s.ok()) << s.message();
  return values;
}

// Every value inside the bound; special ones bit for bit.
template <class T>
void expect_held(const std::vector<T>& before, const std::vector<T>& after, double bound,
                 std::optional<T> fill = {}) {
  ASSERT_EQ(before.size(), after.size());
  for (size_t i = 0; i < before.size(); ++i) {
    const T value = before[i];
    const bool is_special = !std::isfinite(value) || bits_of(value) == bits_of(T{-0.0}) ||
                            (fill && bits_of(value) == bits_of(*fill));
    if (is_special) {
      ASSERT_EQ(bits_of(value), bits_of(after[i])) << i;
    } else {
      ASSERT_LE(std::abs(static_cast<double>(after[i]) - static_cast<double>(value)), bound) << i;
    }
  }
}

// Rough, with jumps past what a symbol reaches, and every value that codecs trip over, alone and in runs.
template <class T>
std::vector<T> hard_field(const std::vector<int64_t>& size, uint64_t seed) {
  auto field = test::rough_field<T>(size, 0.02, seed);
  test::Random random(seed);
  const auto n = static_cast<int64_t>(field.size());
  for (const T special : test::special_values<T>()) {
    field[static_cast<size_t>(random.below(n))] = special;
    const int64_t begin = random.below(n);
    const int64_t end = std::min(n, begin + random.below(60));
    for (int64_t i = begin; i < end; ++i) field[static_cast<size_t>(i)] = special;
  }
  for (int k = 0; k < 20; ++k) field[static_cast<size_t>(random.below(n))] += T(50);
  return field;
}

template <class T>
StreamOptions options_of(std::vector<uint64_t> shape, double bound) {
  StreamOptions o;
  o.dtype = dtype_of<T>;
  o.shape = std::move(shape);
  o.bound = {BoundMode::abs, bound};
  return o;
}

template <class T>
class StreamOf : public testing::Test {};
using FloatTypes = testing::Types<float, double>;
TYPED_TEST_SUITE(StreamOf, FloatTypes);

TYPED_TEST(StreamOf, EveryValueComesBackInsideTheBound) {
  using T = TypeParam;
  const std::vector<std::vector<uint64_t>> shapes{
      {}, {1}, {9000}, {37, 143}, {11, 23, 31}, {3, 1, 40, 50}, {2, 3, 5, 7, 11}, {70000}};
  for (const auto& shape : shapes) {
    std::vector<int64_t> size(shape.rbegin(), shape.rend());
    const auto field = hard_field<T>(size.empty() ? std::vector<int64_t>{1} : size, 5);
    for (const double bound : {1e-1, 1e-3, 1e-6, 1e-30, 1e30}) {
      for (const uint32_t restart_blocks : {0U, 3U}) {
        StreamOptions o = options_of<T>(shape, bound);
        o.fill = -999;
        o.block_values = 1000;
        o.chunk_bytes = 20000;
        o.restart_blocks = restart_blocks;
        const auto bytes = encode(o, field.data(), field.size());
        expect_held<T>(field, decode<T>(bytes, field.size()), bound, T(-999));
        if (this->HasFailure()) FAIL() << shape.size() << " dimensions, bound " << bound;
      }
    }
  }
}

TYPED_TEST(StreamOf, BytesDependOnNothingButValuesAndOptions) {
  using T = TypeParam;
  const auto field = hard_field<T>({50, 40, 9}, 6);
  StreamOptions o = options_of<T>({0, 40, 50}, 1e-3);
  o.block_values = 777;
  o.chunk_bytes = 30000;
  const auto whole = encode(o, field.data(), field.size());
  EXPECT_EQ(whole, encode(o, field.data(), field.size(), 1));
  EXPECT_EQ(whole, encode(o, field.data(), field.size(), 1013));
  const std::string before = simd_target();
  for (const std::string& target : simd_targets()) {
    ASSERT_TRUE(set_simd_target(target).ok());
    EXPECT_EQ(whole, encode(o, field.data(), field.size())) << target;
    expect_held<T>(field, decode<T>(whole, field.size()), 1e-3);
  }
  ASSERT_TRUE(set_simd_target(before).ok());

  auto encoder = StreamEncoder::create(o);
  ASSERT_TRUE(encoder.ok());
  for (int round = 0; round < 3; ++round) {
    encoder->reset();
    ASSERT_TRUE(encoder->push(field.data(), field.size()).ok());
    ASSERT_TRUE(encoder->finish().ok());
    EXPECT_TRUE(std::ranges::equal(whole, encoder->output())) << "round " << round;
  }
}

// Incompressible values, with some of every kind.
template <class T>
std::vector<T> noise(size_t count, uint64_t seed) {
  std::vector<T> values(count);
  test::Random random(seed);
  const auto specials = test::special_values<T>();
  for (size_t i = 0; i < count; ++i) {
    values[i] = static_cast<T>((random.uniform() - 0.5) * 1e30);
    if (i % 97 == 5) values[i] = specials[i / 97 % specials.size()];
  }
  return values;
}

template <class T>
std::vector<std::vector<T>> incompressible(size_t count) {
  std::vector<T> tiny(count);
  test::Random random(2);
  for (T& value : tiny) value = static_cast<T>(random.uniform()) * std::numeric_limits<T>::min() / 2;
  return {noise<T>(count, 1), tiny, std::vector<T>(count, T(1))};
}

TYPED_TEST(StreamOf, NothingTakesMoreThanItsValuesAnd64Bytes) {
  using T = TypeParam;
  const std::vector<std::vector<uint64_t>> shapes{
      {}, {1}, {2}, {3, 1}, {5, 7}, {40}, {3, 5, 7}, {200}, {1000}, {9, 30, 40}, {70000}, {1, 1, 1, 2, 3}};
  for (const auto& shape : shapes) {
    uint64_t count = 1;
    for (const uint64_t n : shape) count *= n;
    for (const auto& values : incompressible<T>(count)) {
      for (const double bound : {1e-300, 1e-3}) {
        StreamOptions o = options_of<T>(shape, bound);
        o.block_values = 1024;
        const auto bytes = encode(o, values.data(), count);
        EXPECT_LE(bytes.size(), count * sizeof(T) + 64) << shape.size() << " dimensions, " << count;
        expect_held<T>(values, decode<T>(bytes, count), bound);
        EXPECT_EQ(bytes, encode(o, values.data(), count, 13));
        StreamDecoder decoder;
        for (const std::byte& b : bytes) ASSERT_TRUE(decoder.push({&b, 1}).ok());
        ASSERT_TRUE(decoder.has_ended());
        EXPECT_TRUE(decoder.finish().ok());
        EXPECT_EQ(decoder.output().size(), count * sizeof(T));
      }
    }
  }
}

// An encoder whose first chunk has left cannot take its header back.
TYPED_TEST(StreamOf, LaterChunksThatAreNoiseCostABlockHeaderEach) {
  using T = TypeParam;
  const auto values = noise<T>(50000, 3);
  StreamOptions o = options_of<T>({0}, 1e-3);
  o.chunk_bytes = 10000 * sizeof(T);
  o.block_values = 1000;
  const auto bytes = encode(o, values.data(), values.size());
  const auto contents = describe_stream(bytes);
  ASSERT_TRUE(contents.ok());
  EXPECT_EQ(5U, contents->blocks.size());
  for (const StreamBlock& block : contents->blocks) EXPECT_TRUE(block.is_raw);
  EXPECT_LE(bytes.size(), values.size() * sizeof(T) + 100 + 5 * 24);
  expect_held<T>(values, decode<T>(bytes, values.size()), 1e-3);
  // All at once there is nothing to take back.
  StreamArrayOptions array;
  array.stream = o;
  const std::vector<uint64_t> shape{values.size()};
  std::vector<ChunkReport> reports;
  const auto whole = encode_stream(o.dtype, shape, values.data(), array, &reports);
  ASSERT_TRUE(whole.ok());
  EXPECT_LE(whole->size(), values.size() * sizeof(T) + 64);
  for (const ChunkReport& r : reports) EXPECT_EQ(r.values, r.raw_values);
  expect_held<T>(values, decode<T>(*whole, values.size()), 1e-3);
}

TYPED_TEST(StreamOf, TightBoundsHaveExtraBits) {
  using T = TypeParam;
  const auto field = hard_field<T>({50, 40, 30}, 8);
  StreamOptions o = options_of<T>({30, 40, 50}, 1e-5);
  o.fill = -999;
  o.block_values = 5000;
  const auto bytes = encode(o, field.data(), field.size());
  const auto contents = describe_stream(bytes);
  ASSERT_TRUE(contents.ok());
  for (const StreamBlock& block : contents->blocks) EXPECT_TRUE(block.has_extra_bits);
  expect_held<T>(field, decode<T>(bytes, field.size()), 1e-5, T(-999));
  EXPECT_EQ(bytes, encode(o, field.data(), field.size(), 999));
  const std::string before = simd_target();
  for (const std::string& target : simd_targets()) {
    ASSERT_TRUE(set_simd_target(target).ok());
    EXPECT_EQ(bytes, encode(o, field.data(), field.size())) << target;
    expect_held<T>(field, decode<T>(bytes, field.size()), 1e-5, T(-999));
  }
  ASSERT_TRUE(set_simd_target(before).ok());
  // The engine's have none, and are larger.
  o.for_engine = true;
  const auto of_engine = encode(o, field.data(), field.size());
  const auto engine_contents = describe_stream(of_engine);
  ASSERT_TRUE(engine_contents.ok());
  for (const StreamBlock& block : engine_contents->blocks) {
    EXPECT_FALSE(block.has_extra_bits || block.is_raw);
  }
  EXPECT_GT(of_engine.size(), bytes.size() * 5 / 4);
  expect_held<T>(field, decode<T>(of_engine, field.size()), 1e-5, T(-999));
}

// Values of 256 to 512 are multiples of 2^-15 in f32: below that a bound asks for nothing that is not there.
TEST(Stream, BoundsBelowTheLastPlaceCostNoMoreThanExactness) {
  auto field = test::rough_field<float>({100, 60, 20}, 0.02, 11);
  for (float& value : field) value = 300 + value;
  size_t sizes[2];
  int k = 0;
  for (const double bound : {2e-5, 1e-9}) {
    StreamOptions o = options_of<float>({20, 60, 100}, bound);
    o.range = {256.5, 400, false};
    const auto bytes = encode(o, field.data(), field.size());
    EXPECT_EQ(field, decode<float>(bytes, field.size()));
    sizes[k++] = bytes.size();
  }
  EXPECT_LE(sizes[1], sizes[0] + sizes[0] / 50);
  EXPECT_LT(sizes[1], field.size() * 3);
}

TYPED_TEST(StreamOf, DecodesFromPiecesAsTheyCome) {
  using T = TypeParam;
  const auto field = hard_field<T>({60, 300}, 7);
  StreamOptions o = options_of<T>({0, 60}, 1e-3);
  o.block_values = 500;
  o.chunk_bytes = 5000 * sizeof(T);
  const auto bytes = encode(o, field.data(), field.size());
  for (const size_t piece : {size_t{1}, size_t{97}, size_t{5000}, bytes.size()}) {
    StreamDecoder decoder;
    std::vector<std::byte> out;
    bool had_values_early = false;
    for (size_t at = 0; at < bytes.size(); at += piece) {
      const Status s = decoder.push(std::span(bytes).subspan(at, std::min(piece, bytes.size() - at)));
      ASSERT_TRUE(s.ok()) << s.message();
      had_values_early |= at + piece < bytes.size() && !decoder.output().empty();
      out.insert(out.end(), decoder.output().begin(), decoder.output().end());
      decoder.clear_output();
    }
    ASSERT_TRUE(decoder.finish().ok());
    EXPECT_EQ(piece < bytes.size(), had_values_early);
    EXPECT_EQ((std::vector<uint64_t>{300, 60}), decoder.info().shape);
    const auto expected = decode<T>(bytes, field.size());
    ASSERT_EQ(out.size(), expected.size() * sizeof(T));
    EXPECT_EQ(0, std::memcmp(out.data(), expected.data(), out.size()));
  }
}

TEST(Stream, FirstBytesLeaveBeforeTheLastValuesCome) {
  const auto field = test::rough_field<float>({100000}, 0.01, 1);
  StreamOptions o = options_of<float>({0}, 1e-3);
  o.chunk_bytes = 40000;
  auto encoder = StreamEncoder::create(o);
  ASSERT_TRUE(encoder.ok());
  const size_t header_bytes = encoder->output().size();
  ASSERT_TRUE(encoder->push(field.data(), 15000).ok());
  EXPECT_GT(encoder->output().size(), header_bytes);
  ASSERT_TRUE(encoder->flush().ok());
  StreamDecoder decoder;
  ASSERT_TRUE(decoder.push(encoder->output()).ok());
  EXPECT_EQ(15000 * sizeof(float), decoder.output().size());
  EXPECT_FALSE(decoder.has_ended());
  EXPECT_EQ(Code::corrupt, decoder.finish().code());
}

TEST(Stream, RunsOfFillValuesCostNextToNothing) {
  auto field = test::rough_field<float>({400, 300}, 0.01, 3);
  for (size_t i = 0; i < field.size(); ++i) {
    if (i % 400 < 200) field[i] = 1e20F;
  }
  StreamArrayOptions o;
  o.stream.bound = {BoundMode::rel, 1e-3};
  const std::vector<uint64_t> shape{300, 400};
  const auto bytes = encode_stream(DType::f32, shape, field.data(), o);
  ASSERT_TRUE(bytes.ok()) << bytes.status().message();
  const auto contents = describe_stream(*bytes);
  ASSERT_TRUE(contents.ok());
  EXPECT_EQ(1e20, static_cast<float>(contents->info.fill.value_or(0)) == 1e20F ? 1e20 : 0);
  const auto back = decode<float>(*bytes, field.size());
  expect_held<float>(field, back, 1e-3 * 1.5, 1e20F);
  std::vector<float> half(field.size() / 2, 1.0F);
  for (size_t i = 0, k = 0; i < field.size(); ++i) {
    if (field[i] != 1e20F) half[k++] = field[i];
  }
  const auto of_half = encode_stream(DType::f32, std::vector<uint64_t>{300, 200}, half.data(), o);
  ASSERT_TRUE(of_half.ok());
  EXPECT_LT(bytes->size(), of_half->size() * 11 / 10);
}

// Smooth along the lines, noise from line to line.
TEST(Stream, FewerDirectionsWhereTheOthersAreNoise) {
  constexpr size_t lines = 300;
  constexpr size_t width = 400;
  std::vector<float> field(lines * width);
  test::Random random(4);
  for (size_t y = 0; y < lines; ++y) {
    const double phase = 6 * random.uniform();
    for (size_t x = 0; x < width; ++x) {
      field[y * width + x] = static_cast<float>(std::sin(phase + 0.01 * static_cast<double>(x)));
    }
  }
  StreamOptions options = options_of<float>({lines, width}, 1e-3);
  const auto size_with = [&](int dims) {
    options.dims = dims;
    const auto bytes = encode(options, field.data(), field.size(), field.size());
    const auto contents = describe_stream(bytes);
    EXPECT_EQ(dims == 0 ? 2 : dims, contents->info.dims);
    expect_held<float>(field, decode<float>(bytes, field.size()), 1e-3);
    return bytes.size();
  };
  const size_t in_one = size_with(1);
  const size_t in_two = size_with(2);
  EXPECT_LT(in_one, in_two);
  EXPECT_EQ(in_two, size_with(0));
  options.dims = 0;
  EXPECT_EQ(1, *best_stream_dims(options, field.data()));
  StreamArrayOptions whole;
  whole.stream.bound = options.bound;
  const auto chosen = encode_stream(DType::f32, options.shape, field.data(), whole);
  ASSERT_TRUE(chosen.ok());
  EXPECT_EQ(1, describe_stream(*chosen)->info.dims);
  whole.stream.dims = 2;
  const auto as_told = encode_stream(DType::f32, options.shape, field.data(), whole);
  EXPECT_EQ(2, describe_stream(*as_told)->info.dims);

  // The other way round: what is the same in every line.
  for (size_t y = 1; y < lines; ++y) std::copy_n(field.begin(), width, &field[y * width]);
  for (size_t x = 0; x < width; ++x) {
    const auto noise = static_cast<float>(random.uniform());
    for (size_t y = 0; y < lines; ++y) field[y * width + x] += noise;
  }
  EXPECT_EQ(2, *best_stream_dims(options, field.data()));
}

TEST(Stream, OneOfflineCodebookAlone) {
  const auto field = test::rough_field<float>({100, 100}, 0.01, 3);
  StreamOptions options = options_of<float>({100, 100}, 1e-3);
  options.rule = CodebookRule::never;
  options.offline_codebook = 11;
  const auto bytes = encode(options, field.data(), field.size(), field.size());
  EXPECT_EQ(11, describe_stream(bytes)->blocks.at(0).offline_codebook);
  expect_held<float>(field, decode<float>(bytes, field.size()), 1e-3);
}

TEST(Stream, SmallOnesHaveNoTable) {
  for (const uint64_t side : {16U, 32U, 64U, 128U}) {
    const auto n = static_cast<int64_t>(side);
    const auto field = test::rough_field<float>({n, n}, 0.005, side);
    StreamArrayOptions o;
    o.stream.bound = {BoundMode::rel, 1e-3};
    std::vector<ChunkReport> reports;
    const auto bytes =
        encode_stream(DType::f32, std::vector<uint64_t>{side, side}, field.data(), o, &reports);
    ASSERT_TRUE(bytes.ok());
    ASSERT_EQ(1U, reports.size());
    EXPECT_EQ(CodebookKind::offline, reports[0].codebook);
    EXPECT_LT(bytes->size(), field.size() * sizeof(float) * 2 / 3) << side;
  }
}

TEST(Stream, UsageErrorsNameWhatIsAllowed) {
  const auto message = [](const StreamOptions& o) {
    const auto encoder = StreamEncoder::create(o);
    EXPECT_FALSE(encoder.ok());
    EXPECT_EQ(Code::usage, encoder.status().code());
    return encoder.status().message();
  };
  StreamOptions o = options_of<float>({10, 10}, 1e-3);
  o.bound = {BoundMode::lossless, 0};
  EXPECT_NE(std::string::npos, message(o).find("ratio=VALUE"));
  o.bound = {BoundMode::rel, 1e-3};
  EXPECT_NE(std::string::npos, message(o).find("range"));
  o = options_of<float>({10, 0}, 1e-3);
  EXPECT_NE(std::string::npos, message(o).find("slowest"));
  o = options_of<float>({10, 10}, 1e-3);
  o.block_values = 10;
  EXPECT_NE(std::string::npos, message(o).find("256 to "));
  o = options_of<float>({10, 10}, 1e-3);
  o.dtype = DType::i32;
  EXPECT_NE(std::string::npos, message(o).find("f32 and f64"));

  auto encoder = StreamEncoder::create(options_of<float>({4}, 1));
  ASSERT_TRUE(encoder.ok());
  const std::vector<float> five(5);
  EXPECT_EQ(Code::usage, encoder->push(five.data(), 5).code());
  ASSERT_TRUE(encoder->push(five.data(), 3).ok());
  EXPECT_EQ(Code::usage, encoder->finish().code());
  ASSERT_TRUE(encoder->push(five.data(), 1).ok());
  ASSERT_TRUE(encoder->finish().ok());
  EXPECT_EQ(Code::usage, encoder->finish().code());
}

// --- hostile bytes ------------------------------------------------------------------------------------

enum class Sample { symbols, extra_bits, raw_blocks, raw_stream };
constexpr Sample samples[] = {Sample::symbols, Sample::extra_bits, Sample::raw_blocks, Sample::raw_stream};

std::vector<std::byte> sample_stream(size_t* values, Sample sample = Sample::symbols) {
  auto field = hard_field<float>({30, 20, 10}, 9);
  const auto incompressible = noise<float>(1200, 4);
  if (sample == Sample::raw_blocks) std::ranges::copy(incompressible, field.begin() + 3000);
  if (sample == Sample::raw_stream) field = incompressible;
  StreamOptions o = options_of<float>({0, 20, 30}, sample == Sample::extra_bits ? 1e-5 : 1e-3);
  o.block_values = sample == Sample::raw_blocks ? 600 : 1500;
  o.chunk_bytes = 12000;
  o.rule = CodebookRule::always;
  *values = field.size();
  return encode(o, field.data(), field.size());
}

class StreamCorruptOf : public testing::TestWithParam<Sample> {};
INSTANTIATE_TEST_SUITE_P(Samples, StreamCorruptOf, testing::ValuesIn(samples));

TEST_P(StreamCorruptOf, EveryTruncationIsAnError) {
  size_t values = 0;
  const auto bytes = sample_stream(&values, GetParam());
  std::vector<float> out(values);
  for (size_t size = 0; size < bytes.size(); ++size) {
    const Status s = decode_stream(std::span(bytes).first(size), reinterpret_cast<std::byte*>(out.data()),
                                   out.size() * sizeof(float));
    ASSERT_EQ(Code::corrupt, s.code()) << size;
    StreamDecoder decoder;
    const Status pushed = decoder.push(std::span(bytes).first(size));
    ASSERT_TRUE(!pushed.ok() || !decoder.finish().ok()) << size;
  }
}

TEST_P(StreamCorruptOf, EveryFlippedByteIsAnError) {
  size_t values = 0;
  auto bytes = sample_stream(&values, GetParam());
  std::vector<float> out(values);
  for (size_t at = 0; at < bytes.size(); ++at) {
    for (const int flip : {0x01, 0x80, 0xff}) {
      bytes[at] ^= static_cast<std::byte>(flip);
      const Status s =
          decode_stream(bytes, reinterpret_cast<std::byte*>(out.data()), out.size() * sizeof(float));
      ASSERT_EQ(Code::corrupt, s.code()) << at;
      bytes[at] ^= static_cast<std::byte>(flip);
    }
  }
  bytes.push_back(std::byte{0});
  EXPECT_EQ(Code::corrupt, describe_stream(bytes).status().code());
  StreamDecoder decoder;
  EXPECT_EQ(Code::corrupt, decoder.push(bytes).code());
}

// CRC-32 bit by bit.
void repair_checksum(std::vector<std::byte>& bytes, size_t block, size_t size) {
  constexpr size_t head = 20;
  uint32_t crc = ~0U;
  for (size_t i = 0; i < size; ++i) {
    if (i >= head && i < head + 4) continue;
    crc ^= static_cast<uint32_t>(bytes[block + i]);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ ((crc & 1) != 0 ? 0xEDB88320U : 0U);
  }
  crc = ~crc;
  std::memcpy(bytes.data() + block + head, &crc, sizeof crc);
}

// With checksums made good again, what is behind them has to hold.
class StreamBlocksOf : public testing::TestWithParam<Sample> {};
INSTANTIATE_TEST_SUITE_P(Samples, StreamBlocksOf, testing::ValuesIn(std::span(samples).first(3)));

TEST_P(StreamBlocksOf, DamageWithGoodChecksumsDoesNotCrash) {
  size_t values = 0;
  const auto good = sample_stream(&values, GetParam());
  const auto contents = describe_stream(good);
  ASSERT_TRUE(contents.ok());
  size_t header = good.size();
  for (const StreamBlock& b : contents->blocks) header -= b.stored_bytes;
  std::vector<float> out(values);
  test::Random random(4);
  int errors = 0;
  for (int round = 0; round < 3000; ++round) {
    auto bytes = good;
    size_t block = header;
    const auto chosen = static_cast<size_t>(random.below(static_cast<int64_t>(contents->blocks.size())));
    for (size_t b = 0; b < chosen; ++b) block += contents->blocks[b].stored_bytes;
    const size_t size = contents->blocks[chosen].stored_bytes;
    const int damage = 1 + static_cast<int>(random.below(3));
    for (int k = 0; k < damage; ++k) {
      // The head's fields often, its checksum never.
      auto at = static_cast<size_t>(random.below(static_cast<int64_t>(random.below(2) == 0 ? 20 : size)));
      if (at >= 20 && at < 24) at = 3;
      bytes[block + at] = static_cast<std::byte>(random.next());
    }
    repair_checksum(bytes, block, size);
    errors += decode_stream(bytes, reinterpret_cast<std::byte*>(out.data()), out.size() * sizeof(float)).ok()
                  ? 0
                  : 1;
  }
  EXPECT_GT(errors, 1000);
}

TEST(StreamCorrupt, ASmallHeaderClaimsNoMemory) {
  StreamOptions o = options_of<float>({uint64_t{1} << 10, uint64_t{1} << 14, uint64_t{1} << 15}, 1e-3);
  auto encoder = StreamEncoder::create(o);
  ASSERT_TRUE(encoder.ok());
  StreamDecoder decoder;
  ASSERT_TRUE(decoder.push(encoder->output()).ok());
  EXPECT_TRUE(decoder.has_info());
  EXPECT_TRUE(decoder.output().empty());
}

// --- codebooks ----------------------------------------------------------------------------------------

stream::SymbolCounts laplace_counts(double width, uint32_t total, uint32_t escapes, uint64_t seed) {
  stream::SymbolCounts counts{};
  test::Random random(seed);
  for (size_t s = 1; s < wide_symbol_count; ++s) {
    const double distance = std::abs(static_cast<double>(s) - 512);
    counts[s] = static_cast<uint32_t>(total / width * std::exp(-distance / width) * (0.5 + random.uniform()));
  }
  counts[wide_symbol_escape] = escapes;
  return counts;
}

TEST(StreamCodebooks, ApproximateOrderHoldsEachSymbolOnceAndPutsTheEscapeByItsCount) {
  const auto counts = laplace_counts(12, 100000, 900, 2);
  std::array<uint16_t, wide_symbol_count> ascending;
  const size_t used = stream::approximate_order(counts, ascending);
  std::vector<uint16_t> order(ascending.begin(), ascending.begin() + static_cast<ptrdiff_t>(used));
  const auto escape = std::find(order.begin(), order.end(), wide_symbol_escape);
  ASSERT_NE(order.end(), escape);
  ASSERT_NE(order.end() - 1, escape);
  EXPECT_LE(900U, counts[*(escape + 1)] * 2);
  EXPECT_GE(900U * 2, counts[*(escape - 1)]);
  std::sort(order.begin(), order.end());
  EXPECT_EQ(order.end(), std::adjacent_find(order.begin(), order.end()));
  EXPECT_EQ(static_cast<ptrdiff_t>(used),
            std::count_if(counts.begin(), counts.end(), [](uint32_t c) { return c > 0; }));
}

TEST(StreamCodebooks, BuiltCodebooksAreNearTheEntropyAndComeBack) {
  for (const double width : {0.2, 1.0, 5.0, 40.0, 300.0}) {
    const auto counts = laplace_counts(width, 1000000, 500, 3);
    const stream::Codebook codebook = stream::make_codebook(counts);
    double total = 0;
    double entropy_bits = 0;
    for (const uint32_t c : counts) total += c;
    for (const uint32_t c : counts) {
      if (c > 0) entropy_bits -= c * std::log2(c / total);
    }
    const auto bits = static_cast<double>(stream::coded_bits(codebook, counts));
    EXPECT_LT(bits, std::max(entropy_bits * 1.02, total * 1.05) + total * 0.04) << width;
    Bytes written;
    stream::write_codebook(codebook, written);
    EXPECT_EQ(stream::codebook_bytes(codebook), written.size());
    ByteReader in(written);
    const auto back = stream::read_codebook(in);
    ASSERT_TRUE(back.ok()) << back.status().message();
    EXPECT_EQ(codebook, *back);
    EXPECT_EQ(0U, in.remaining());
    for (size_t size = 0; size < written.size(); ++size) {
      ByteReader cut(ByteSpan(written).first(size));
      EXPECT_FALSE(stream::read_codebook(cut).ok()) << size;
    }
  }
}

TEST(StreamCodebooks, OfflineOnesAreCompleteAndHaveEverySymbol) {
  EXPECT_GE(stream::offline_codebooks().size(), 8U);
  for (const stream::Codebook& codebook : stream::offline_codebooks()) {
    uint64_t kraft = 0;
    for (const uint8_t length : codebook.length) {
      ASSERT_GE(length, 1);
      ASSERT_LE(length, stream::max_wide_code_bits);
      kraft += uint64_t{1} << (stream::max_wide_code_bits - length);
    }
    EXPECT_EQ(uint64_t{1} << stream::max_wide_code_bits, kraft);
  }
}

TEST(StreamCodebooks, CodesOfAnyCodebookDecodeAloneAndSideBySide) {
  for (const double width : {0.1, 3.0, 200.0}) {
    const auto counts = laplace_counts(width, 20000, 30, 5);
    std::vector<uint16_t> symbols;
    for (size_t s = 0; s < wide_symbol_count; ++s) {
      symbols.insert(symbols.end(), counts[s] > 0 ? 1 + counts[s] % 50 : 0, static_cast<uint16_t>(s));
    }
    test::Random random(6);
    for (size_t i = symbols.size(); i > 1; --i) {
      std::swap(symbols[i - 1], symbols[static_cast<size_t>(random.below(static_cast<int64_t>(i)))]);
    }
    const stream::Codebook codebook = stream::make_codebook(counts);
    stream::CodeTable codes;
    stream::make_code_table(codebook, codes);
    std::vector<std::byte> bytes(stream::coded_bytes_limit(symbols.size()));
    bytes.resize(stream::encode_symbols(symbols, codes, bytes.data()));
    const stream::DecodeTable table(codebook);
    for (const size_t lanes : {size_t{1}, stream::decode_side_by_side}) {
      std::vector<std::vector<uint16_t>> out(lanes,
                                             std::vector<uint16_t>(symbols.size() + stream::decode_padding));
      std::vector<stream::SymbolBlock> blocks;
      for (auto& o : out) blocks.push_back({bytes, std::span(o).first(symbols.size())});
      const Status s = stream::decode_symbols(blocks, table);
      ASSERT_TRUE(s.ok()) << s.message();
      for (const auto& o : out) EXPECT_TRUE(std::equal(symbols.begin(), symbols.end(), o.begin()));
      for (auto& block : blocks) block.codes = block.codes.first(bytes.size() - 1);
      EXPECT_EQ(Code::corrupt, stream::decode_symbols(blocks, table).code());
    }
  }
}

// Chunks of 2^15 values, each of its own roughness.
std::vector<ChunkReport> reports_of(const std::vector<double>& roughness, CodebookRule rule,
                                    uint64_t* bytes = nullptr) {
  constexpr int64_t chunk = 1 << 15;
  std::vector<float> field;
  for (size_t c = 0; c < roughness.size(); ++c) {
    const auto part = test::rough_field<float>({chunk}, roughness[c], 1 + c);
    field.insert(field.end(), part.begin(), part.end());
  }
  StreamOptions o = options_of<float>({field.size()}, 1e-3);
  o.chunk_bytes = chunk * sizeof(float);
  o.rule = rule;
  auto encoder = StreamEncoder::create(o);
  EXPECT_TRUE(encoder.ok());
  EXPECT_TRUE(encoder->push(field.data(), field.size()).ok());
  EXPECT_TRUE(encoder->finish().ok());
  const auto out = encoder->output();
  expect_held<float>(field, decode<float>(out, field.size()), 1e-3);
  if (bytes != nullptr) *bytes = out.size();
  return {encoder->reports().begin(), encoder->reports().end()};
}

TEST(StreamCodebooks, ExactCostTakesTheCheapestAndSaysWhy) {
  uint64_t exact = 0, always = 0, never = 0, chi = 0;
  const std::vector<double> mixed{0.01, 0.01, 0.3, 0.3, 0.01, 0.05, 0.05, 0.9, 0.01};
  for (const ChunkReport& r : reports_of(mixed, CodebookRule::exact_cost, &exact)) {
    const uint64_t taken = r.codebook == CodebookKind::kept      ? r.kept_bits
                           : r.codebook == CodebookKind::rebuilt ? r.rebuilt_bits
                                                                 : r.offline_bits;
    for (const uint64_t bits : {r.kept_bits, r.rebuilt_bits, r.offline_bits}) {
      EXPECT_TRUE(bits == 0 || taken <= bits);
    }
    EXPECT_TRUE(r.reason == CodebookReason::first || r.reason == CodebookReason::fewest_bytes);
  }
  reports_of(mixed, CodebookRule::always, &always);
  reports_of(mixed, CodebookRule::never, &never);
  reports_of(mixed, CodebookRule::chi, &chi);
  EXPECT_LE(exact, std::min({always, never, chi}));
  EXPECT_LT(exact * 110, never * 100);
}

TEST(StreamCodebooks, ChiKeepsRebuildsAndFallsBack) {
  const auto reports = reports_of({0.5, 0.5, 0.1, 0.002, 0.002}, CodebookRule::chi);
  ASSERT_EQ(5U, reports.size());
  EXPECT_EQ(CodebookReason::first, reports[0].reason);
  EXPECT_EQ(CodebookKind::offline, reports[0].codebook);
  EXPECT_EQ(CodebookReason::small_change, reports[1].reason);
  EXPECT_EQ(CodebookKind::kept, reports[1].codebook);
  for (const ChunkReport& r : reports) {
    if (r.reason == CodebookReason::change || r.reason == CodebookReason::missing_code) {
      EXPECT_EQ(CodebookKind::rebuilt, r.codebook);
    }
    if (r.reason == CodebookReason::large_change) {
      EXPECT_EQ(CodebookKind::offline, r.codebook);
      EXPECT_GT(r.chi, 9.69);
    }
    if (r.reason == CodebookReason::change) {
      EXPECT_GT(r.chi, 5.18);
    }
  }
  EXPECT_EQ(CodebookReason::large_change, reports[3].reason);
}

TEST(StreamCodebooks, AlwaysAndNeverDoAsTheySay) {
  for (const ChunkReport& r : reports_of({0.5, 0.01, 0.1}, CodebookRule::always))
    EXPECT_EQ(CodebookKind::rebuilt, r.codebook);
  const auto never = reports_of({0.5, 0.01, 0.1}, CodebookRule::never);
  EXPECT_EQ(CodebookKind::offline, never[0].codebook);
  EXPECT_EQ(CodebookKind::kept, never[1].codebook);
  EXPECT_EQ(CodebookKind::kept, never[2].codebook);
  EXPECT_FALSE(parse_codebook_rule("sometimes").ok());
  EXPECT_EQ(CodebookRule::chi, *parse_codebook_rule("chi"));
}

// --- ratio and PSNR -----------------------------------------------------------------------------------

template <class T>
double psnr_of(const std::vector<T>& before, const std::vector<T>& after) {
  const auto [lo, hi] = std::minmax_element(before.begin(), before.end());
  double squares = 0;
  for (size_t i = 0; i < before.size(); ++i) squares += std::pow(double(after[i]) - double(before[i]), 2);
  return 20 * std::log10((*hi - *lo) / std::sqrt(squares / double(before.size())));
}

TYPED_TEST(StreamOf, ReachesARatio) {
  using T = TypeParam;
  for (const double ratio : {4.0, 8.0, 10.5, 16.0}) {
    for (const double noise : {0.5, 0.01}) {
      const auto field = test::rough_field<T>({100, 90, 80}, noise, 11);
      StreamArrayOptions o;
      o.stream.bound = {BoundMode::ratio, ratio};
      o.stream.chunk_bytes = 400000;
      std::vector<ChunkReport> reports;
      const auto bytes =
          encode_stream(dtype_of<T>, std::vector<uint64_t>{80, 90, 100}, field.data(), o, &reports);
      ASSERT_TRUE(bytes.ok()) << bytes.status().message();
      const double reached = double(field.size() * sizeof(T)) / double(bytes->size());
      EXPECT_NEAR(1, reached / ratio, 0.05) << ratio;
      double bound = 0;
      for (const ChunkReport& r : reports) bound = std::max(bound, r.bound_abs);
      expect_held<T>(field, decode<T>(*bytes, field.size()), bound);
    }
  }
}

TYPED_TEST(StreamOf, ReachesAPsnrAndNeverLess) {
  using T = TypeParam;
  for (const double psnr : {40.0, 60.0, 90.0}) {
    const auto field = test::rough_field<T>({100, 90, 20}, 0.1, 12);
    StreamArrayOptions o;
    o.stream.bound = {BoundMode::psnr, psnr};
    o.stream.chunk_bytes = 200000;
    const auto bytes = encode_stream(dtype_of<T>, std::vector<uint64_t>{20, 90, 100}, field.data(), o);
    ASSERT_TRUE(bytes.ok()) << bytes.status().message();
    const double reached = psnr_of(field, decode<T>(*bytes, field.size()));
    EXPECT_GE(reached, psnr);
    EXPECT_LE(reached, psnr + 1.5);
  }
}

// A step beyond the largest number would be none.
TYPED_TEST(StreamOf, RangesUpToTheLargestNumberKeepTheirBound) {
  using T = TypeParam;
  const T largest = std::numeric_limits<T>::max();
  std::vector<T> values;
  for (int i = 0; i < 3000; ++i)
    values.push_back(i % 3 == 0 ? largest : -largest + largest / 1000 * T(i % 7));
  for (const bool for_engine : {false, true}) {
    for (const Bound bound : {Bound{BoundMode::psnr, 5}, Bound{BoundMode::psnr, 50},
                              Bound{BoundMode::rel, 0.9}, Bound{BoundMode::ratio, 4}}) {
      StreamOptions o = options_of<T>({3000}, 1);
      o.bound = bound;
      o.bound.best_effort = bound.mode == BoundMode::ratio;
      o.range = {-largest, largest, false};
      o.chunk_bytes = 4096;
      o.for_engine = for_engine;
      const auto bytes = encode(o, values.data(), values.size());
      const auto contents = describe_stream(bytes);
      ASSERT_TRUE(contents.ok()) << contents.status().message();
      double bound_abs = 0;
      for (const StreamBlock& block : contents->blocks) bound_abs = std::max(bound_abs, block.bound_abs);
      const auto back = decode<T>(bytes, values.size());
      for (size_t i = 0; i < values.size(); ++i) {
        ASSERT_LE(std::abs(static_cast<double>(back[i]) / 4 - static_cast<double>(values[i]) / 4),
                  bound_abs / 4);
      }
    }
  }
}

TYPED_TEST(StreamOf, RunsReachRatiosBeyondABitAValueWithoutAnyError) {
  using T = TypeParam;
  std::vector<T> steps;
  for (int i = 0; i < 60000; ++i) steps.push_back(static_cast<T>(1.7 * (i / 500)));
  for (const double ratio : {3.0, 21.0, 50.0}) {
    StreamOptions o = options_of<T>({60000}, 1);
    o.bound = {BoundMode::ratio, ratio};
    const auto bytes = encode(o, steps.data(), steps.size());
    EXPECT_GE(static_cast<double>(steps.size() * sizeof(T)), ratio * static_cast<double>(bytes.size()));
    EXPECT_EQ(steps, decode<T>(bytes, steps.size()));
  }
}

// Header and step count: of short streams they are much of what there is.
TYPED_TEST(StreamOf, ShortStreamsReachWhatSomeBoundReaches) {
  using T = TypeParam;
  for (const uint64_t count : {100U, 300U, 1000U, 5000U}) {
    std::vector<T> line;
    for (uint64_t i = 0; i < count; ++i)
      line.push_back(static_cast<T>(std::sin(static_cast<double>(i) / 50)));
    const std::vector<uint64_t> shape{count};
    for (const double bound : {1e-5, 1e-3, 1e-2, 0.1}) {
      StreamArrayOptions under;
      under.stream.bound = {BoundMode::abs, bound};
      const auto found = encode_stream(dtype_of<T>, shape, line.data(), under);
      ASSERT_TRUE(found.ok());
      StreamArrayOptions asked;
      asked.stream.bound = {BoundMode::ratio,
                            static_cast<double>(count * sizeof(T)) / static_cast<double>(found->size())};
      if (asked.stream.bound.value <= 1) continue;
      std::vector<ChunkReport> reports;
      const auto made = encode_stream(dtype_of<T>, shape, line.data(), asked, &reports);
      ASSERT_TRUE(made.ok()) << made.status().message();
      EXPECT_LE(reports.at(0).max_abs_error, 1.3 * bound) << count;
    }
  }
}

TEST(Stream, ReportsTheLargestErrorOfWhatIsNotExact) {
  for (const bool for_engine : {false, true}) {
    for (const double bound : {1e-1, 1e-3, 1e-5, 1e-9}) {
      const auto field = hard_field<float>({40, 30, 20}, 12);
      StreamOptions o = options_of<float>({20, 30, 40}, bound);
      o.for_engine = for_engine;
      auto encoder = StreamEncoder::create(o);
      ASSERT_TRUE(encoder.ok());
      ASSERT_TRUE(encoder->push(field.data(), field.size()).ok());
      ASSERT_TRUE(encoder->finish().ok());
      const auto back = decode<float>(encoder->output(), field.size());
      float largest = 0;
      for (size_t i = 0; i < field.size(); ++i) {
        if (std::isfinite(field[i])) largest = std::max(largest, std::abs(back[i] - field[i]));
      }
      EXPECT_EQ(largest, static_cast<float>(encoder->reports()[0].max_abs_error)) << bound;
    }
  }
}

TEST(Stream, ArraysWithoutValuesOfAnyShape) {
  for (const std::vector<uint64_t>& shape : {std::vector<uint64_t>{0}, {0, 3}, {5, 0}, {2, 0, 4}}) {
    for (const Bound bound :
         {Bound{BoundMode::abs, 1}, Bound{BoundMode::ratio, 10}, Bound{BoundMode::psnr, 50}}) {
      StreamArrayOptions options;
      options.stream.bound = bound;
      const auto bytes = encode_stream(DType::f64, shape, nullptr, options);
      ASSERT_TRUE(bytes.ok()) << bytes.status().message();
      const auto contents = describe_stream(*bytes);
      ASSERT_TRUE(contents.ok()) << contents.status().message();
      EXPECT_EQ(shape, contents->info.shape);
      EXPECT_EQ(0U, contents->values);
      EXPECT_TRUE(decode_stream(*bytes, nullptr, 0).ok());
    }
  }
}

TEST(Stream, ARatioOutOfReachIsSaidAtTheEnd) {
  test::Random random(6);
  std::vector<float> values(30000);
  for (float& v : values) v = static_cast<float>(random.uniform());
  values[7] = 1e30F;
  std::fill(values.begin() + 100, values.end(), std::numeric_limits<float>::infinity());
  for (size_t i = 0; i < values.size(); i += 2) values[i] = static_cast<float>(random.uniform());
  StreamArrayOptions o;
  o.stream.bound = {BoundMode::ratio, 20};
  o.detect_fill = false;
  const auto refused = encode_stream(DType::f32, std::vector<uint64_t>{values.size()}, values.data(), o);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(std::string::npos, refused.status().message().find("ratio=20: not reached"));
  o.stream.bound.best_effort = true;
  const auto most = encode_stream(DType::f32, std::vector<uint64_t>{values.size()}, values.data(), o);
  ASSERT_TRUE(most.ok()) << most.status().message();
  EXPECT_EQ(values[101], decode<float>(*most, values.size())[101]);
}

// Values that grow by many orders of magnitude: chunks that are small beside the range are held by any bound.
TEST(Stream, APsnrsBoundStaysBelowTheRange) {
  std::vector<float> values(300000);
  for (size_t i = 0; i < values.size(); ++i) {
    const double x = double(i) / double(values.size());
    values[i] = static_cast<float>(std::sin(400 * x) * std::exp(60 * x));
  }
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  StreamArrayOptions o;
  o.stream.bound = {BoundMode::psnr, 40};
  o.stream.chunk_bytes = 100000;
  std::vector<ChunkReport> reports;
  const auto bytes =
      encode_stream(DType::f32, std::vector<uint64_t>{values.size()}, values.data(), o, &reports);
  ASSERT_TRUE(bytes.ok()) << bytes.status().message();
  for (const ChunkReport& chunk : reports) EXPECT_LE(chunk.bound_abs, 1.001 * (double(*high) - double(*low)));
  EXPECT_GE(psnr_of(values, decode<float>(*bytes, values.size())), 40);
  EXPECT_LT(bytes->size() * 20, values.size() * 4);
}

TEST(Stream, APsnrIsMetWhateverTheMagnitude) {
  for (const double scale : {1e-300, 1e-170, 1e200}) {
    std::vector<double> values = test::rough_field<double>({100, 90, 2}, 0.1, 12);
    for (double& value : values) value *= scale;
    StreamArrayOptions o;
    o.stream.bound = {BoundMode::psnr, 60};
    const auto bytes = encode_stream(DType::f64, std::vector<uint64_t>{values.size()}, values.data(), o);
    ASSERT_TRUE(bytes.ok()) << bytes.status().message();
    std::vector<double> back = decode<double>(*bytes, values.size());
    for (size_t i = 0; i < values.size(); ++i) values[i] /= scale, back[i] /= scale;
    EXPECT_GE(psnr_of(values, back), 60 - 1e-9) << "scale " << scale;
    EXPECT_LT(psnr_of(values, back), 62) << "scale " << scale;
  }
}

// --- golden streams -----------------------------------------------------------------------------------

// Written once (with NEVE_WRITE_GOLDEN set), never again: every release gets the same values out of them.
TEST(StreamGolden, OldStreamsStayReadable) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(NEVE_SOURCE_DIR) / "tests/golden";
  std::vector<std::pair<std::string, std::vector<std::byte>>> made;
  const auto add = [&]<class T>(const std::string& name, const std::vector<T>& field, StreamOptions o) {
    o.block_values = 3000;
    o.chunk_bytes = 9000 * sizeof(T);
    o.fill = -999;
    made.emplace_back("stream_" + name, encode(o, field.data(), field.size()));
  };
  add("f32_1d", hard_field<float>({30000}, 1), options_of<float>({30000}, 1e-3));
  add("f32_2d", hard_field<float>({130, 170}, 2), options_of<float>({0, 130}, 1e-2));
  add("f64_3d", hard_field<double>({30, 20, 40}, 3), options_of<double>({40, 20, 30}, 1e-4));
  auto restarting = options_of<float>({40, 20, 30}, 1e-3);
  restarting.restart_blocks = 2;
  restarting.rule = CodebookRule::always;
  add("f32_3d_restarts", hard_field<float>({30, 20, 40}, 4), restarting);
  auto ratio = options_of<float>({40, 20, 30}, 1e-3);
  ratio.bound = {BoundMode::ratio, 8};
  add("f32_3d_ratio", hard_field<float>({30, 20, 40}, 5), ratio);
  add("f32_3d_extra_bits", hard_field<float>({30, 20, 40}, 7), options_of<float>({40, 20, 30}, 1e-6));
  auto mixed = hard_field<double>({12000}, 8);
  const auto incompressible = noise<double>(9000, 9);
  mixed.insert(mixed.begin() + 6000, incompressible.begin(), incompressible.end());
  add("f64_2d_raw_blocks", mixed, options_of<double>({210, 100}, 1e-5));
  add("f32_1d_raw", noise<float>(500, 10), options_of<float>({0}, 1e-3));
  add("f32_2d_tiny", test::rough_field<float>({16, 16}, 0.01, 6), options_of<float>({16, 16}, 1e-2));

  const auto values_hash = [](std::span<const std::byte> bytes) {
    const auto contents = describe_stream(bytes);
    if (!contents.ok()) return contents.status().message();
    std::vector<std::byte> out(contents->values * dtype_bytes(contents->info.dtype));
    if (const Status s = decode_stream(bytes, out.data(), out.size()); !s.ok()) return s.message();
    return std::to_string(XXH3_64bits(out.data(), out.size()));
  };
  for (const auto& [name, bytes] : made) {
    const fs::path path = folder / (name + ".nevs");
    if (fs::exists(path) || std::getenv("NEVE_WRITE_GOLDEN") == nullptr) continue;
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    std::ofstream(folder / (name + ".xxh3")) << values_hash(bytes) << "\n";
  }
  size_t found = 0;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() != ".nevs") continue;
    ++found;
    std::vector<std::byte> bytes(entry.file_size());
    std::ifstream(entry.path(), std::ios::binary)
        .read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    std::string expected;
    std::ifstream(fs::path(entry.path()).replace_extension(".xxh3")) >> expected;
    EXPECT_EQ(expected, values_hash(bytes)) << entry.path().filename();
  }
  EXPECT_GE(found, made.size());
}

}  // namespace
}  // namespace neve
