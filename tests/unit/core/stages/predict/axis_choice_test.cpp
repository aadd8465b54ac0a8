// SPDX-License-Identifier: BSD-3-Clause
// The sample that decides about prediction sees all of a line, and so a line's bytes follow its values.
#include <gtest/gtest.h>

#include <cmath>

#include "neve/frame.hpp"
#include "tests/support/fractional_noise.hpp"

namespace neve {
namespace {

template <class T>
uint64_t bytes_of_line(const std::vector<T>& line, double rel) {
  ArrayOptions options;
  options.bound = {BoundMode::rel, rel};
  const std::vector<uint64_t> shape{line.size()};
  return encode_array(sizeof(T) == 4 ? DType::f32 : DType::f64, shape, line.data(), options)->size();
}

// 1 % of it is flat, the rest moves: a ramp with waves on it, 17 steps from one value to the next.
template <class T>
std::vector<T> line_with_flat_start(bool is_at_end) {
  constexpr size_t count = 1 << 17;
  std::vector<T> line(count);
  for (size_t i = 0; i < count; ++i) {
    const double at = static_cast<double>(std::max<size_t>(i, count / 100) - count / 100) / count;
    line[is_at_end ? count - 1 - i : i] = static_cast<T>(30 * at + std::sin(900 * at));
  }
  return line;
}

template <class T>
class AxisChoice : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(AxisChoice, Types);

TYPED_TEST(AxisChoice, AFlatStartDecidesNothing) {
  const auto begins = bytes_of_line(line_with_flat_start<TypeParam>(false), 1e-5);
  const auto ends = bytes_of_line(line_with_flat_start<TypeParam>(true), 1e-5);
  EXPECT_LT(begins, ends * 1.15 + 256);
  // A value that is predicted at all takes less than a third of its bits.
  EXPECT_LT(begins, (1 << 17) * sizeof(TypeParam) / 3);
}

TYPED_TEST(AxisChoice, ALooserBoundTakesNoMore) {
  for (const double hurst : {0.2, 0.5, 0.8}) {
    const auto line = test::fractional_noise<TypeParam>(16, hurst, 41);
    uint64_t tighter = UINT64_MAX / 2;
    for (double rel = 1e-6; rel < 0.3; rel *= 1.5) {
      const uint64_t bytes = bytes_of_line(line, rel);
      EXPECT_LE(static_cast<double>(bytes), 1.05 * static_cast<double>(tighter) + 256) << hurst << " " << rel;
      tighter = bytes;
    }
  }
}

}  // namespace
}  // namespace neve
