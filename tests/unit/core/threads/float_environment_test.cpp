// SPDX-License-Identifier: BSD-3-Clause
// Simulations may run with denormals flushed to zero (-ffast-math) or another rounding mode. Neither may show
// in the frames, nor may the library change what the simulation runs with.
#include "core/threads/float_environment.hpp"

#include <gtest/gtest.h>

#include <cfenv>
#include <cmath>
#include <limits>
#include <vector>

#ifdef __SSE2__
#include <xmmintrin.h>
#endif

#include "neve/frame.hpp"

namespace neve {
namespace {

std::vector<float> denormals_and_more() {
  std::vector<float> values(4096);
  for (size_t i = 0; i < values.size(); ++i) {
    const auto size = static_cast<float>(i * 2654435761U % 1000);
    values[i] = size * 17 * std::numeric_limits<float>::denorm_min();
  }
  return values;
}

std::vector<std::byte> encode(const std::vector<float>& values, double bound_abs) {
  ArrayOptions options;
  options.bound = {BoundMode::abs, bound_abs};
  options.encode.threads = 2;
  const uint64_t shape[] = {64, 64};
  auto frame = encode_array(DType::f32, shape, values.data(), options);
  EXPECT_TRUE(frame.ok()) << frame.status().message();
  return std::move(*frame);
}

std::vector<float> decode(const std::vector<std::byte>& bytes) {
  const auto frame = Frame::parse(bytes);
  EXPECT_TRUE(frame.ok());
  std::vector<float> out(4096);
  EXPECT_TRUE(frame->decode(reinterpret_cast<std::byte*>(out.data()), out.size() * sizeof(float), 2).ok());
  return out;
}

// A bound that only denormals reach.
constexpr double bound = 100.0 * std::numeric_limits<float>::denorm_min();

TEST(FloatEnvironment, RoundingModesDoNotShow) {
  const std::vector<float> values = denormals_and_more();
  const std::vector<std::byte> frame = encode(values, bound);
  const std::vector<float> decoded = decode(frame);
  for (const int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
    ASSERT_EQ(std::fesetround(mode), 0);
    const std::vector<std::byte> other_frame = encode(values, bound);
    const std::vector<float> other_decoded = decode(frame);
    EXPECT_EQ(std::fegetround(), mode) << "the caller's rounding mode is gone";
    std::fesetround(FE_TONEAREST);
    EXPECT_EQ(other_frame, frame);
    EXPECT_EQ(other_decoded, decoded);
  }
}

#ifdef __SSE2__
TEST(FloatEnvironment, DenormalsAreKeptWhereTheCallerFlushesThem) {
  const std::vector<float> values = denormals_and_more();
  const std::vector<std::byte> frame = encode(values, bound);
  const std::vector<float> decoded = decode(frame);
  constexpr unsigned flush_to_zero = 0x8000;
  constexpr unsigned denormals_are_zero = 0x0040;
  const unsigned usual = _mm_getcsr();
  _mm_setcsr(usual | flush_to_zero | denormals_are_zero);
  const std::vector<std::byte> other_frame = encode(values, bound);
  const std::vector<float> other_decoded = decode(frame);
  const unsigned after = _mm_getcsr();
  _mm_setcsr(usual);
  EXPECT_EQ(after & (flush_to_zero | denormals_are_zero), flush_to_zero | denormals_are_zero)
      << "the caller's mode is gone";
  EXPECT_EQ(other_frame, frame);
  EXPECT_EQ(other_decoded, decoded);
  size_t denormal = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    ASSERT_LE(std::abs(static_cast<double>(decoded[i]) - static_cast<double>(values[i])), bound);
    denormal += decoded[i] != 0 ? 1 : 0;
  }
  EXPECT_GT(denormal, values.size() / 2);
}
#endif

}  // namespace
}  // namespace neve
