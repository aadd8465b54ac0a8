// SPDX-License-Identifier: BSD-3-Clause
// Runs of special values beside values that are far off, in rows of any length: what is coded row by row and
// run by run comes back within the bound, and every special value bit for bit.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "neve/frame.hpp"
#include "tests/support/test_fields.hpp"

namespace neve {
namespace {

using test::Random;

// A wavy field with runs of NaN (of two payloads), fill and -0, single infinities, and spikes that predict
// badly.
template <class T>
std::vector<T> masked_field(size_t cells, size_t width, double fill, Random& random) {
  std::vector<T> values(cells);
  for (size_t i = 0; i < cells; ++i) {
    const auto x = static_cast<double>(i % width), y = static_cast<double>(i / width);
    values[i] = static_cast<T>(std::sin(0.03 * x) + std::cos(0.11 * y) + 0.02 * random.uniform());
  }
  const T quiet = std::numeric_limits<T>::quiet_NaN();
  const std::vector<T> specials{quiet, -quiet, static_cast<T>(fill), T{-0.0},
                                std::numeric_limits<T>::infinity()};
  for (int64_t k = 0; k < 12; ++k) {
    const auto begin = static_cast<size_t>(random.below(static_cast<int64_t>(cells)));
    const auto longest = std::max<int64_t>(1, static_cast<int64_t>(cells / 5));
    const auto n = std::min(cells - begin, static_cast<size_t>(1 + random.below(longest)));
    std::fill_n(values.begin() + static_cast<ptrdiff_t>(begin), n,
                specials[static_cast<size_t>(k) % specials.size()]);
    values[static_cast<size_t>(random.below(static_cast<int64_t>(cells)))] = T(40);
  }
  return values;
}

template <class T>
void expect_round_trip(const std::vector<T>& values, const std::vector<uint64_t>& shape, double fill,
                       Codec codec, double bound) {
  ArrayOptions options;
  options.bound = {BoundMode::abs, bound};
  options.codec = codec;
  options.fill = fill;
  const auto frame = encode_array(sizeof(T) == 4 ? DType::f32 : DType::f64, shape, values.data(), options);
  ASSERT_TRUE(frame.ok()) << frame.status().message();
  const auto parsed = Frame::parse(*frame);
  ASSERT_TRUE(parsed.ok());
  std::vector<T> back(values.size());
  const Status decoded = parsed->decode(reinterpret_cast<std::byte*>(back.data()), back.size() * sizeof(T));
  ASSERT_TRUE(decoded.ok()) << decoded.message();
  for (size_t i = 0; i < values.size(); ++i) {
    const T value = values[i];
    const bool is_special =
        !std::isfinite(value) || value == static_cast<T>(fill) || (value == 0 && std::signbit(value));
    if (is_special) {
      ASSERT_EQ(std::memcmp(&value, &back[i], sizeof value), 0) << i;
    } else {
      ASSERT_LE(std::abs(static_cast<double>(value) - static_cast<double>(back[i])), bound) << i;
    }
  }
}

template <class T>
void try_shapes() {
  constexpr double fill = 1e20;
  uint64_t seed = 0;
  for (const auto& shape : std::vector<std::vector<uint64_t>>{{1},
                                                              {3},
                                                              {10007},
                                                              {5000, 2},
                                                              {700, 3},
                                                              {37, 8},
                                                              {9, 11, 19},
                                                              {3, 5000},
                                                              {4, 3, 10, 33},
                                                              {64, 64, 16}}) {
    size_t cells = 1;
    for (const uint64_t n : shape) cells *= static_cast<size_t>(n);
    for (const double bound : {0.2, 1e-2, 1e-3, 1e-5}) {
      for (const Codec codec :
           {Codec::automatic, Codec::dual_quant, Codec::axis_passes, Codec::interpolation}) {
        Random random(++seed);
        SCOPED_TRACE("seed " + std::to_string(seed) + " of " + std::to_string(shape.size()) +
                     " directions, codec " + std::string(codec_name(codec)) + ", bound " +
                     std::to_string(bound));
        expect_round_trip(masked_field<T>(cells, static_cast<size_t>(shape.back()), fill, random), shape,
                          fill, codec, bound);
      }
    }
  }
}

TEST(MaskedRows, ComeBackInFloat32) { try_shapes<float>(); }
TEST(MaskedRows, ComeBackInFloat64) { try_shapes<double>(); }

}  // namespace
}  // namespace neve
