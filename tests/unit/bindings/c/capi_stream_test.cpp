// SPDX-License-Identifier: BSD-3-Clause
// Streams of the C API.
#include "capi_stream_test.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "neve/stream.h"
#include "neve/stream.hpp"

namespace neve {
namespace {

constexpr uint64_t rows = 150, row = 256;

std::vector<float> field() {
  std::vector<float> values(rows * row);
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = std::sin(0.02f * static_cast<float>(i % row)) + 0.01f * static_cast<float>(i / row);
  }
  values[700] = std::numeric_limits<float>::quiet_NaN();
  values[701] = -0.0f;
  return values;
}

void expect_within(const std::vector<float>& found, const std::vector<float>& wanted, double bound) {
  ASSERT_EQ(found.size(), wanted.size());
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (std::isnan(wanted[i])) {
      EXPECT_TRUE(std::isnan(found[i]));
    } else {
      ASSERT_LE(std::abs(static_cast<double>(found[i]) - static_cast<double>(wanted[i])), bound) << i;
    }
  }
  EXPECT_TRUE(std::signbit(found[701]));
}

TEST(CStreams, RowsComeBackHoweverTheirBytesAreCut) {
  const std::vector<float> values = field();
  c_stream stream = {};
  ASSERT_EQ(c_encode_rows(values.data(), rows, row, "abs=1e-3", &stream), NEVE_OK) << neve_last_error();
  EXPECT_LT(stream.size, values.size());
  EXPECT_GT(stream.chunks, 2u);
  EXPECT_EQ(stream.values_of_chunks, values.size());
  EXPECT_TRUE(stream.names_are_there == 1 && stream.max_abs_error > 0 && stream.max_abs_error <= 1e-3);
  for (const size_t piece : {size_t{1}, size_t{1000}, stream.size}) {
    std::vector<float> back(values.size());
    uint64_t count = 0;
    ASSERT_EQ(c_decode_pieces(&stream, piece, back.data(), &count), NEVE_OK) << neve_last_error();
    EXPECT_EQ(count, values.size());
    expect_within(back, values, 1e-3);
  }
  c_stream cut = stream;
  cut.size -= 5;
  std::vector<float> back(values.size());
  uint64_t count = 0;
  EXPECT_EQ(c_decode_pieces(&cut, 4096, back.data(), &count), NEVE_CORRUPT);
  std::free(stream.bytes);
}

TEST(CStreams, OfAWholeArrayAreThoseOfCpp) {
  const std::vector<float> values = field();
  const uint64_t shape[] = {rows, row};
  neve_stream_options options = NEVE_STREAM_OPTIONS_INIT;
  options.ndim = 2;
  options.shape = shape;
  for (const char* bound : {static_cast<const char*>(nullptr), "rel=1e-4", "ratio=12", "psnr=70"}) {
    options.bound = bound;
    void* stream = nullptr;
    size_t bytes = 0;
    ASSERT_EQ(neve_stream_compress(&options, values.data(), &stream, &bytes), NEVE_OK) << neve_last_error();
    StreamArrayOptions same;
    same.stream.bound = *parse_bound(bound == nullptr ? "rel=1e-3" : bound, BoundUse::array);
    const auto wanted = encode_stream(DType::f32, shape, values.data(), same);
    ASSERT_TRUE(wanted.ok());
    ASSERT_EQ(bytes, wanted->size());
    EXPECT_EQ(std::memcmp(stream, wanted->data(), bytes), 0);
    int answer = 0;
    EXPECT_EQ(neve_is_stream(stream, bytes, &answer), NEVE_OK);
    EXPECT_EQ(answer, 1);
    neve_stream_description of = NEVE_STREAM_DESCRIPTION_INIT;
    ASSERT_EQ(neve_stream_info(stream, bytes, &of), NEVE_OK);
    EXPECT_TRUE(of.is_known == 1 && of.has_ended == 1 && of.dtype == NEVE_F32 && of.ndim == 2);
    EXPECT_TRUE(of.shape[0] == rows && of.shape[1] == row && of.values == rows * row && of.blocks > 0);
    EXPECT_EQ(std::string(of.bound_mode),
              std::string(bound == nullptr ? "rel" : bound).substr(0, std::string(of.bound_mode).size()));
    std::vector<float> back(values.size());
    ASSERT_EQ(neve_stream_decompress(stream, bytes, back.data(), back.size() * sizeof(float)), NEVE_OK);
    if (bound == nullptr) expect_within(back, values, 1e-3 * 3.5);
    neve_free(stream);
  }
  int dims = 0;
  options.bound = "abs=1e-3";
  EXPECT_EQ(neve_stream_best_dims(&options, values.data(), &dims), NEVE_OK) << neve_last_error();
  EXPECT_TRUE(dims == 1 || dims == 2);
  int answer = 1;
  EXPECT_EQ(neve_is_stream("abc", 3, &answer), NEVE_OK);
  EXPECT_EQ(answer, 0);
}

TEST(CStreams, EveryFieldOfTheOptionsIsHeeded) {
  const std::vector<float> values = field();
  const uint64_t shape[] = {rows, row};
  const double range[] = {-1, 3}, fill = 7, chi[] = {1, 2};
  const int codebook = 3;
  neve_stream_options options = NEVE_STREAM_OPTIONS_INIT;
  options.ndim = 2;
  options.shape = shape;
  options.bound = "rel=1e-3";
  options.range = range;
  options.fill = &fill;
  options.dims = 1;
  options.block_values = 2048;
  options.chunk_bytes = 1 << 15;
  options.tried_bytes = 1 << 14;
  options.restart_blocks = 2;
  options.rule = "chi";
  options.chi = chi;
  options.offline_codebook = &codebook;
  options.for_engine = 1;
  StreamOptions same;
  same.shape = {rows, row};
  same.bound = {BoundMode::rel, 1e-3};
  same.range = {-1, 3, false};
  same.fill = 7;
  same.dims = 1;
  same.block_values = 2048;
  same.chunk_bytes = 1 << 15;
  same.tried_bytes = 1 << 14;
  same.restart_blocks = 2;
  same.rule = CodebookRule::chi;
  same.chi_keep = 1;
  same.chi_offline = 2;
  same.offline_codebook = 3;
  same.for_engine = true;
  auto wanted = StreamEncoder::create(same);
  neve_stream_encoder* encoder = nullptr;
  ASSERT_TRUE(wanted.ok()) << wanted.status().message();
  ASSERT_EQ(neve_stream_encoder_create(&options, &encoder), NEVE_OK) << neve_last_error();
  for (int round = 0; round < 2; ++round) {
    ASSERT_TRUE(wanted->push(values.data(), values.size()).ok());
    ASSERT_TRUE(wanted->finish().ok());
    ASSERT_EQ(neve_stream_encoder_push(encoder, values.data(), values.size()), NEVE_OK);
    ASSERT_EQ(neve_stream_encoder_finish(encoder), NEVE_OK);
    const void* bytes = nullptr;
    size_t size = 0;
    ASSERT_EQ(neve_stream_encoder_output(encoder, &bytes, &size), NEVE_OK);
    ASSERT_EQ(size, wanted->output().size());
    EXPECT_EQ(std::memcmp(bytes, wanted->output().data(), size), 0);
    wanted->reset();
    ASSERT_EQ(neve_stream_encoder_reset(encoder), NEVE_OK);
  }
  neve_stream_encoder_free(encoder);
}

}  // namespace
}  // namespace neve
