// SPDX-License-Identifier: BSD-3-Clause
// What is particular to codec axis_passes: rectangles of every shape with holes, reading one alone, hostile
// heads, and when effort fast takes it.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/fractional_noise.hpp"
#include "tests/support/section_check.hpp"
#include "tests/support/test_fields.hpp"

namespace neve {
namespace {

using test::check_section;
using test::info_of;
using test::Random;
using test::Units;

template <class T>
Units<T> units_of(const std::vector<Extents>& sizes, double noise, bool with_holes) {
  Units<T> units;
  Random random(sizes.size());
  uint64_t seed = 1;
  for (const Extents& size : sizes) {
    const auto values = test::rough_field<T>({size.begin(), size.end()}, noise, seed++);
    units.sizes.push_back(size);
    units.values.insert(units.values.end(), values.begin(), values.end());
    if (!with_holes) continue;
    std::vector<uint8_t> left_out(values.size());
    for (uint8_t& is_left_out : left_out) is_left_out = random.below(5) == 0 ? 1 : 0;
    units.left_out.push_back(left_out);
  }
  return units;
}

const std::vector<Extents> shapes[] = {
    {{1, 1, 1, 1}, {1, 1, 1, 1}},
    {{2, 1, 1, 1}, {1, 2, 1, 1}, {1, 1, 3, 1}, {1, 1, 1, 4}},
    {{9000, 1, 1, 1}, {1, 0, 1, 1}, {3, 1, 1, 1}},
    {{33, 17, 1, 1}, {8, 8, 1, 1}},
    {{16, 16, 16, 1}, {5, 9, 2, 1}, {24, 1, 7, 1}},
    {{9, 6, 5, 4}, {1, 6, 5, 4}},
};

template <class T>
class AxisPasses : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(AxisPasses, Types);

TYPED_TEST(AxisPasses, RectanglesOfEveryShapeWithHolesAndSpecials) {
  using T = TypeParam;
  for (const auto& sizes : shapes) {
    for (const double relative : {0.3, 1e-3, 1e-6}) {
      for (const bool with_holes : {false, true}) {
        Units<T> units = units_of<T>(sizes, 0.05, with_holes);
        const ComponentSpec spec = test::spec_of(Codec::axis_passes, units.values, relative);
        if (units.values.size() > 100) {
          const auto& specials = test::special_values<T>();
          std::copy(specials.begin(), specials.end(), units.values.begin() + 40);
        }
        const SectionDraft draft = draft_axis_passes(units.source(), spec);
        EXPECT_EQ(draft.codec, Codec::axis_passes);
        EXPECT_LE(draft.report.max_abs_error, spec.bound_abs);
        const Bytes bytes = finish_section(draft, nullptr);
        const auto all = check_section(units, spec, bytes, Codec::axis_passes);
        test::check_reads_alone(units, spec, bytes, Codec::axis_passes, all);
      }
    }
  }
}

TYPED_TEST(AxisPasses, EveryDamagedByteIsRefusedOrDecodesToSomething) {
  using T = TypeParam;
  const Units<T> units = units_of<T>({{20, 9, 5, 1}}, 0.2, true);
  const ComponentSpec spec = test::spec_of(Codec::axis_passes, units.values, 0.05);
  const Bytes bytes = finish_section(draft_axis_passes(units.source(), spec), nullptr);
  const auto decode = [&](ByteSpan damaged) {
    std::vector<T> back(units.values.size());
    SectionTarget<T> target;
    target.rects = units.template rects<T*>(back.data(), target.held);
    return decode_section<T>(damaged, Codec::axis_passes, info_of<T>(spec), {}, target);
  };
  for (size_t n = 0; n < bytes.size(); ++n) EXPECT_FALSE(decode(ByteSpan(bytes).first(n)).ok()) << n;
  for (size_t at = 0; at < bytes.size(); ++at) {
    for (unsigned bit = 0; bit < 8; ++bit) {
      Bytes damaged = bytes;
      damaged[at] ^= static_cast<std::byte>(1U << bit);
      const Status status = decode(damaged);
      EXPECT_TRUE(status.ok() || status.code() == Code::corrupt) << status.message();
    }
  }
}

// --- the choice at effort fast
// -------------------------------------------------------------------------------

template <class T>
Codec chosen(const std::vector<T>& line, double relative, bool decodes_alone) {
  Units<T> units;
  units.sizes = {{static_cast<int64_t>(line.size()), 1, 1, 1}};
  units.values = line;
  ComponentSpec spec = test::spec_of(Codec::automatic, line, relative);
  spec.decodes_alone = decodes_alone;
  return draft_section(units.source(), spec, Effort::fast).codec;
}

TYPED_TEST(AxisPasses, FastTakesItForSmoothLines) {
  const auto line = test::fractional_noise<TypeParam>(16, 0.8, 5);
  EXPECT_EQ(chosen(line, 1e-3, false), Codec::axis_passes);
  // Where prediction from neighbours gains nothing, the faster codec stays.
  std::vector<TypeParam> noise(1 << 14);
  Random random(3);
  for (TypeParam& value : noise) value = static_cast<TypeParam>(random.uniform());
  EXPECT_EQ(chosen(noise, 1e-3, false), Codec::dual_quant);
}

TYPED_TEST(AxisPasses, FastLeavesItWhereValuesMustDecodeAlone) {
  const auto line = test::fractional_noise<TypeParam>(16, 0.8, 5);
  EXPECT_EQ(chosen(line, 1e-3, true), Codec::dual_quant);
}

}  // namespace
}  // namespace neve
