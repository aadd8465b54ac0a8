// SPDX-License-Identifier: BSD-3-Clause
#include "capi_test.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "neve/frame.hpp"
#include "neve/neve.h"

namespace neve {
namespace {

struct Made {
  void* frame = nullptr;
  size_t frame_bytes = 0;
  ~Made() { neve_free(frame); }
};

int compress_ramp(const neve_compress_options* options, Made& made) {
  std::vector<double> ramp(1000);
  for (size_t i = 0; i < ramp.size(); ++i) ramp[i] = 0.5 * static_cast<double>(i * i);
  const uint64_t shape[] = {ramp.size()};
  return neve_compress(NEVE_F64, 1, shape, ramp.data(), options, &made.frame, &made.frame_bytes);
}

TEST(CApi, ARoundTripFromCHoldsItsBound) {
  for (const int threads : {0, 1, 3}) {
    c_outcome outcome;
    ASSERT_EQ(c_round_trip("abs=1e-3", threads, &outcome), NEVE_OK) << neve_last_error();
    EXPECT_STREQ(neve_last_error(), "");
    EXPECT_EQ(outcome.values, 12u * 20 * 33);
    EXPECT_TRUE(outcome.shape_is_kept);
    EXPECT_TRUE(outcome.is_array_of_floats);
    EXPECT_TRUE(outcome.specials_are_kept);
    EXPECT_STREQ(outcome.bound_mode, "abs");
    EXPECT_EQ(outcome.bound_abs, 1e-3);
    EXPECT_LE(outcome.max_abs_error, 1e-3);
    EXPECT_GT(outcome.max_abs_error, 0);
    EXPECT_LE(outcome.described_error, 1e-3);
    EXPECT_EQ(outcome.described_frame_bytes, outcome.frame_bytes);
    EXPECT_LT(outcome.frame_bytes, 12u * 20 * 33 * 4 / 3);
  }
}

TEST(CApi, LosslessKeepsEveryBit) {
  c_outcome outcome;
  ASSERT_EQ(c_round_trip("lossless", 1, &outcome), NEVE_OK) << neve_last_error();
  EXPECT_STREQ(outcome.bound_mode, "lossless");
  EXPECT_EQ(outcome.max_abs_error, 0);
  EXPECT_TRUE(outcome.specials_are_kept);
}

TEST(CApi, MakesTheBytesThatCppMakes) {
  Made made;
  ASSERT_EQ(compress_ramp(nullptr, made), NEVE_OK);
  std::vector<double> ramp(1000);
  for (size_t i = 0; i < ramp.size(); ++i) ramp[i] = 0.5 * static_cast<double>(i * i);
  const uint64_t shape[] = {ramp.size()};
  const auto expected = encode_array(DType::f64, shape, ramp.data(), {});
  ASSERT_TRUE(expected.ok());
  ASSERT_EQ(made.frame_bytes, expected->size());
  EXPECT_EQ(std::memcmp(made.frame, expected->data(), expected->size()), 0);
}

TEST(CApi, IntegersComeBackWithTheirFillValue) {
  std::vector<uint64_t> values(1000);
  for (size_t i = 0; i < values.size(); ++i) values[i] = i < 300 ? 18446744073709551614U : i / 3;
  const uint64_t fill = values[0];
  const uint64_t shape[] = {10, 100};
  neve_compress_options options = NEVE_COMPRESS_OPTIONS_INIT;
  options.integer_fill = &fill;
  options.method = "bitshuffle-zstd";
  Made made;
  ASSERT_EQ(neve_compress(NEVE_U64, 2, shape, values.data(), &options, &made.frame, &made.frame_bytes),
            NEVE_OK)
      << neve_last_error();
  neve_frame_description description = NEVE_FRAME_DESCRIPTION_INIT;
  ASSERT_EQ(neve_frame_info(made.frame, made.frame_bytes, &description), NEVE_OK) << neve_last_error();
  EXPECT_EQ(description.dtype, NEVE_U64);
  EXPECT_STREQ(description.bound_mode, "lossless");
  EXPECT_EQ(description.has_fill, 1);
  EXPECT_EQ(description.integer_fill, fill);
  EXPECT_EQ(description.value_bytes, 8000U);
  std::vector<uint64_t> back(values.size());
  ASSERT_EQ(neve_decompress(made.frame, made.frame_bytes, 1, back.data(), 8000), NEVE_OK);
  EXPECT_EQ(back, values);

  // A program built for 0.1 has no place for it.
  description.struct_bytes = offsetof(neve_frame_description, integer_fill);
  description.integer_fill = 5;
  ASSERT_EQ(neve_frame_info(made.frame, made.frame_bytes, &description), NEVE_OK) << neve_last_error();
  EXPECT_EQ(description.integer_fill, 5U);

  const std::vector<int16_t> negative(100, -7);
  const int16_t minus_7 = -7;
  options.integer_fill = &minus_7;
  Made of_shorts;
  ASSERT_EQ(neve_compress(NEVE_I16, 1, &shape[1], negative.data(), &options, &of_shorts.frame,
                          &of_shorts.frame_bytes),
            NEVE_OK)
      << neve_last_error();
  description = NEVE_FRAME_DESCRIPTION_INIT;
  ASSERT_EQ(neve_frame_info(of_shorts.frame, of_shorts.frame_bytes, &description), NEVE_OK);
  EXPECT_EQ(static_cast<int64_t>(description.integer_fill), -7);

  options = NEVE_COMPRESS_OPTIONS_INIT;
  options.bound = "rel=1e-3";
  Made refused;
  EXPECT_EQ(
      neve_compress(NEVE_I16, 1, &shape[1], negative.data(), &options, &refused.frame, &refused.frame_bytes),
      NEVE_USAGE);
  EXPECT_NE(std::string(neve_last_error()).find("integers are kept bit for bit"), std::string::npos)
      << neve_last_error();
  EXPECT_EQ(neve_compress(10, 1, &shape[1], negative.data(), nullptr, &refused.frame, &refused.frame_bytes),
            NEVE_USAGE);
}

TEST(CApi, ScalarsAndEmptyArraysHaveShapes) {
  const double single = 4.5;
  Made scalar;
  ASSERT_EQ(neve_compress(NEVE_F64, 0, nullptr, &single, nullptr, &scalar.frame, &scalar.frame_bytes),
            NEVE_OK);
  double back = 0;
  ASSERT_EQ(neve_decompress(scalar.frame, scalar.frame_bytes, 1, &back, sizeof back), NEVE_OK);
  EXPECT_EQ(back, single);

  Made empty;
  const uint64_t shape[] = {3, 0, 2};
  ASSERT_EQ(neve_compress(NEVE_F32, 3, shape, nullptr, nullptr, &empty.frame, &empty.frame_bytes), NEVE_OK);
  neve_frame_description description = NEVE_FRAME_DESCRIPTION_INIT;
  ASSERT_EQ(neve_frame_info(empty.frame, empty.frame_bytes, &description), NEVE_OK);
  EXPECT_EQ(description.ndim, 3);
  EXPECT_EQ(description.shape[0], 3u);
  EXPECT_EQ(description.value_bytes, 0u);
  EXPECT_EQ(neve_decompress(empty.frame, empty.frame_bytes, 1, nullptr, 0), NEVE_OK);
}

TEST(CApi, AFillValueGivenComesBackAndIsDescribed) {
  std::vector<float> field(600, 1.f);
  for (size_t i = 0; i < field.size(); ++i) field[i] = i % 3 == 0 ? -77.f : 0.1f * static_cast<float>(i);
  const double fill = -77;
  neve_compress_options options = NEVE_COMPRESS_OPTIONS_INIT;
  options.bound = "abs=0.3";
  options.fill = &fill;
  const uint64_t shape[] = {field.size()};
  Made made;
  ASSERT_EQ(neve_compress(NEVE_F32, 1, shape, field.data(), &options, &made.frame, &made.frame_bytes),
            NEVE_OK);
  neve_frame_description description = NEVE_FRAME_DESCRIPTION_INIT;
  ASSERT_EQ(neve_frame_info(made.frame, made.frame_bytes, &description), NEVE_OK);
  EXPECT_EQ(description.has_fill, 1);
  EXPECT_EQ(description.fill, fill);
  std::vector<float> back(field.size());
  ASSERT_EQ(neve_decompress(made.frame, made.frame_bytes, 1, back.data(), back.size() * 4), NEVE_OK);
  for (size_t i = 0; i < field.size(); i += 3) EXPECT_EQ(back[i], -77.f);
}

TEST(CApi, RefusalsNameTheValueAndLeaveTheOutputs) {
  struct Refusal {
    const char* bound;
    const char* codec;
    const char* effort;
    int threads;
    const char* words;
  };
  const Refusal refusals[] = {
      {"rel=0", nullptr, nullptr, 1, "finite numbers above 0 are allowed"},
      {"rel=nan", nullptr, nullptr, 1, "finite numbers above 0 are allowed"},
      {"pw_rel=60", nullptr, nullptr, 1, "no mode pw_rel"},
      {nullptr, "gzip", nullptr, 1, "codec \"gzip\" unknown"},
      {nullptr, nullptr, "extreme", 1, "effort \"extreme\" unknown"},
      {nullptr, nullptr, nullptr, -1, "threads is -1"},
      {nullptr, nullptr, nullptr, 5000, "threads is 5000"},
  };
  for (const Refusal& refusal : refusals) {
    neve_compress_options options = NEVE_COMPRESS_OPTIONS_INIT;
    options.bound = refusal.bound;
    options.codec = refusal.codec;
    options.effort = refusal.effort;
    options.threads = refusal.threads;
    Made made;
    EXPECT_EQ(compress_ramp(&options, made), NEVE_USAGE) << refusal.words;
    EXPECT_NE(std::string(neve_last_error()).find(refusal.words), std::string::npos) << neve_last_error();
    EXPECT_EQ(made.frame, nullptr);
    EXPECT_EQ(made.frame_bytes, 0u);
  }
  void* frame = nullptr;
  size_t frame_bytes = 0;
  const float value = 1;
  const uint64_t shape[] = {1};
  const uint64_t too_many[] = {uint64_t{1} << 30, uint64_t{1} << 30};
  EXPECT_EQ(neve_compress(77, 1, shape, &value, nullptr, &frame, &frame_bytes), NEVE_USAGE);
  EXPECT_EQ(neve_compress(NEVE_F32, 33, shape, &value, nullptr, &frame, &frame_bytes), NEVE_USAGE);
  EXPECT_EQ(neve_compress(NEVE_F32, 1, nullptr, &value, nullptr, &frame, &frame_bytes), NEVE_USAGE);
  EXPECT_EQ(neve_compress(NEVE_F32, 1, shape, nullptr, nullptr, &frame, &frame_bytes), NEVE_USAGE);
  EXPECT_EQ(neve_compress(NEVE_F32, 0, nullptr, nullptr, nullptr, &frame, &frame_bytes), NEVE_USAGE);
  EXPECT_EQ(neve_compress(NEVE_F32, 2, too_many, &value, nullptr, &frame, &frame_bytes), NEVE_USAGE);
  EXPECT_EQ(neve_compress(NEVE_F32, 1, shape, &value, nullptr, nullptr, &frame_bytes), NEVE_USAGE);
  EXPECT_EQ(frame, nullptr);
}

TEST(CApi, DamagedFramesAndWrongSizesAreRefused) {
  Made made;
  ASSERT_EQ(compress_ramp(nullptr, made), NEVE_OK);
  std::vector<double> back(1000);
  EXPECT_EQ(neve_decompress(made.frame, made.frame_bytes, 1, back.data(), 999 * sizeof(double)), NEVE_USAGE);
  EXPECT_NE(std::string(neve_last_error()).find("8000"), std::string::npos) << neve_last_error();
  EXPECT_EQ(neve_decompress(made.frame, made.frame_bytes, 1, nullptr, 8000), NEVE_USAGE);
  EXPECT_EQ(neve_decompress(nullptr, 10, 1, back.data(), 8000), NEVE_USAGE);
  EXPECT_EQ(neve_decompress(made.frame, made.frame_bytes - 1, 1, back.data(), 8000), NEVE_CORRUPT);
  neve_frame_description description = NEVE_FRAME_DESCRIPTION_INIT;
  EXPECT_EQ(neve_frame_info(made.frame, 3, &description), NEVE_CORRUPT);
  EXPECT_NE(std::string(neve_last_error()).find("3 bytes"), std::string::npos) << neve_last_error();
  static_cast<unsigned char*>(made.frame)[made.frame_bytes - 1] ^= 1;
  EXPECT_EQ(neve_frame_info(made.frame, made.frame_bytes, &description), NEVE_OK);
  EXPECT_EQ(neve_decompress(made.frame, made.frame_bytes, 1, back.data(), 8000), NEVE_CORRUPT);
}

// What the command takes by name, over what the fields say.
TEST(CApi, OptionsByNameComeOnTop) {
  neve_compress_options fields = NEVE_COMPRESS_OPTIONS_INIT;
  fields.bound = "abs=1e-3";
  fields.codec = "lorenzo_regression";
  fields.block_cells = 4;
  neve_compress_options names = NEVE_COMPRESS_OPTIONS_INIT;
  names.bound = "rel=0.5";
  names.codec = "context";
  names.options = "abs=1e-3;codec=lorenzo_regression;block=4;threads=2";
  Made by_fields, by_names;
  ASSERT_EQ(compress_ramp(&fields, by_fields), NEVE_OK) << neve_last_error();
  ASSERT_EQ(compress_ramp(&names, by_names), NEVE_OK) << neve_last_error();
  ASSERT_EQ(by_names.frame_bytes, by_fields.frame_bytes);
  EXPECT_EQ(std::memcmp(by_names.frame, by_fields.frame, by_fields.frame_bytes), 0);

  const std::pair<const char*, const char*> wrong[] = {
      {"magic=1", "unknown option \"magic=1\"; allowed are bound"},
      {"unit=x", "unit is x; 0, 8, 16, 32 and 64 are allowed"},
      {"threads=0", "threads is 0; 1 to 1024 are allowed"},
      {"covered=keep", "has no meaning here"},
      {"effort=max;effort=max", "effort is given twice"},
      {"codec=context;method=rank", "method has no meaning"},
  };
  for (const auto& [options, words] : wrong) {
    names.options = options;
    Made made;
    EXPECT_EQ(compress_ramp(&names, made), NEVE_USAGE) << options;
    EXPECT_NE(std::string(neve_last_error()).find(words), std::string::npos) << neve_last_error();
  }
}

// What fields say is refused as the same text is.
TEST(CApi, FieldsThatChangeNothingAreRefused) {
  const auto refused = [](const char* words, auto change) {
    neve_compress_options options = NEVE_COMPRESS_OPTIONS_INIT;
    change(options);
    Made made;
    EXPECT_EQ(compress_ramp(&options, made), NEVE_USAGE) << words;
    EXPECT_NE(std::string(neve_last_error()).find(words), std::string::npos) << neve_last_error();
  };
  for (const char* bound : {"rel=1e-3", "rel=1e-4", "abs=1e-3"}) {
    refused("method has no meaning", [&](auto& o) { o.bound = bound, o.method = "zstd"; });
    refused("method has no meaning", [&](auto& o) { o.bound = bound, o.options = "method=zstd"; });
  }
  refused("method has no meaning", [](auto& o) { o.method = "zstd"; });
  refused("speed_weight has no meaning",
          [](auto& o) { o.bound = "lossless", o.method = "zstd", o.options = "speed_weight=3"; });
  refused("block has no meaning", [](auto& o) { o.codec = "context", o.block_cells = 4; });
  refused("merge_units has no meaning", [](auto& o) { o.merge_units = 1; });
  refused("effort has no meaning",
          [](auto& o) { o.bound = "lossless", o.codec = "exact", o.effort = "max"; });
  refused("bound ratio=5 has no meaning", [](auto& o) { o.bound = "ratio=5", o.codec = "exact"; });
}

TEST(CApi, TuningIsTakenAndChecked) {
  neve_compress_options options = NEVE_COMPRESS_OPTIONS_INIT;
  options.bound = "abs=1e-3";
  options.codec = "dual_quant";  // whose values are the same however cells lie
  Made plain;
  ASSERT_EQ(compress_ramp(&options, plain), NEVE_OK) << neve_last_error();
  options.arrangement = "linear";
  options.unit_cells = 8;
  Made blocks;
  ASSERT_EQ(compress_ramp(&options, blocks), NEVE_OK) << neve_last_error();
  EXPECT_NE(blocks.frame_bytes, plain.frame_bytes);
  std::vector<double> expected(1000);
  std::vector<double> back(1000);
  EXPECT_EQ(neve_decompress(plain.frame, plain.frame_bytes, 1, expected.data(), 8000), NEVE_OK);
  EXPECT_EQ(neve_decompress(blocks.frame, blocks.frame_bytes, 1, back.data(), 8000), NEVE_OK);
  EXPECT_EQ(back, expected);

  Made refused;
  options.unit_cells = 9;
  EXPECT_EQ(compress_ramp(&options, refused), NEVE_USAGE);
  EXPECT_NE(std::string(neve_last_error()).find("unit is 9; 0, 8, 16, 32 and 64 are allowed"),
            std::string::npos)
      << neve_last_error();
  options.unit_cells = 8;
  options.arrangement = "spiral";
  EXPECT_EQ(compress_ramp(&options, refused), NEVE_USAGE);
  EXPECT_NE(std::string(neve_last_error()).find("spiral"), std::string::npos) << neve_last_error();
}

TEST(CApi, StructsOfOtherVersionsAreReadAsFarAsTheyAreKnown) {
  struct Newer {
    neve_compress_options known = NEVE_COMPRESS_OPTIONS_INIT;
    int coming = 0;
    int padding = 0;
  } newer;
  newer.known.struct_bytes = sizeof newer;
  Made made;
  EXPECT_EQ(compress_ramp(&newer.known, made), NEVE_OK) << neve_last_error();
  newer.coming = 1;
  Made refused;
  EXPECT_EQ(compress_ramp(&newer.known, refused), NEVE_USAGE);
  EXPECT_NE(std::string(neve_last_error()).find("newer neve"), std::string::npos) << neve_last_error();

  // A program built for neve 0.1 knows nothing behind `threads`: what lies there is not read.
  neve_compress_options older = NEVE_COMPRESS_OPTIONS_INIT;
  older.struct_bytes = offsetof(neve_compress_options, arrangement);
  older.unit_cells = 77;
  Made of_older;
  EXPECT_EQ(compress_ramp(&older, of_older), NEVE_OK) << neve_last_error();

  neve_compress_options unset = NEVE_COMPRESS_OPTIONS_INIT;
  unset.struct_bytes = 0;
  EXPECT_EQ(compress_ramp(&unset, refused), NEVE_USAGE);
  EXPECT_NE(std::string(neve_last_error()).find("INIT macro"), std::string::npos) << neve_last_error();
  neve_frame_description description{};
  EXPECT_EQ(neve_frame_info(made.frame, made.frame_bytes, &description), NEVE_USAGE);
}

TEST(CApi, EveryThreadHasItsOwnLastError) {
  EXPECT_EQ(neve_decompress(nullptr, 0, 1, nullptr, 0), NEVE_USAGE);
  std::string others = "unset";
  std::thread([&] { others = neve_last_error(); }).join();
  EXPECT_EQ(others, "");
  EXPECT_STRNE(neve_last_error(), "");
}

TEST(CApi, TheVersionIsTheProjects) {
  std::ifstream in(NEVE_SOURCE_DIR "/CMakeLists.txt");
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  EXPECT_NE(text.find("project(neve VERSION " + std::string(neve_version()) + " "), std::string::npos)
      << neve_version();
}

}  // namespace
}  // namespace neve
