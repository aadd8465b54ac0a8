// SPDX-License-Identifier: BSD-3-Clause
// What is particular to prediction from coarse to fine, through both codecs that use it: its kernels, its
// stencils, passing over what nobody asked for, values that break the quantizer, hostile heads, and when
// codec auto picks it.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <set>
#include <tuple>

#include "core/codecs/interpolation_fields.hpp"
#include "core/kernels/targets.hpp"
#include "core/stages/predict/interpolation.hpp"
#include "tests/support/section_check.hpp"
#include "tests/support/test_fields.hpp"

namespace neve {
namespace {

using test::check_section;
using test::info_of;
using test::Random;
using test::Units;

constexpr std::array interpolating{Codec::interpolation, Codec::context};

// --- kernels ----------------------------------------------------------------------------------------------

template <class T>
const InterpolationKernels<T>& of_table(const Kernels& table) {
  if constexpr (sizeof(T) == 4) {
    return table.interpolation_f32;
  } else {
    return table.interpolation_f64;
  }
}

// Bit for bit, but that a NaN is a NaN: which of two an operation passes on is up to the instruction.
template <class T>
void expect_same(const std::vector<T>& expected, const std::vector<T>& found, const char* what) {
  ASSERT_EQ(expected.size(), found.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    if (std::isnan(expected[i]) && std::isnan(found[i])) continue;
    ASSERT_EQ(std::memcmp(&expected[i], &found[i], sizeof(T)), 0)
        << what << " at " << i << " of " << expected.size() << ": " << expected[i] << " and " << found[i];
  }
}

template <class T>
std::vector<T> row_of(size_t n, Random& random, bool is_hard) {
  std::vector<T> row(n);
  for (T& v : row) {
    v = static_cast<T>((random.uniform() - 0.5) * 20);
    if (!is_hard) continue;
    const auto& special = test::special_values<T>();
    if (random.below(4) == 0)
      v = special[static_cast<size_t>(random.below(static_cast<int64_t>(special.size())))];
    if (random.below(6) == 0) v = v * std::numeric_limits<T>::max() / 16;
  }
  return row;
}

template <class T>
std::vector<T> estimates_of(size_t n, Random& random) {
  std::vector<T> row(n);
  for (T& v : row) v = random.below(5) == 0 ? T{0} : static_cast<T>(random.uniform() * error_cap);
  return row;
}

template <class T>
using Rows = std::vector<std::vector<T>>;

template <class T>
void compare_predictions(const InterpolationKernels<T>& portable, const InterpolationKernels<T>& k,
                         const Rows<T>& rows) {
  const size_t n = rows[0].size();
  std::vector<T> expected(n), found(n);
  for (const std::array<T, 4>& weights :
       {std::array<T, 4>{T(-0.0625), T(0.5625), T(0.5625), T(-0.0625)},
        std::array<T, 4>{T(0), T(1), T(0), T(0)}, std::array<T, 4>{T(1) / 3, T(1) / 3, T(1) / 3, T(0)}}) {
    portable.axis(rows[0].data(), rows[1].data(), rows[2].data(), rows[3].data(), weights.data(), n,
                  expected.data());
    k.axis(rows[0].data(), rows[1].data(), rows[2].data(), rows[3].data(), weights.data(), n, found.data());
    expect_same(expected, found, "axis");
  }

  const std::array<T, 7> tap_weights{T(-0.37109375), T(0.5), T(3), T(0), T(-128), T(0.00390625), T(1)};
  std::array<const T*, 7> taps{};
  for (size_t t = 0; t < taps.size(); ++t) taps[t] = rows[t % 3].data();
  for (size_t count = 0; count <= taps.size(); ++count) {
    expected = found = rows[0];
    portable.add_taps(taps.data(), tap_weights.data(), count, rows[3].data(), n, expected.data());
    k.add_taps(taps.data(), tap_weights.data(), count, rows[3].data(), n, found.data());
    expect_same(expected, found, "add_taps");
  }
}

template <class T>
void compare_blends(const InterpolationKernels<T>& portable, const InterpolationKernels<T>& k,
                    const Rows<T>& rows, const Rows<T>& estimates, bool is_hard) {
  const size_t n = rows[0].size();
  std::vector<T> expected(n), found(n);
  for (const T scale : {T(0), T(1) / T(9)}) {
    portable.estimate(estimates[0].data() + 1, estimates[1].data() + 1, estimates[2].data() + 1, scale, n,
                      expected.data());
    k.estimate(estimates[0].data() + 1, estimates[1].data() + 1, estimates[2].data() + 1, scale, n,
               found.data());
    expect_same(expected, found, "estimate");
  }

  std::array<const T*, 4> p{};
  std::array<const T*, 4> e{};
  for (size_t r = 0; r < 4; ++r) {
    p[r] = rows[r].data();
    e[r] = estimates[r].data();
  }
  for (const int experts : {2, 3, 4}) {
    portable.blend(p.data(), e.data(), experts, n, expected.data());
    k.blend(p.data(), e.data(), experts, n, found.data());
    expect_same(expected, found, "blend");
    for (size_t i = 0; i < n && !is_hard; ++i) {
      const auto [lo, hi] =
          std::minmax({p[0][i], p[1][i], p[std::min(experts, 3) - 1][i], p[experts - 1][i]});
      const T slack = T(1e-4);
      ASSERT_TRUE(found[i] >= lo - slack && found[i] <= hi + slack) << "a mean lies among what it is of";
    }
  }
}

template <class T>
void compare_quantizers(const InterpolationKernels<T>& portable, const InterpolationKernels<T>& k,
                        const Rows<T>& rows) {
  const size_t n = rows[0].size();
  std::vector<T> expected(n), found(n);
  const ResidualQuantizer<T> q{T(0.02), 1 / T(0.02), T(0.00999)};
  std::vector<int32_t> expected_quant_codes(n), found_quant_codes(n);
  expected = found = rows[1];
  portable.quantize(expected.data(), rows[0].data(), q, n, expected_quant_codes.data());
  k.quantize(found.data(), rows[0].data(), q, n, found_quant_codes.data());
  expect_same(expected, found, "quantize");
  ASSERT_EQ(expected_quant_codes, found_quant_codes);

  std::vector<T> back(n);
  portable.reconstruct(expected_quant_codes.data(), rows[0].data(), q.step, n, expected.data());
  k.reconstruct(expected_quant_codes.data(), rows[0].data(), q.step, n, back.data());
  expect_same(expected, back, "reconstruct");
  for (size_t i = 0; i < n; ++i) {
    if (found_quant_codes[i] == rejected_quant_code) {
      ASSERT_EQ(std::memcmp(&found[i], &rows[1][i], sizeof(T)), 0) << "a rejected value stays";
    } else {
      ASSERT_EQ(std::memcmp(&found[i], &back[i], sizeof(T)), 0) << "the decoder's value";
      ASSERT_LE(std::abs(found[i] - rows[1][i]), q.tolerance);
      ASSERT_LT(std::abs(found_quant_codes[i]), residual_limit);
    }
  }

  portable.errors(rows[1].data(), rows[0].data(), q.inverse_step, n, expected.data());
  k.errors(rows[1].data(), rows[0].data(), q.inverse_step, n, found.data());
  expect_same(expected, found, "errors");
  for (const T error : found) ASSERT_TRUE(error >= 0 && error <= T(error_cap)) << error;
}

template <class T>
void compare_magnitudes(const InterpolationKernels<T>& portable, const InterpolationKernels<T>& k, size_t n,
                        Random& random) {
  std::vector<uint8_t> magnitudes(n);
  for (uint8_t& m : magnitudes) m = static_cast<uint8_t>(random.below(256));
  std::vector<uint16_t> expected_sum(n, 2550), found_sum(n, 2550);
  for (const unsigned weight : {1U, 2U}) {
    portable.add_magnitudes(magnitudes.data(), weight, n, expected_sum.data());
    k.add_magnitudes(magnitudes.data(), weight, n, found_sum.data());
  }
  ASSERT_EQ(expected_sum, found_sum);
  ASSERT_EQ(found_sum[0], 2550 + 3 * magnitudes[0]);
}

template <class T>
void compare_interpolation_kernels(const Kernels& table, size_t n, bool is_hard, uint64_t seed) {
  SCOPED_TRACE(std::string(table.name) + ", " + std::to_string(n) + " cells" + (is_hard ? ", hard" : ""));
  const InterpolationKernels<T>& portable = of_table<T>(portable_kernels());
  const InterpolationKernels<T>& k = of_table<T>(table);
  Random random(seed);
  Rows<T> rows;
  for (int r = 0; r < 4; ++r) rows.push_back(row_of<T>(n, random, is_hard));
  ASSERT_NO_FATAL_FAILURE(compare_predictions(portable, k, rows));
  Rows<T> estimates;
  for (int e = 0; e < 4; ++e) estimates.push_back(estimates_of<T>(n + 2, random));
  ASSERT_NO_FATAL_FAILURE(compare_blends(portable, k, rows, estimates, is_hard));
  ASSERT_NO_FATAL_FAILURE(compare_quantizers(portable, k, rows));
  ASSERT_NO_FATAL_FAILURE(compare_magnitudes(portable, k, n, random));
}

TEST(InterpolationKernels, LikePortableWhateverTheRow) {
  for (const Kernels* table : supported_kernels()) {
    for (size_t n = 1; n < 40; ++n) {
      for (const bool is_hard : {false, true}) {
        compare_interpolation_kernels<float>(*table, n, is_hard, n);
        compare_interpolation_kernels<double>(*table, n, is_hard, n);
      }
    }
    compare_interpolation_kernels<float>(*table, 3000, true, 1);
    compare_interpolation_kernels<double>(*table, 3000, true, 1);
  }
}

// --- stencils ---------------------------------------------------------------------------------------------

TEST(Stencil, TapsAreCellsThatAreDecodedBefore) {
  const auto place = [](int c) {
    for (size_t i = 0; i < class_order.size(); ++i) {
      if (class_order[i] == c) return static_cast<int>(i) + 1;
    }
    return 0;
  };
  for (const int c : class_order) {
    for (int live = 0; live < class_count; ++live) {
      std::set<std::tuple<int, int, int>> offsets;
      for (const Tap& tap : stencil_taps(c, live)) {
        if (tap.from_class == c) {
          EXPECT_TRUE(tap.shift[2] < 0 || (tap.shift[2] == 0 && tap.shift[1] < 0)) << "a row before";
        } else {
          EXPECT_LT(place(tap.from_class), place(c));
        }
        std::array<int, 3> offset{};  // in cells of the level's grid
        for (size_t d = 0; d < 3; ++d) {
          offset[d] = 2 * tap.shift[d] + ((tap.from_class >> d) & 1) - ((c >> d) & 1);
          EXPECT_TRUE(offset[d] == 0 || ((live >> d) & 1) != 0);
          EXPECT_LE(std::abs(offset[d]), 3);
        }
        EXPECT_TRUE(offsets.emplace(offset[0], offset[1], offset[2]).second) << "twice";
      }
      for (int d = 0; d < 3; ++d) {
        if (((c & live) >> d & 1) == 0) continue;
        for (const int at : {-3, -1, 1, 3}) {
          const std::array<int, 3> on_axis{d == 0 ? at : 0, d == 1 ? at : 0, d == 2 ? at : 0};
          EXPECT_TRUE(offsets.contains({on_axis[0], on_axis[1], on_axis[2]})) << c << " " << live;
        }
      }
    }
  }
}

// --- sections ---------------------------------------------------------------------------------------------

template <class T, class Field>
Units<T> one_field(const Extents& size, const Field& field) {
  Units<T> units;
  units.sizes.push_back(size);
  for (int64_t z = 0; z < size[2]; ++z) {
    for (int64_t y = 0; y < size[1]; ++y) {
      for (int64_t x = 0; x < size[0]; ++x) {
        units.values.push_back(
            static_cast<T>(field(static_cast<double>(x), static_cast<double>(y), static_cast<double>(z))));
      }
    }
  }
  return units;
}

template <class T>
Units<T> swell(const Extents& size) {
  return one_field<T>(size, [](double x, double y, double z) {
    return std::sin(0.2 * x) + std::sin(0.15 * y + 1) * std::cos(0.1 * z);
  });
}

template <class T>
size_t section_bytes(const Units<T>& units, const ComponentSpec& spec, Effort effort = Effort::fast) {
  const SectionDraft draft = draft_section(units.source(), spec, effort);
  EXPECT_EQ(draft.report.codec, draft.codec);
  const Bytes bytes = finish_section(draft, nullptr);
  check_section(units, spec, bytes, draft.codec);
  return bytes.size();
}

template <class T>
SectionDraft draft_with(Codec codec, const Units<T>& units, const ComponentSpec& spec) {
  return codec == Codec::context ? draft_context(units.source(), spec)
                                 : draft_interpolation(units.source(), spec);
}

TEST(Interpolation, SmoothFieldsTakeFarLessThanWithDualQuant) {
  const auto units = swell<float>({48, 40, 44, 1});
  ComponentSpec spec = test::spec_of(Codec::dual_quant, units.values, 1e-3);
  const size_t dual_quant = section_bytes(units, spec, Effort::balanced);
  spec.codec = Codec::interpolation;
  const size_t interpolation = section_bytes(units, spec, Effort::balanced);
  spec.codec = Codec::context;
  const size_t context = section_bytes(units, spec, Effort::balanced);
  EXPECT_LT(static_cast<double>(interpolation), 0.6 * static_cast<double>(dual_quant));
  EXPECT_LT(static_cast<double>(context), 0.9 * static_cast<double>(interpolation));
}

TEST(Interpolation, StencilsAreForWhatRunsAcrossTheDirections) {
  // Waves so short that cubic interpolation misses them, each cell a combination of its neighbours though.
  const auto waves = one_field<double>({47, 47, 47, 1}, [](double x, double y, double z) {
    return std::sin(0.9 * x + 0.4 * y + 0.7 * z) + std::sin(0.5 * x - 1.1 * y);
  });
  for (const Codec codec : interpolating) {
    const auto stencils = [&](const Units<double>& units, double relative) {
      const ComponentSpec spec = test::spec_of(codec, units.values, relative);
      const Bytes bytes = finish_section(draft_with(codec, units, spec), nullptr);
      check_section(units, spec, bytes, codec);
      ByteReader in(bytes);
      const auto head = read_interpolation_head<double>(in, units.values.size(), MayMerge::no);
      EXPECT_TRUE(head.ok());
      EXPECT_FALSE(head->model.empty());
      std::vector<size_t> taps;
      for (const auto& weights : head->model[0].weights) taps.push_back(weights.size());
      return taps;
    };
    std::vector<size_t> all{0};
    for (int c = 1; c < class_count; ++c) all.push_back(stencil_taps(c, 7).size());
    EXPECT_EQ(stencils(waves, 1e-4), all);
    EXPECT_EQ(stencils(swell<double>({23, 23, 23, 1}), 1e-2), std::vector<size_t>(class_count))
        << "where interpolation is good enough none pays for its weights";
  }
}

template <class T>
void every_shape() {
  const std::vector<Extents> shapes{{1, 1, 1, 1}, {7, 1, 1, 1}, {1, 9, 1, 1},  {1, 1, 300, 1}, {8, 8, 8, 1},
                                    {2, 2, 2, 2}, {5, 0, 3, 1}, {1, 5, 6, 1},  {13, 4, 1, 1},  {3, 4, 5, 6},
                                    {2, 1, 7, 9}, {1, 1, 1, 5}, {30, 30, 9, 1}};
  for (const Codec codec : interpolating) {
    for (const bool masked : {false, true}) {
      SCOPED_TRACE(std::string(codec_name(codec)) + (masked ? " masked" : ""));
      Units<T> units;
      units.sizes = shapes;
      Random random(4);
      for (const Extents& n : shapes) {
        const auto part = test::rough_field<T>({n[0], n[1], n[2], n[3]}, 0.01, 9);
        units.values.insert(units.values.end(), part.begin(), part.end());
        if (!masked) continue;
        std::vector<uint8_t> left_out(part.size());
        for (uint8_t& cell : left_out) cell = random.below(3) == 0;
        units.left_out.push_back(left_out);
      }
      const ComponentSpec spec = test::spec_of(codec, units.values, 1e-3);
      if (masked) {
        for (T& value : units.values) {
          if (random.below(9) == 0) value = std::numeric_limits<T>::quiet_NaN();
        }
      }
      const SectionDraft draft = draft_section(units.source(), spec, Effort::balanced);
      ASSERT_EQ(draft.codec, codec);
      const Bytes bytes = finish_section(draft, nullptr);
      const auto all = check_section(units, spec, bytes, draft.codec);
      test::check_reads_alone(units, spec, bytes, draft.codec, all);
    }
  }
}

TEST(Interpolation, EveryShapeKeepsTheBoundAndReadsAlone) {
  every_shape<float>();
  every_shape<double>();
}

TEST(Interpolation, WhatLiesInLeftOutCellsChangesNothing) {
  for (const Codec codec : interpolating) {
    auto units = swell<double>({20, 21, 22, 1});
    const ComponentSpec spec = test::spec_of(codec, units.values, 1e-3);
    units.left_out.emplace_back(units.values.size());
    for (size_t i = 0; i < units.values.size(); ++i) units.left_out[0][i] = i % 20 < 9 || i < 900;
    std::vector<Bytes> written;
    for (const double hole : {0.0, 1e300, std::nan("")}) {
      for (size_t i = 0; i < units.values.size(); ++i) {
        if (units.left_out[0][i] != 0) units.values[i] = hole;
      }
      written.push_back(finish_section(draft_with(codec, units, spec), nullptr));
      check_section(units, spec, written.back(), codec);
    }
    EXPECT_EQ(written[0], written[1]) << codec_name(codec);
    EXPECT_EQ(written[0], written[2]) << codec_name(codec);
  }
}

TEST(Interpolation, ValuesThatBreakTheQuantizerComeBackWithinTheBound) {
  Random random(3);
  Units<float> units;
  units.sizes.push_back({50, 20, 1, 1});
  for (int i = 0; i < 1000; ++i) units.values.push_back(static_cast<float>(1e6 * (1 + random.uniform())));
  for (const Codec codec : interpolating) {
    ComponentSpec spec = test::spec_of(codec, units.values, 0);
    spec.bound_abs = 1e-3;  // far below the spacing of floats near 1e6
    const SectionDraft draft = draft_with(codec, units, spec);
    EXPECT_GT(draft.report.exact_cells, 900U) << "some predictions hit by chance";
    EXPECT_LE(draft.report.max_abs_error, spec.bound_abs);
    check_section(units, spec, finish_section(draft, nullptr), codec);
    const SectionDraft selected = draft_section(units.source(), spec, Effort::fast);
    EXPECT_EQ(selected.codec, Codec::exact) << "smaller, and says so";
    EXPECT_EQ(selected.report.codec, Codec::exact);
    EXPECT_EQ(selected.report.exact_cells, 1000U);
  }
}

TEST(Interpolation, ReportsWhatItDid) {
  for (const Codec codec : interpolating) {
    auto units = swell<double>({20, 21, 22, 1});
    ComponentSpec spec = test::spec_of(codec, units.values, 1e-3);
    units.values[100] = std::numeric_limits<double>::infinity();
    units.values[101] = -0.0;
    units.values[2000] = 1e300;
    spec.fill = units.values[3000] = -999;
    const SectionDraft draft = draft_section(units.source(), spec, Effort::fast);
    EXPECT_EQ(draft.report.codec, codec);
    EXPECT_EQ(draft.report.cells, 20U * 21 * 22);
    EXPECT_EQ(draft.report.special_cells, 3U);
    EXPECT_GE(draft.report.exact_cells, 1U);
    EXPECT_LE(draft.report.exact_cells, 200U) << "an outlier spoils the predictions near it only";
    EXPECT_GT(draft.report.max_abs_error, 0.5 * spec.bound_abs);
    EXPECT_LE(draft.report.max_abs_error, spec.bound_abs);
    const auto back = check_section(units, spec, finish_section(draft, nullptr), draft.codec);
    EXPECT_EQ(back[2000], 1e300);
    EXPECT_EQ(back[3000], -999);
  }
}

// --- merged rectangles ------------------------------------------------------------------------------------

constexpr std::byte specials_flag{1}, merged_flag{2};

template <class T>
Bytes merged_bytes(const Units<T>& units, ComponentSpec spec) {
  spec.tuning.merge_units = true;
  const SectionDraft draft = draft_section(units.source(), spec, Effort::balanced);
  EXPECT_EQ(draft.codec, Codec::interpolation);
  return finish_section(draft, nullptr);
}

// Blocks of `side` cells along z of one field: what they would be cut from.
Units<double> line_of(int64_t side, int64_t blocks) {
  Units<double> units = swell<double>({side, side, side * blocks, 1});
  units.sizes.assign(static_cast<size_t>(blocks), {side, side, side, 1});
  return units;
}

TEST(MergedInterpolation, UnitsOfOneLineAreCodedAsTheirField) {
  const Units<double> units = line_of(8, 12);
  Units<double> whole = units;
  whole.sizes = {{8, 8, 96, 1}};
  const ComponentSpec spec = test::spec_of(Codec::interpolation, units.values, 1e-3);
  const Bytes merged = merged_bytes(units, spec);
  Bytes expected = finish_section(draft_section(whole.source(), spec, Effort::balanced), nullptr);
  ASSERT_EQ(expected[0], std::byte{0});
  expected[0] = merged_flag;
  EXPECT_EQ(merged, expected);
  EXPECT_EQ(check_section(units, spec, merged, Codec::interpolation),
            check_section(whole, spec, expected, Codec::interpolation));
  EXPECT_LT(10 * merged.size(), 7 * section_bytes(units, spec, Effort::balanced))
      << "an anchor and extrapolations for each block";
}

TEST(MergedInterpolation, OnlyWhereSomethingIsMerged) {
  ComponentSpec merging = test::spec_of(Codec::interpolation, swell<double>({8, 8, 8, 1}).values, 1e-3);
  merging.tuning.merge_units = true;
  for (const std::vector<Extents>& sizes :
       {std::vector<Extents>{{8, 8, 8, 1}}, std::vector<Extents>{{8, 8, 4, 1}, {8, 4, 8, 1}},
        std::vector<Extents>{{4, 4, 4, 4}, {4, 4, 4, 4}}}) {
    Units<double> units = swell<double>({8, 8, 8, 1});
    units.sizes = sizes;
    ComponentSpec alone = merging;
    alone.tuning.merge_units = false;
    const auto bytes_of = [&](const ComponentSpec& spec) {
      return finish_section(draft_section(units.source(), spec, Effort::fast), nullptr);
    };
    EXPECT_EQ(bytes_of(merging), bytes_of(alone));
    EXPECT_EQ(bytes_of(merging)[0], std::byte{0});
  }
}

TEST(MergedInterpolation, AutoAndContextDoNotMerge) {
  const Units<double> units = line_of(8, 12);
  for (const Codec codec : {Codec::context, Codec::automatic}) {
    for (const Effort effort : {Effort::fast, Effort::balanced}) {
      ComponentSpec spec = test::spec_of(codec, units.values, 1e-3);
      const SectionDraft alone = draft_section(units.source(), spec, effort);
      spec.tuning.merge_units = true;
      const SectionDraft asked = draft_section(units.source(), spec, effort);
      if (asked.codec == Codec::lorenzo_regression) continue;  // which does
      EXPECT_EQ(finish_section(asked, nullptr), finish_section(alone, nullptr)) << codec_name(codec);
    }
  }
}

// Rectangles of the same size at several places among others, some without cells, in every direction.
template <class T>
Units<T> mixed_units(bool masked, uint64_t seed) {
  Units<T> units;
  units.sizes = {{8, 8, 8, 1}, {7, 1, 1, 1}, {1, 1, 1, 1}, {8, 8, 8, 1}, {5, 0, 3, 1}, {1, 9, 1, 1},
                 {7, 1, 1, 1}, {1, 1, 1, 1}, {3, 4, 5, 6}, {8, 8, 3, 1}, {1, 9, 1, 1}, {5, 0, 3, 1},
                 {8, 8, 8, 1}, {3, 4, 5, 6}, {6, 1, 4, 1}, {6, 1, 4, 1}, {1, 9, 1, 1}};
  Random random(seed);
  for (const Extents& n : units.sizes) {
    const auto part = test::rough_field<T>({n[0], n[1], n[2], n[3]}, 0.01, seed);
    units.values.insert(units.values.end(), part.begin(), part.end());
    if (!masked) continue;
    // Of some rectangles nothing is left out, of one everything.
    std::vector<uint8_t> left_out(part.size());
    const int64_t kind = units.left_out.size() == 3 ? 1 : random.below(4);
    for (uint8_t& cell : left_out) cell = kind == 1 || (kind > 1 && random.below(3) == 0) ? 1 : 0;
    units.left_out.push_back(kind == 0 ? std::vector<uint8_t>() : left_out);
  }
  return units;
}

template <class T>
void every_merged_shape() {
  for (const bool masked : {false, true}) {
    for (uint64_t seed = 1; seed < 6; ++seed) {
      SCOPED_TRACE(std::to_string(seed) + (masked ? " masked" : ""));
      Units<T> units = mixed_units<T>(masked, seed);
      const ComponentSpec spec = test::spec_of(Codec::interpolation, units.values, 1e-3);
      if (masked) {
        Random random(seed);
        const auto& specials = test::special_values<T>();
        for (T& value : units.values) {
          if (random.below(9) == 0)
            value = specials[static_cast<size_t>(random.below(static_cast<int64_t>(specials.size())))];
        }
      }
      const Bytes bytes = merged_bytes(units, spec);
      EXPECT_EQ(bytes[0], masked ? (merged_flag | specials_flag) : merged_flag);
      const auto all = check_section(units, spec, bytes, Codec::interpolation);
      test::check_reads_alone(units, spec, bytes, Codec::interpolation, all);
    }
  }
}

TEST(MergedInterpolation, EveryShapeKeepsTheBoundAndReadsAlone) {
  every_merged_shape<float>();
  every_merged_shape<double>();
}

TEST(MergedInterpolation, TheSameBytesOnEveryTarget) {
  const Units<float> units = mixed_units<float>(true, 3);
  const ComponentSpec spec = test::spec_of(Codec::interpolation, units.values, 1e-3);
  const std::string used = simd_target();
  const Bytes expected = merged_bytes(units, spec);
  for (const std::string& target : simd_targets()) {
    ASSERT_TRUE(set_simd_target(target).ok());
    EXPECT_EQ(merged_bytes(units, spec), expected) << target;
  }
  ASSERT_TRUE(set_simd_target(used).ok());
}

// --- hostile sections -------------------------------------------------------------------------------------

Status decode_units(Codec codec, const Units<double>& units, const ComponentSpec& spec, ByteSpan bytes) {
  std::vector<double> back(units.values.size());
  SectionTarget<double> target;
  target.rects = units.rects<double*>(back.data(), target.held);
  return decode_section<double>(bytes, codec, info_of<double>(spec), {}, target);
}

TEST(Interpolation, RefusesDamagedSections) {
  for (const Codec codec : interpolating) {
    auto units = swell<double>({9, 8, 7, 1});
    const ComponentSpec spec = test::spec_of(codec, units.values, 1e-4);
    units.values[5] = std::nan("");
    units.values[400] = 1e30;
    const Bytes whole = finish_section(draft_with(codec, units, spec), nullptr);
    ASSERT_TRUE(decode_units(codec, units, spec, whole).ok());
    for (size_t n = 0; n < whole.size(); ++n) {
      const Status status = decode_units(codec, units, spec, ByteSpan(whole).first(n));
      EXPECT_EQ(status.code(), Code::corrupt)
          << codec_name(codec) << ", " << n << " bytes of " << whole.size();
      EXPECT_FALSE(status.message().empty());
    }
    Bytes longer = whole;
    longer.push_back(std::byte{0});
    EXPECT_EQ(decode_units(codec, units, spec, longer).code(), Code::corrupt);
    size_t refused = 0;
    for (size_t i = 0; i < whole.size(); ++i) {
      for (int bit = 0; bit < 8; ++bit) {
        Bytes damaged = whole;
        damaged[i] ^= std::byte{1} << bit;
        const Status status = decode_units(codec, units, spec, damaged);
        refused += status.ok() ? 0 : 1;
        EXPECT_TRUE(status.ok() || status.code() == Code::corrupt) << status.message();
      }
    }
    EXPECT_GT(refused, 100U);
  }
}

TEST(MergedInterpolation, RefusesDamagedSections) {
  auto units = mixed_units<double>(true, 2);
  const ComponentSpec spec = test::spec_of(Codec::interpolation, units.values, 1e-3);
  units.values[5] = std::nan("");
  units.values[700] = 1e30;
  const Bytes whole = merged_bytes(units, spec);
  ASSERT_TRUE(decode_units(Codec::interpolation, units, spec, whole).ok());
  for (size_t n = 0; n < whole.size(); ++n) {
    EXPECT_EQ(decode_units(Codec::interpolation, units, spec, ByteSpan(whole).first(n)).code(), Code::corrupt)
        << n << " bytes of " << whole.size();
  }
  size_t refused = 0;
  for (size_t i = 0; i < whole.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      Bytes damaged = whole;
      damaged[i] ^= std::byte{1} << bit;
      const Status status = decode_units(Codec::interpolation, units, spec, damaged);
      refused += status.ok() ? 0 : 1;
      EXPECT_TRUE(status.ok() || status.code() == Code::corrupt) << status.message();
    }
  }
  EXPECT_GT(refused, 100U);
}

TEST(MergedInterpolation, IsRefusedWhereNothingIsMerged) {
  const Units<double> units = line_of(4, 3);
  const ComponentSpec spec = test::spec_of(Codec::interpolation, units.values, 1e-3);
  const Bytes merged = merged_bytes(units, spec);
  const Status in_context = decode_units(Codec::context, units, spec, merged);
  EXPECT_EQ(in_context.code(), Code::corrupt);
  EXPECT_NE(in_context.message().find("unknown flags 0x02"), std::string::npos) << in_context.message();

  std::vector<double> back(units.values.size());
  SectionTarget<double> target;
  target.rects = units.rects<double*>(back.data(), target.held);
  target.nested.resize(target.rects.size());
  const Status in_nested =
      decode_section<double>(merged, Codec::interpolation, info_of<double>(spec), {}, target);
  EXPECT_EQ(in_nested.code(), Code::corrupt);
  EXPECT_NE(in_nested.message().find("merged rectangles"), std::string::npos) << in_nested.message();
}

TEST(Interpolation, HeadsThatClaimTooMuchAreRefusedByName) {
  const auto units = swell<double>({4, 4, 4, 1});
  const ComponentSpec spec = test::spec_of(Codec::context, units.values, 1e-3);
  struct Case {
    std::vector<int> bytes;
    const char* says;
  };
  const std::vector<Case> cases{
      {{0xfe}, "unknown flags 0xfe"},
      {{0, 5}, "5 levels"},
      {{0, 1, 0x80, 0x80, 0x80, 0x01, 0}, "linear 0x200000"},
      {{0, 1, 0, 1}, "stencils 0x01"},
      {{0, 1, 0, 2, 8}, "directions 0x08"},
      {{0, 1, 0, 4, 1, 0}, "a stencil for class 2"},
      {{0, 1, 0, 2, 1, 0x82, 0x80, 0x04}, "weight 32769"},
      {{0, 0, 65}, "65 anchors among 64"},
      {{0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f}, "anchors among 64"},
      {{0, 0, 1, 0, 4, 0x82, 0x80, 0x80, 0x02}, "anchor 2097153"},
      {{0, 0, 1, 0, 4, 0xff, 0xff, 0xff, 0x01}, "anchor -2097152"},
      {{0, 0, 1, 0, 2, 0, 0}, "1 bytes behind its anchors"},
      {{0, 0, 1, 0, 1, 0, 65}, "65 exact values among 64"},
      {{0, 0, 1, 0, 1, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f}, "exact values among 64"},
  };
  for (const Codec codec : interpolating) {
    for (const Case& c : cases) {
      Bytes bytes;
      for (const int b : c.bytes) bytes.push_back(static_cast<std::byte>(b));
      const Status status = decode_units(codec, units, spec, bytes);
      EXPECT_EQ(status.code(), Code::corrupt);
      EXPECT_NE(status.message().find(c.says), std::string::npos) << status.message() << "; not: " << c.says;
    }
  }
}

TEST(Interpolation, AnchorsAndExactValuesMustComeOutEven) {
  const auto units = swell<double>({4, 4, 4, 1});
  for (const Codec codec : interpolating) {
    const ComponentSpec spec = test::spec_of(codec, units.values, 1e-3);
    const Bytes whole = finish_section(draft_with(codec, units, spec), nullptr);
    // The head: no flags, two levels of a linear mask and no stencils, one anchor, none exact.
    ByteReader in(whole);
    ASSERT_EQ(in.get<uint8_t>(), 0);
    ASSERT_EQ(in.get<uint8_t>(), 2);
    for (int level = 0; level < 2; ++level) {
      (void)in.get_varint();
      ASSERT_EQ(in.get<uint8_t>(), 0);
    }
    const auto at = static_cast<ptrdiff_t>(whole.size() - in.remaining());
    ASSERT_EQ(in.get_varint(), 1U);
    const auto rewritten = [&](const std::vector<int>& anchors) {
      Bytes bytes(whole.begin(), whole.begin() + at);
      for (const int b : anchors) bytes.push_back(static_cast<std::byte>(b));
      ByteReader packed(whole);
      (void)packed.get_bytes(static_cast<uint64_t>(at));
      (void)packed.get_varint();
      (void)packed.get<uint8_t>();
      const uint64_t size = packed.get_varint();
      (void)packed.get_bytes(size);
      bytes.insert(bytes.end(), whole.end() - static_cast<ptrdiff_t>(packed.remaining()), whole.end());
      return bytes;
    };
    EXPECT_TRUE(decode_units(codec, units, spec, rewritten({1, 0, 1, 2})).ok()) << "another anchor";
    EXPECT_FALSE(decode_units(codec, units, spec, rewritten({0, 0, 0})).ok()) << "none";
    EXPECT_FALSE(decode_units(codec, units, spec, rewritten({2, 0, 2, 2, 2})).ok()) << "two";
    EXPECT_FALSE(decode_units(codec, units, spec, rewritten({1, 0, 4, 0x80, 0x80, 0x80, 0x02})).ok())
        << "an exact value that is not there";
  }
}

// --- selection --------------------------------------------------------------------------------------------

TEST(InterpolationSelection, AutoIsNeverLargerThanDualQuantAtTheSameEffort) {
  Random random(1);
  std::vector<Units<float>> fields{swell<float>({40, 40, 40, 1}), swell<float>({8, 8, 8, 1}),
                                   swell<float>({5000, 1, 1, 1}), swell<float>({90, 80, 1, 1})};
  fields.push_back(
      one_field<float>({30, 30, 30, 1}, [&](double, double, double) { return random.uniform(); }));
  // Half calm and half rough: several codebooks.
  fields.push_back(one_field<float>({64, 64, 10, 1}, [&](double x, double, double z) {
    return std::sin(0.1 * x) + (z < 5 ? 1e-3 : 1) * random.uniform();
  }));
  // Plateaus with edges, which interpolation overshoots; and the same on a rough slope, so that no value
  // stands twice.
  const auto plateaus = [](double x, double y, double z) {
    return std::floor(x / 7) + 10 * std::floor(y / 9) + 3 * std::floor(z / 5);
  };
  fields.push_back(one_field<float>({50, 50, 20, 1}, plateaus));
  fields.push_back(one_field<float>({50, 50, 20, 1}, [&](double x, double y, double z) {
    return plateaus(x, y, z) + 0.0371 * x + 0.0173 * y + 0.0519 * z + 0.002 * random.uniform();
  }));
  std::set<Codec> chosen;
  for (size_t f = 0; f < fields.size(); ++f) {
    for (const double relative : {1e-2, 1e-4}) {
      for (const Effort effort : {Effort::fast, Effort::balanced, Effort::max}) {
        ComponentSpec spec = test::spec_of(Codec::dual_quant, fields[f].values, relative);
        const size_t alone = section_bytes(fields[f], spec, effort);
        spec.codec = Codec::automatic;
        const size_t selected = section_bytes(fields[f], spec, effort);
        // Below effort max it is chosen by samples, which small fields may mislead.
        const size_t slack = effort == Effort::fast       ? alone / 20
                             : effort == Effort::balanced ? alone / 50
                                                          : 0;
        EXPECT_LE(selected, alone + slack + 8)
            << "field " << f << ", effort " << static_cast<int>(effort) << ", " << relative;
        chosen.insert(draft_section(fields[f].source(), spec, effort).codec);
      }
    }
  }
  EXPECT_EQ(chosen, (std::set{Codec::dual_quant, Codec::lorenzo_regression, Codec::interpolation,
                              Codec::context, Codec::axis_passes, Codec::lossless}));
}

}  // namespace
}  // namespace neve
