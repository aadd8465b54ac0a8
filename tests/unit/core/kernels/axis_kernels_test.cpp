// SPDX-License-Identifier: BSD-3-Clause
// The kernels of codec axis_passes: every instruction set gives the portable ones' bits, whatever the values.
#include "core/kernels/axis_kernels.hpp"

#include <array>
#include <limits>

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "core/kernels/targets.hpp"
#include "core/stages/predict/interpolation_weights.hpp"
#include "tests/support/test_fields.hpp"

namespace neve {
namespace {

template <class T>
const AxisKernels<T>& of_table(const Kernels& table) {
  if constexpr (sizeof(T) == 4) {
    return *table.axis_f32;
  } else {
    return *table.axis_f64;
  }
}

// With room behind them, as the kernels want it.
template <class T>
std::vector<T> row_of(size_t n, bool is_hard, test::Random& random) {
  std::vector<T> row(n + row_padding);
  const auto& special = test::special_values<T>();
  for (T& v : row) {
    v = static_cast<T>((random.uniform() - 0.5) * 20);
    if (is_hard && random.below(4) == 0)
      v = special[static_cast<size_t>(random.below(static_cast<int64_t>(special.size())))];
    if (is_hard && random.below(6) == 0) v = v * std::numeric_limits<T>::max() / 16;
  }
  return row;
}

// Bit for bit, but that a NaN is a NaN: which of two an operation passes on is up to the instruction.
template <class T>
void expect_same(const std::vector<T>& expected, const std::vector<T>& found, const char* what) {
  ASSERT_EQ(expected.size(), found.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    if (std::isnan(expected[i]) && std::isnan(found[i])) continue;
    ASSERT_EQ(std::memcmp(&expected[i], &found[i], sizeof(T)), 0)
        << what << " at " << i << ": " << expected[i] << " and " << found[i];
  }
}

template <class T>
struct Inputs {
  std::vector<std::vector<T>> rows;
  std::vector<uint8_t> symbols;
  AxisSource<T> from;
  std::array<std::vector<T>, 4> weights;  // cell by cell

  Inputs(size_t n, bool is_hard, bool is_linear, bool has_own_weights, test::Random& random) {
    for (int r = 0; r < 5; ++r) rows.push_back(row_of<T>(n, is_hard, random));
    for (size_t i = 0; i < n + row_padding; ++i)
      symbols.push_back(is_hard ? static_cast<uint8_t>(random.below(256))
                                : static_cast<uint8_t>(1 + random.below(255)));
    from = {rows[0].data(),
            rows[1].data(),
            rows[2].data(),
            rows[3].data(),
            interpolation_weights<T>(3, 9, is_linear),
            {}};
    if (!has_own_weights) return;
    for (size_t k = 0; k < weights.size(); ++k) {
      for (size_t i = 0; i < n + row_padding; ++i) {
        weights[k].push_back(
            interpolation_weights<T>(static_cast<int64_t>(i), static_cast<int64_t>(n), is_linear)[k]);
        // What has weight 0 may be anything.
        if (weights[k][i] == 0 && i < n) rows[k][i] = std::numeric_limits<T>::quiet_NaN();
      }
      from.of_each[k] = weights[k].data();
    }
  }
};

template <class T>
void compare(const AxisKernels<T>& portable, const AxisKernels<T>& k, const Inputs<T>& in, size_t n, T step) {
  const ResidualQuantizer<T> q{step, 1 / step, step / 2};
  std::vector<T> expected = in.rows[4];
  std::vector<T> found = in.rows[4];
  std::vector<int32_t> expected_codes(n + row_padding), found_codes(n + row_padding);
  AxisStats<T> expected_stats, found_stats;
  portable.code(expected.data(), in.from, q, n, expected_codes.data(), expected_stats);
  k.code(found.data(), in.from, q, n, found_codes.data(), found_stats);
  expect_same(expected, found, "decoded");
  expected_codes.resize(n);
  found_codes.resize(n);
  EXPECT_EQ(expected_codes, found_codes);
  EXPECT_EQ(expected_stats.max_error(), found_stats.max_error());
  EXPECT_EQ(expected_stats.rejected, found_stats.rejected);

  expected = found = in.rows[4];
  EXPECT_EQ(portable.restore(in.symbols.data(), in.from, step, n, expected.data()),
            k.restore(in.symbols.data(), in.from, step, n, found.data()));
  expect_same(expected, found, "restored");

  for (const T fill : {T{0}, in.rows[4][n / 2]}) {
    for (const bool has_fill : {false, true}) {
      EXPECT_EQ(portable.has_special(in.rows[4].data(), n, has_fill, fill),
                k.has_special(in.rows[4].data(), n, has_fill, fill));
    }
  }

  std::vector<T> halves(n + row_padding), other_halves(n + row_padding), row(n), other_row(n);
  portable.split(in.rows[4].data(), n, halves.data(), halves.data() + (n + 1) / 2);
  k.split(in.rows[4].data(), n, other_halves.data(), other_halves.data() + (n + 1) / 2);
  expect_same(halves, other_halves, "halves");
  portable.join(halves.data(), halves.data() + (n + 1) / 2, n, row.data());
  k.join(halves.data(), halves.data() + (n + 1) / 2, n, other_row.data());
  expect_same(row, other_row, "joined");
  expect_same(std::vector<T>(in.rows[4].begin(), in.rows[4].begin() + static_cast<ptrdiff_t>(n)), row, "row");
}

template <class T>
class AxisKernelsOf : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(AxisKernelsOf, Types);

TYPED_TEST(AxisKernelsOf, AllTargetsGiveTheSameBits) {
  using T = TypeParam;
  test::Random random(11);
  for (const Kernels* table : supported_kernels()) {
    SCOPED_TRACE(table->name);
    for (size_t n = 0; n < 70; ++n) {
      for (const bool is_hard : {false, true}) {
        for (const T step : {T(1e-2), T(1), T(40), std::numeric_limits<T>::min()}) {
          for (const bool has_own_weights : {false, true}) {
            const Inputs<T> in(n, is_hard, n % 2 == 0, has_own_weights, random);
            compare(of_table<T>(portable_kernels()), of_table<T>(*table), in, n, step);
          }
        }
      }
    }
  }
}

// What the encoder has in memory is what a decoder gets from the codes.
TYPED_TEST(AxisKernelsOf, DecodedIsWhatIsRestored) {
  using T = TypeParam;
  test::Random random(12);
  constexpr size_t n = 200;
  for (const bool has_own_weights : {false, true}) {
    Inputs<T> in(n, false, false, has_own_weights, random);
    std::vector<T> decoded = in.rows[4];
    std::vector<int32_t> codes(n + row_padding);
    AxisStats<T> stats;
    const T step = T(0.25);
    axis_kernels(T{}).code(decoded.data(), in.from, {step, 1 / step, step}, n, codes.data(), stats);
    EXPECT_EQ(stats.rejected, 0U);
    for (size_t i = 0; i < n; ++i) in.symbols[i] = static_cast<uint8_t>(codes[i] + symbol_zero);
    std::vector<T> restored = in.rows[4];
    EXPECT_EQ(axis_kernels(T{}).restore(in.symbols.data(), in.from, step, n, restored.data()), 0U);
    expect_same(decoded, restored, "restored");
  }
}

}  // namespace
}  // namespace neve
