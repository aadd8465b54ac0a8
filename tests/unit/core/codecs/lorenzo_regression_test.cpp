// SPDX-License-Identifier: BSD-3-Clause
// What is particular to codec lorenzo_regression: unit blocks predicted alone under shared codebooks, the
// side of prediction blocks, merged prediction, and what happens at the edges of its arithmetic.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "core/codecs/section_codec.hpp"
#include "tests/support/section_check.hpp"
#include "tests/support/test_fields.hpp"

namespace neve {
namespace {

using test::check_section;
using test::info_of;
using test::Units;

// Blocks of one field each, unrelated to each other.
template <class T>
Units<T> unrelated_units(const Extents& size, int count, double noise, uint64_t seed) {
  Units<T> units;
  test::Random random(seed);
  for (int k = 0; k < count; ++k) {
    units.sizes.push_back(size);
    std::array<double, 9> c{};
    for (double& v : c) v = random.uniform() - 0.5;
    for (int64_t i = 0; i < size[0] * size[1] * size[2] * size[3]; ++i) {
      const auto x = static_cast<double>(i % size[0]);
      const auto y = static_cast<double>(i / size[0] % size[1]);
      const auto z = static_cast<double>(i / (size[0] * size[1]) % size[2]);
      const auto w = static_cast<double>(i / (size[0] * size[1] * size[2]));
      const double smooth = 4 * c[0] + 0.3 * (c[1] * x + c[2] * y + c[3] * z + c[4] * w) +
                            0.02 * (c[5] * x * x + c[6] * y * y + c[7] * z * z + c[8] * x * y * z);
      units.values.push_back(static_cast<T>(smooth + noise * (random.uniform() - 0.5)));
    }
  }
  return units;
}

template <class T>
ComponentSpec spec_of(const std::vector<T>& values, double relative) {
  return test::spec_of(Codec::lorenzo_regression, values, relative);
}

template <class T>
size_t section_bytes(const Units<T>& units, const ComponentSpec& spec) {
  const SectionDraft draft = draft_section(units.source(), spec, Effort::fast);
  EXPECT_EQ(draft.codec, Codec::lorenzo_regression);
  const Bytes bytes = finish_section(draft, nullptr);
  check_section(units, spec, bytes, draft.codec);
  return bytes.size();
}

TEST(LorenzoRegression, UnrelatedUnitsAreBestPredictedAloneInBlocksThatFit) {
  // The claims of AMRIC's figure 7, on unit blocks of 8^3.
  const auto units = unrelated_units<double>({8, 8, 8, 1}, 200, 0.01, 5);
  ComponentSpec spec = spec_of(units.values, 1e-3);
  const size_t adaptive = section_bytes(units, spec);
  spec.tuning.block_cells = 4;
  EXPECT_EQ(section_bytes(units, spec), adaptive) << "8 mod 6 is 2: blocks of 4^3";
  spec.tuning.block_cells = 6;
  const size_t six = section_bytes(units, spec);
  spec.tuning.merge_units = true;
  const size_t merged = section_bytes(units, spec);
  EXPECT_LT(adaptive, six);
  EXPECT_LT(six, merged);
}

TEST(LorenzoRegression, TheSideOfBlocksFollowsEquationOne) {
  for (const auto& [unit, side] :
       {std::pair<int64_t, int>{8, 4}, {16, 6}, {32, 4}, {12, 4}, {15, 6}, {64, 6}}) {
    const auto units = unrelated_units<float>({unit, unit, 12, 1}, 2, 0.05, 3);
    ComponentSpec spec = spec_of(units.values, 1e-2);
    const size_t adaptive = section_bytes(units, spec);
    spec.tuning.block_cells = side;
    EXPECT_EQ(section_bytes(units, spec), adaptive) << unit;
    spec.tuning.block_cells = 10 - side;
    EXPECT_NE(section_bytes(units, spec), adaptive) << unit;
  }
}

template <class T>
void every_shape_and_tuning() {
  const std::vector<Extents> shapes{{1, 1, 1, 1}, {7, 1, 1, 1}, {1, 9, 1, 1}, {1, 1, 300, 1}, {8, 8, 8, 1},
                                    {8, 8, 8, 1}, {5, 0, 3, 1}, {1, 5, 6, 1}, {13, 4, 1, 1},  {13, 4, 1, 1},
                                    {3, 4, 5, 6}, {2, 1, 7, 9}, {8, 8, 8, 1}, {3, 4, 5, 6},   {1, 1, 300, 1}};
  for (const bool masked : {false, true}) {
    Units<T> units;
    units.sizes = shapes;
    test::Random random(4);
    for (const Extents& n : shapes) {
      const auto part = test::rough_field<T>({n[0], n[1], n[2], n[3]}, 0.05, 9);
      units.values.insert(units.values.end(), part.begin(), part.end());
      if (!masked) continue;
      std::vector<uint8_t> left_out(part.size());
      for (uint8_t& cell : left_out) cell = random.below(3) == 0;
      units.left_out.push_back(left_out);
    }
    ComponentSpec spec = spec_of(units.values, 1e-3);
    if (masked) {
      for (T& value : units.values) {
        if (random.below(9) == 0) value = std::numeric_limits<T>::quiet_NaN();
      }
    }
    for (const int side : {0, 4, 6}) {
      for (const bool merged : {false, true}) {
        spec.tuning.block_cells = side;
        spec.tuning.merge_units = merged;
        SCOPED_TRACE(std::to_string(side) + (merged ? " merged" : "") + (masked ? " masked" : ""));
        const SectionDraft draft = draft_section(units.source(), spec, Effort::balanced);
        ASSERT_EQ(draft.codec, Codec::lorenzo_regression);
        const Bytes bytes = finish_section(draft, nullptr);
        const auto all = check_section(units, spec, bytes, draft.codec);
        test::check_reads_alone(units, spec, bytes, draft.codec, all);
      }
    }
  }
}

TEST(LorenzoRegression, EveryShapeAndTuningKeepsTheBoundAndReadsAlone) {
  every_shape_and_tuning<float>();
  every_shape_and_tuning<double>();
}

TEST(LorenzoRegression, PlanesCostCoefficientsOnly) {
  // Steep planes with noise below the bound: Lorenzo would carry the noise on, regression does not.
  auto units = unrelated_units<double>({6, 6, 6, 1}, 300, 0, 8);
  test::Random random(2);
  size_t at = 0;
  for (int k = 0; k < 300; ++k) {
    const double a = random.uniform(), b = random.uniform();
    for (int i = 0; i < 216; ++i) {
      units.values[at++] = a * (i % 6) + b * (i / 36) + 0.001 * (random.uniform() - 0.5);
    }
  }
  ComponentSpec spec = spec_of(units.values, 0);
  spec.bound_abs = 1e-3;
  spec.tuning.block_cells = 6;
  EXPECT_LT(section_bytes(units, spec), 300U * 8) << "a block of 216 values in fewer than 8 bytes";
}

TEST(LorenzoRegression, OffsetsFarAboveTheRangeCostNothing) {
  auto units = unrelated_units<double>({8, 8, 8, 1}, 100, 0.01, 5);
  ComponentSpec spec = spec_of(units.values, 1e-3);
  const size_t near_zero = section_bytes(units, spec);
  for (double& v : units.values) v += 1e6;
  const double bound = spec.bound_abs;
  spec = spec_of(units.values, 1e-3);
  spec.bound_abs = bound;
  EXPECT_LT(static_cast<double>(section_bytes(units, spec)), 1.01 * static_cast<double>(near_zero));
}

TEST(LorenzoRegression, WhatItCannotHoldIsExactAndSaysSo) {
  test::Random random(3);
  Units<float> units;
  units.sizes.push_back({50, 20, 1, 1});
  for (int i = 0; i < 1000; ++i) units.values.push_back(static_cast<float>(1e6 * random.uniform()));
  ComponentSpec spec = spec_of(units.values, 0);
  for (const double bound : {0.0, 1e-3}) {  // 1e-3 is far below the spacing of floats near 1e6
    spec.bound_abs = bound;
    const SectionDraft draft = draft_section(units.source(), spec, Effort::fast);
    EXPECT_EQ(draft.codec, Codec::exact);
    EXPECT_EQ(draft.report.codec, Codec::exact);
    EXPECT_EQ(draft.report.exact_cells, 1000U);
    EXPECT_EQ(draft.report.max_abs_error, 0);
    const auto back = check_section(units, spec, finish_section(draft, nullptr), draft.codec);
    EXPECT_EQ(back, units.values);
  }
}

TEST(LorenzoRegression, ReportsWhatItDid) {
  auto units = unrelated_units<double>({8, 8, 8, 1}, 20, 0.01, 5);
  ComponentSpec spec = spec_of(units.values, 1e-3);
  units.values[100] = std::numeric_limits<double>::infinity();
  units.values[101] = -0.0;
  units.values[2000] = 1e300;
  spec.fill = units.values[3000] = -999;
  const SectionDraft draft = draft_section(units.source(), spec, Effort::fast);
  EXPECT_EQ(draft.report.codec, Codec::lorenzo_regression);
  EXPECT_EQ(draft.report.cells, 20U * 512);
  EXPECT_EQ(draft.report.special_cells, 3U);
  EXPECT_GE(draft.report.exact_cells, 1U);
  EXPECT_LE(draft.report.exact_cells, 8U) << "an outlier spoils the predictions of its next neighbours only";
  EXPECT_GT(draft.report.max_abs_error, 0.5 * spec.bound_abs);
  EXPECT_LE(draft.report.max_abs_error, spec.bound_abs);
  const auto back = check_section(units, spec, finish_section(draft, nullptr), draft.codec);
  EXPECT_EQ(back[2000], 1e300);
  EXPECT_EQ(back[3000], -999);
}

TEST(LorenzoRegression, RefusesDamagedSections) {
  auto units = unrelated_units<double>({8, 8, 8, 1}, 4, 0.3, 5);
  units.values[5] = std::nan("");
  units.values[700] = 1e30;
  ComponentSpec spec = spec_of(unrelated_units<double>({8, 8, 8, 1}, 4, 0.3, 5).values, 1e-3);
  const SectionDraft draft = draft_section(units.source(), spec, Effort::fast);
  ASSERT_EQ(draft.codec, Codec::lorenzo_regression);
  const Bytes whole = finish_section(draft, nullptr);
  const auto decode = [&](ByteSpan bytes) {
    std::vector<double> back(units.values.size());
    SectionTarget<double> target;
    target.rects = units.rects<double*>(back.data(), target.held);
    return decode_section<double>(bytes, Codec::lorenzo_regression, info_of<double>(spec), {}, target);
  };
  ASSERT_TRUE(decode(whole).ok());
  for (size_t n = 0; n < whole.size(); ++n) {
    EXPECT_EQ(decode(ByteSpan(whole).first(n)).code(), Code::corrupt) << n << " bytes of " << whole.size();
  }
  size_t refused = 0;
  for (size_t i = 0; i < whole.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      Bytes damaged = whole;
      damaged[i] ^= std::byte{1} << bit;
      const Status status = decode(damaged);
      refused += status.ok() ? 0 : 1;
      EXPECT_TRUE(status.ok() || status.code() == Code::corrupt) << status.message();
    }
  }
  EXPECT_GT(refused, 100U);
  Bytes other = whole;
  other[0] |= std::byte{0x40};
  EXPECT_NE(decode(other).message().find("0x"), std::string::npos) << decode(other).message();
  other = whole;
  other[1] = std::byte{5};
  EXPECT_NE(decode(other).message().find("side 5"), std::string::npos) << decode(other).message();
}

}  // namespace
}  // namespace neve
