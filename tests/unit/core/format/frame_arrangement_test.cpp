// SPDX-License-Identifier: BSD-3-Clause
// Arrangements change how well values are predicted, never what a reader gets.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "core/format/regions.hpp"
#include "core/threads/scratch.hpp"
#include "neve/frame.hpp"
#include "tests/support/lossy_codecs.hpp"
#include "tests/support/test_fields.hpp"

namespace neve {
namespace {

constexpr std::array<SectionArrangement, 9> forced{{{Arrangement::linear, 0},
                                                    {Arrangement::linear, 8},
                                                    {Arrangement::linear, 16},
                                                    {Arrangement::cluster, 8},
                                                    {Arrangement::cluster, 16},
                                                    {Arrangement::cluster, 32},
                                                    {Arrangement::linear, 64},
                                                    {Arrangement::cluster, 64},
                                                    {Arrangement::in_place, 0}}};

std::string name_of(const SectionArrangement& a) {
  return std::string(arrangement_name(a.arrangement)) + " " + std::to_string(a.unit_cells);
}

CodecTuning tuning_of(const SectionArrangement& a) {
  CodecTuning tuning;
  tuning.arrangement = a.arrangement;
  tuning.unit_cells = a.unit_cells;
  return tuning;
}

// Boxes with a field that is smooth in space, whatever box a cell lies in.
template <class T>
struct Level {
  FrameLayout layout;
  std::vector<std::vector<T>> values;  // of each box: component after component

  std::vector<BoxData> data() const {
    std::vector<BoxData> boxes;
    for (size_t b = 0; b < values.size(); ++b) {
      boxes.push_back(dense_box_data(values[b].data(), layout.boxes[b]));
    }
    return boxes;
  }
};

template <class T>
Level<T> fill_level(int ndim, int components, std::vector<FrameBox> boxes, uint64_t seed) {
  Level<T> level;
  level.layout.ndim = ndim;
  level.layout.components = components;
  level.layout.boxes = std::move(boxes);
  level.layout.element_count = level.layout.held_elements();
  test::Random random(seed);
  for (const FrameBox& box : level.layout.boxes) {
    std::vector<T> values;
    for (int c = 0; c < components; ++c) {
      for (int64_t i = 0; i < box.cells(); ++i) {
        const double x = static_cast<double>(box.lo[0] + i % box.size[0]);
        const double y = static_cast<double>(box.lo[1] + i / box.size[0] % box.size[1]);
        const double z = static_cast<double>(box.lo[2] + i / (box.size[0] * box.size[1]));
        const double smooth = 1 + 1e-3 * x * x + 2e-3 * x * y - 1e-3 * y * z + 0.03 * z * (c + 1);
        values.push_back(static_cast<T>(smooth + 1e-3 * random.uniform()));
      }
    }
    level.values.push_back(std::move(values));
  }
  return level;
}

FrameBox box_at(const Extents& lo, const Extents& size) {
  FrameBox box;
  box.lo = lo;
  box.size = size;
  return box;
}

// Sets of boxes: touching, apart, of one cell, overlapping, in one to four directions.
std::vector<std::pair<int, std::vector<FrameBox>>> box_sets() {
  std::vector<std::pair<int, std::vector<FrameBox>>> sets;
  std::vector<FrameBox> grid;
  for (int64_t z = 0; z < 2; ++z) {
    for (int64_t y = 0; y < 3; ++y) {
      for (int64_t x = 0; x < 3; ++x) {
        if (x == 1 && y == 1) continue;  // a hole
        grid.push_back(box_at({16 * x, 16 * y, 16 * z - 16, 0}, {16, 16, 16, 1}));
      }
    }
  }
  sets.emplace_back(3, grid);
  sets.emplace_back(3, std::vector<FrameBox>{
                           box_at({0, 0, 0, 0}, {20, 9, 7, 1}), box_at({1000, -50, 3, 0}, {8, 8, 8, 1}),
                           box_at({20, 0, 0, 0}, {11, 9, 5, 1}), box_at({1008, -50, 3, 0}, {8, 24, 8, 1})});
  sets.emplace_back(3, std::vector<FrameBox>{box_at({0, 0, 0, 0}, {1, 1, 1, 1})});
  std::vector<FrameBox> cells;
  for (int64_t i = 0; i < 40; ++i) cells.push_back(box_at({i * 7 % 40, i / 9, 0, 0}, {1, 1, 1, 1}));
  sets.emplace_back(3, cells);
  sets.emplace_back(
      2, std::vector<FrameBox>{box_at({0, 0, 0, 0}, {33, 17, 1, 1}), box_at({33, 0, 0, 0}, {8, 40, 1, 1}),
                               box_at({0, 17, 0, 0}, {33, 16, 1, 1})});
  sets.emplace_back(
      1, std::vector<FrameBox>{box_at({5, 0, 0, 0}, {300, 1, 1, 1}), box_at({305, 0, 0, 0}, {20, 1, 1, 1}),
                               box_at({-900, 0, 0, 0}, {16, 1, 1, 1})});
  sets.emplace_back(
      4, std::vector<FrameBox>{box_at({0, 0, 0, 0}, {9, 8, 8, 9}), box_at({9, 0, 0, 0}, {8, 8, 8, 9}),
                               box_at({0, 0, 8, 0}, {17, 8, 3, 8})});
  sets.emplace_back(
      3, std::vector<FrameBox>{box_at({0, 0, 0, 0}, {12, 12, 12, 1}),  // overlapping: nodal
                               box_at({11, 0, 0, 0}, {12, 12, 12, 1}), box_at({0, 11, 0, 0}, {12, 12, 12, 1}),
                               box_at({0, 0, 0, 0}, {12, 12, 12, 1})});
  // Unit blocks of 64 cells, whole ones and cut ones.
  sets.emplace_back(2, std::vector<FrameBox>{box_at({0, 0, 0, 0}, {130, 64, 1, 1}),
                                             box_at({130, 0, 0, 0}, {70, 66, 1, 1})});
  test::Random random(5);
  for (int trial = 0; trial < 4; ++trial) {
    std::vector<FrameBox> scattered;
    for (int b = 0; b < 12; ++b) {
      const Extents lo{random.below(60), random.below(60), random.below(60), 0};
      scattered.push_back(box_at(lo, {1 + random.below(20), 1 + random.below(20), 1 + random.below(20), 1}));
    }
    sets.emplace_back(3, scattered);
  }
  // Of whole blocks: they overlap in some, and leave holes.
  for (int trial = 0; trial < 4; ++trial) {
    std::vector<FrameBox> blocks;
    for (int b = 0; b < 12; ++b) {
      const auto block = [&](int64_t most) { return 8 * random.below(most); };
      const Extents lo{block(5), block(5), block(4), 0};
      blocks.push_back(box_at(lo, {8 + block(2), 8 + block(2), 8 + block(3), 1}));
    }
    sets.emplace_back(3, blocks);
  }
  return sets;
}

template <class T>
std::vector<std::byte> encode(const Level<T>& level, std::vector<ComponentSpec> specs,
                              const SectionArrangement& arrangement, const EncodeOptions& options = {},
                              std::span<const BoxData> boxes = {}, FrameReport* report = nullptr) {
  for (ComponentSpec& spec : specs) {
    const bool merges = spec.tuning.merge_units;
    spec.tuning = tuning_of(arrangement);
    spec.tuning.merge_units = merges;
  }
  const std::vector<BoxData> own = level.data();
  auto frame = encode_frame(sizeof(T) == 4 ? DType::f32 : DType::f64, level.layout, specs,
                            boxes.empty() ? own : boxes, options, report);
  EXPECT_TRUE(frame.ok()) << frame.status().message();
  return frame.ok() ? std::move(*frame) : std::vector<std::byte>();
}

std::vector<std::byte> decode(std::span<const std::byte> bytes, int threads = 1) {
  const auto frame = Frame::parse(bytes);
  EXPECT_TRUE(frame.ok()) << frame.status().message();
  if (!frame.ok()) return {};
  std::vector<std::byte> out(frame->shape().element_count * dtype_bytes(frame->dtype()));
  const Status status = frame->decode(out.data(), out.size(), threads);
  EXPECT_TRUE(status.ok()) << status.message();
  return out;
}

// Every box alone, and what it leaves out, compared with the whole. Left-out cells may differ.
template <class T>
void expect_boxes_match(std::span<const std::byte> bytes, std::span<const std::byte> whole) {
  const auto frame = Frame::parse(bytes);
  ASSERT_TRUE(frame.ok());
  size_t at = 0;
  for (uint64_t b = 0; b < frame->box_count(); ++b) {
    const auto cells = static_cast<size_t>(frame->box(b).cells());
    for (int c = 0; c < frame->shape().components; ++c) {
      std::vector<std::byte> box(cells * sizeof(T));
      const Status status = frame->decode_box(static_cast<int>(b), c, box.data(), box.size());
      ASSERT_TRUE(status.ok()) << status.message();
      ASSERT_EQ(std::memcmp(box.data(), whole.data() + at, box.size()), 0) << "box " << b << " of " << c;
      at += box.size();
    }
  }
}

std::vector<ComponentSpec> bounded(int components, double bound) {
  std::vector<ComponentSpec> specs(static_cast<size_t>(components));
  for (ComponentSpec& spec : specs) spec.bound_abs = bound;
  return specs;
}
// So that values do not depend on the arrangement.
std::vector<ComponentSpec> alone(std::vector<ComponentSpec> specs) {
  for (ComponentSpec& spec : specs) spec.decodes_alone = true;
  return specs;
}

template <class T>
void check_all_box_sets(Codec codec) {
  int number = 0;
  for (auto& [ndim, boxes] : box_sets()) {
    const auto level = fill_level<T>(ndim, 2, boxes, 3);
    auto specs = bounded(2, 1e-2);
    for (ComponentSpec& spec : specs) spec.codec = codec;
    const auto expected = decode(encode(level, specs, forced[0]));
    for (const SectionArrangement& arrangement : forced) {
      SCOPED_TRACE("box set " + std::to_string(number) + " " + name_of(arrangement));
      const auto bytes = encode(level, specs, arrangement);
      ASSERT_EQ(decode(bytes), expected);
      expect_boxes_match<T>(bytes, expected);
      const auto frame = Frame::parse(bytes);
      for (const SectionInfo& section : frame->sections()) {
        EXPECT_EQ(section.arrangement, arrangement.arrangement);
        EXPECT_EQ(section.unit_cells, arrangement.unit_cells);
      }
    }
    ++number;
  }
}

TEST(Arrangement, DualQuantValuesAreTheSameInAll) {
  check_all_box_sets<double>(Codec::dual_quant);
  check_all_box_sets<float>(Codec::dual_quant);
}

// Codecs that predict from decoded values give others in each arrangement, all inside the bound, and a box
// read alone gives those of its frame.
template <class T>
void check_bounds_of_all_box_sets(Codec codec, bool merge_units) {
  constexpr double bound = 1e-2;
  for (auto& [ndim, boxes] : box_sets()) {
    const auto level = fill_level<T>(ndim, 2, boxes, 3);
    auto specs = bounded(2, bound);
    for (ComponentSpec& spec : specs) {
      spec.codec = codec;
      spec.tuning.merge_units = merge_units;
    }
    for (const SectionArrangement& arrangement : forced) {
      SCOPED_TRACE(name_of(arrangement) + " " + std::to_string(ndim) + "d");
      const auto bytes = encode(level, specs, arrangement);
      const auto decoded = decode(bytes);
      expect_boxes_match<T>(bytes, decoded);
      const auto* values = reinterpret_cast<const T*>(decoded.data());
      size_t element = 0;
      for (const auto& of_box : level.values) {
        for (const T value : of_box) ASSERT_LE(std::abs(values[element++] - value), T(bound));
      }
    }
  }
}

TEST(Arrangement, EveryLossyCodecKeepsItsBoundInAll) {
  for (const Codec codec : test::lossy_codecs) {
    SCOPED_TRACE(codec_name(codec));
    check_bounds_of_all_box_sets<double>(codec, false);
    check_bounds_of_all_box_sets<float>(codec, true);
  }
}

// AMRIC's equation 1, whose third line is for unit blocks of 64 cells and more.
TEST(Arrangement, TheUnitSetsTheSideOfPredictionBlocks) {
  const auto level = fill_level<float>(3, 1, {box_at({0, 0, 0, 0}, {64, 64, 64, 1})}, 3);
  for (const auto& [unit, side] : {std::pair<int, int>{8, 4}, {16, 6}, {32, 4}, {64, 6}}) {
    auto spec = bounded(1, 1e-4)[0];
    spec.codec = Codec::lorenzo_regression;
    spec.tuning = tuning_of({Arrangement::linear, unit});
    const auto bytes_with = [&](int block) {
      spec.tuning.block_cells = block;
      return encode_frame(DType::f32, level.layout, {&spec, 1}, level.data()).value();
    };
    const auto by_rule = bytes_with(0);
    EXPECT_NE(bytes_with(10 - side).size(), by_rule.size()) << unit;
    EXPECT_EQ(bytes_with(side).size(), by_rule.size()) << unit;
    EXPECT_EQ(decode(bytes_with(side)), decode(by_rule)) << unit;
  }
}

// Cluster with a unit of its own choice has none of 64 cells, whatever would fit.
TEST(Arrangement, ClusterChoosesAtMostUnitsOf32) {
  const auto level = fill_level<float>(2, 1, {box_at({0, 0, 0, 0}, {128, 64, 1, 1})}, 3);
  const auto bytes = encode(level, bounded(1, 1e-3), {Arrangement::cluster, 0});
  const auto frame = Frame::parse(bytes);
  ASSERT_TRUE(frame.ok());
  for (const SectionInfo& section : frame->sections()) EXPECT_EQ(section.unit_cells, 32);
}

TEST(Arrangement, MergedUnitsAreTheSameWithAnyNumberOfThreads) {
  std::vector<FrameBox> boxes;
  for (int64_t b = 0; b < 2; ++b) boxes.push_back(box_at({130 * b, 0, 0, 0}, {130, 130, 70, 1}));
  const auto level = fill_level<float>(3, 1, boxes, 3);
  for (const Codec codec : {Codec::interpolation, Codec::lorenzo_regression}) {
    auto specs = bounded(1, 1e-2);
    specs[0].codec = codec;
    specs[0].tuning.merge_units = true;
    const auto alone = encode(level, specs, {Arrangement::linear, 8}, {Effort::fast, 1});
    EXPECT_EQ(encode(level, specs, {Arrangement::linear, 8}, {Effort::fast, 3}), alone);
    EXPECT_GT(Frame::parse(alone)->sections().size(), 1U);
    const auto decoded = decode(alone);
    EXPECT_EQ(decode(alone, 3), decoded);
    specs[0].tuning.merge_units = false;
    EXPECT_NE(encode(level, specs, {Arrangement::linear, 8}), alone);
  }
}

TEST(Arrangement, ExactValuesAreTheSameInAll) { check_all_box_sets<double>(Codec::exact); }

TEST(Arrangement, RegionsHoldEveryCellOnceAndFewHoles) {
  for (auto& [ndim, boxes] : box_sets()) {
    FrameLayout layout;
    layout.ndim = ndim;
    layout.boxes = boxes;
    layout.element_count = layout.held_elements();
    for (const Section& section : make_sections(layout, TileRule::large)) {
      for (const SectionArrangement& arrangement : forced) {
        SCOPED_TRACE(name_of(arrangement));
        std::vector<std::vector<int>> seen;
        for (const TileRect& rect : section.rects()) {
          seen.emplace_back(static_cast<size_t>(rect.rect.cells()));
        }
        int64_t cells = 0;
        for (const Region& region : make_regions(layout.ndim, *section.tile, arrangement)) {
          cells += region.cells();
          int64_t held = 0;
          std::vector<uint8_t> free = region.holes;
          if (free.empty()) free.resize(static_cast<size_t>(region.cells()));
          for (const RegionPart& part : region.parts) {
            held += part.from.cells();
            const Extents& rect = section.rects()[part.rect].rect.size;
            for (int64_t i = 0; i < part.from.cells(); ++i) {
              const Extents& n = part.from.size;
              const Extents at{i % n[0], i / n[0] % n[1], i / (n[0] * n[1]) % n[2], i / (n[0] * n[1] * n[2])};
              int64_t from = 0;
              int64_t to = 0;
              for (size_t d = max_frame_dims; d-- > 0;) {
                ASSERT_LT(part.from.lo[d] + at[d], rect[d]);
                ASSERT_LT(part.to[d] + at[d], region.size[d]);
                from = from * rect[d] + part.from.lo[d] + at[d];
                to = to * region.size[d] + part.to[d] + at[d];
              }
              ++seen[part.rect][static_cast<size_t>(from)];
              ASSERT_EQ(free[static_cast<size_t>(to)], 0) << "two parts share a cell, or it is a hole";
              free[static_cast<size_t>(to)] = 2;
            }
          }
          ASSERT_EQ(std::count(free.begin(), free.end(), 0), 0) << "a cell that is no hole lies in no part";
          ASSERT_EQ(std::count(free.begin(), free.end(), 2), held);
          if (arrangement.arrangement == Arrangement::in_place) {
            ASSERT_LE(region.cells(), 2 * held);
          }
        }
        ASSERT_LE(cells, 2 * section.cells());
        for (const auto& rect : seen) {
          ASSERT_EQ(std::count(rect.begin(), rect.end(), 1), static_cast<int64_t>(rect.size()));
        }
      }
    }
  }
}

TEST(Arrangement, TouchingBoxesBecomeOneRegion) {
  FrameLayout layout;
  layout.boxes = box_sets()[0].second;
  layout.element_count = layout.held_elements();
  const auto sections = make_sections(layout, TileRule::large);
  ASSERT_EQ(sections.size(), 1U);
  const auto regions = make_regions(layout.ndim, *sections[0].tile, {Arrangement::in_place, 0});
  ASSERT_EQ(regions.size(), 1U);
  EXPECT_EQ(regions[0].size, (Extents{48, 48, 32, 1}));
  EXPECT_EQ(std::count(regions[0].holes.begin(), regions[0].holes.end(), 1), 2 * 16 * 16 * 16);
}

void scatter_special_values(std::vector<std::vector<double>>& boxes, test::Random& random) {
  for (auto& values : boxes) {
    for (int i = 0; i < 60; ++i) {
      const auto& specials = test::special_values<double>();
      values[static_cast<size_t>(random.below(static_cast<int64_t>(values.size())))] =
          specials[static_cast<size_t>(random.below(static_cast<int64_t>(specials.size())))];
    }
  }
}

// Coverage, kept cells and special values, where holes of the arrangement come on top.
TEST(Arrangement, LeftOutKeptAndSpecialCells) {
  auto [ndim, boxes] = box_sets()[0];
  for (size_t b = 0; b < boxes.size(); ++b) {
    if (b % 3 == 0) boxes[b].covered = {{{0, 0, 0, 0}, {8, 16, 16, 1}}};
    if (b % 5 == 0) boxes[b].covered.push_back({{12, 4, 4, 0}, {2, 6, 7, 1}});
    if (b == 1) boxes[b].covered = {{{0, 0, 0, 0}, {16, 16, 16, 1}}};
  }
  auto level = fill_level<double>(ndim, 2, boxes, 9);
  test::Random random(12);
  scatter_special_values(level.values, random);
  std::vector<std::vector<uint8_t>> keep;
  auto data = level.data();
  for (size_t b = 0; b < boxes.size(); ++b) {
    keep.emplace_back(2 * static_cast<size_t>(boxes[b].cells()));
    for (auto& cell : keep[b]) cell = random.below(9) == 0;
    data[b].keep = keep[b].data();
  }
  auto specs = alone(bounded(2, 1e-2));
  specs[0].drop_covered = true;
  specs[0].fill = specs[1].fill = 1e20;
  const auto reference_bytes = encode(level, specs, forced[0], {}, data);
  const auto reference = Frame::parse(reference_bytes);
  const auto expected = decode(reference_bytes);
  for (const SectionArrangement& arrangement : forced) {
    SCOPED_TRACE(name_of(arrangement));
    FrameReport report;
    const auto bytes = encode(level, specs, arrangement, {}, data, &report);
    EXPECT_EQ(report.components[0].arrangement, arrangement.arrangement);
    EXPECT_EQ(report.components[0].unit_cells, arrangement.unit_cells);
    const auto whole = decode(bytes);
    const auto frame = Frame::parse(bytes);
    ASSERT_EQ(whole.size(), expected.size());
    const auto* got = reinterpret_cast<const double*>(whole.data());
    const auto* want = reinterpret_cast<const double*>(expected.data());
    size_t at = 0;
    uint64_t left_out_total = 0;
    for (int b = 0; b < static_cast<int>(boxes.size()); ++b) {
      for (int c = 0; c < 2; ++c) {
        const auto mask = frame->left_out(b, c);
        ASSERT_TRUE(mask.ok()) << mask.status().message();
        ASSERT_EQ(*mask, *reference->left_out(b, c));
        for (size_t i = 0; i < static_cast<size_t>(boxes[static_cast<size_t>(b)].cells()); ++i, ++at) {
          if (!mask->empty() && (*mask)[i] != 0) {
            ++left_out_total;
            ASSERT_TRUE(std::isfinite(got[at]));
          } else {
            ASSERT_EQ(std::memcmp(got + at, want + at, sizeof(double)), 0) << b << " " << c << " " << i;
          }
        }
      }
    }
    EXPECT_EQ(left_out_total, report.components[0].left_out_cells);
    EXPECT_GT(left_out_total, 4000U);
    expect_boxes_match<double>(bytes, whole);
  }
}

// Neither threads, nor the instruction set, nor what memory held before may show in the bytes.
TEST(Arrangement, SameBytesForEveryTargetThreadCountAndMemory) {
  auto [ndim, boxes] = box_sets()[0];
  boxes[2].covered = {{{0, 0, 0, 0}, {8, 16, 16, 1}}};
  auto level = fill_level<float>(ndim, 2, boxes, 21);
  level.values[4][100] = std::numeric_limits<float>::quiet_NaN();
  auto specs = bounded(2, 2e-3);
  specs[1].drop_covered = true;
  const std::string before = simd_target();
  for (const SectionArrangement& arrangement : forced) {
    SCOPED_TRACE(name_of(arrangement));
    const auto expected = encode(level, specs, arrangement);
    const auto values = decode(expected);
    for (const std::string& target : simd_targets()) {
      ASSERT_TRUE(set_simd_target(target).ok());
      for (const int threads : {1, 3}) {
        for (const float dirt : {0.0F, 1e30F, std::numeric_limits<float>::quiet_NaN()}) {
          auto memory = take_values<float>(1 << 18);
          std::fill(memory.begin(), memory.end(), dirt);
          recycle_values(std::move(memory));
          ASSERT_EQ(encode(level, specs, arrangement, {Effort::fast, threads}), expected) << target;
          ASSERT_EQ(decode(expected, threads), values) << target;
        }
      }
    }
    ASSERT_TRUE(set_simd_target(before).ok());
  }
}

TEST(Arrangement, StridesAndGhostsEncodeLikeDenseBoxes) {
  auto [ndim, boxes] = box_sets()[0];
  const auto level = fill_level<double>(ndim, 1, boxes, 31);
  std::vector<std::vector<double>> padded;
  std::vector<BoxData> data;
  for (size_t b = 0; b < boxes.size(); ++b) {
    padded.emplace_back(20 * 20 * 20, std::numeric_limits<double>::quiet_NaN());
    for (int64_t i = 0; i < boxes[b].cells(); ++i) {
      const int64_t to = (i / 256 + 2) * 400 + (i / 16 % 16 + 2) * 20 + i % 16 + 2;
      padded[b][static_cast<size_t>(to)] = level.values[b][static_cast<size_t>(i)];
    }
  }
  for (auto& values : padded) {
    BoxData box;
    box.data = values.data() + 2 * 400 + 2 * 20 + 2;
    box.stride = {1, 20, 400, 8000};
    data.push_back(box);
  }
  for (const SectionArrangement& arrangement : forced) {
    SCOPED_TRACE(name_of(arrangement));
    const auto specs = bounded(1, 1e-3);
    EXPECT_EQ(encode(level, specs, arrangement, {}, data), encode(level, specs, arrangement));
  }
}

TEST(Arrangement, SplitFramesCarryEveryArrangement) {
  auto level = fill_level<double>(3, 2, {box_at({3, -4, 5, 0}, {20, 18, 17, 1})}, 41);
  const uint64_t all = level.layout.held_elements();
  level.layout.is_split = true;
  for (const SectionArrangement& arrangement : forced) {
    SCOPED_TRACE(name_of(arrangement));
    uint64_t begin = 0;
    for (const uint64_t count : {uint64_t{1}, uint64_t{999}, uint64_t{5555}, all - 6555}) {
      level.layout.split_begin = begin;
      level.layout.split_count = level.layout.element_count = count;
      const auto expected = decode(encode(level, alone(bounded(2, 1e-2)), forced[0]));
      ASSERT_EQ(decode(encode(level, alone(bounded(2, 1e-2)), arrangement)), expected) << begin;
      begin += count;
    }
    ASSERT_EQ(begin, all);
  }
}

TEST(Arrangement, ArraysCanBeForcedAndDefaultToNone) {
  const auto field = test::rough_field<float>({30, 20, 9, 8}, 0.01, 51);
  const std::vector<uint64_t> shape{8, 9, 20, 30};
  ArrayOptions options;
  options.codec = Codec::dual_quant;  // whose values are the same however cells lie
  const auto plain = encode_array(DType::f32, shape, field.data(), options);
  ASSERT_TRUE(plain.ok());
  EXPECT_EQ((*plain)[12], std::byte{0});
  for (const SectionArrangement& arrangement : forced) {
    SCOPED_TRACE(name_of(arrangement));
    options.tuning = tuning_of(arrangement);
    const auto bytes = encode_array(DType::f32, shape, field.data(), options);
    ASSERT_TRUE(bytes.ok()) << bytes.status().message();
    EXPECT_EQ((*bytes)[12], arrangement == SectionArrangement{} ? std::byte{0} : std::byte{1});
    EXPECT_EQ(decode(*bytes), decode(*plain));
  }
}

TEST(Arrangement, ChosenWhereBoxesMeetAndNotForOneBoxOrExactValues) {
  const auto [ndim, boxes] = box_sets()[0];
  const auto level = fill_level<double>(ndim, 1, boxes, 61);
  const auto single = fill_level<double>(ndim, 1, {boxes[0]}, 61);
  const SectionArrangement automatic{Arrangement::automatic, 0};
  EXPECT_EQ(encode(level, bounded(1, 1e-2), automatic)[12], std::byte{1});
  EXPECT_EQ(encode(single, bounded(1, 1e-2), automatic)[12], std::byte{0});
  auto exact = bounded(1, 0);
  EXPECT_EQ(encode(level, exact, automatic)[12], std::byte{1}) << "codec lossless predicts, too";
  exact[0].codec = Codec::exact;
  EXPECT_EQ(encode(level, exact, automatic)[12], std::byte{0});
  const auto frame = encode(level, bounded(1, 1e-2), automatic);
  EXPECT_EQ(Frame::parse(frame)->sections()[0].arrangement, Arrangement::in_place);
  // Smooth across boxes, so prediction across them must pay.
  EXPECT_LT(frame.size(), encode(level, bounded(1, 1e-2), forced[0]).size());
}

// Two boxes that touch, each smooth, with a front just where they meet.
Level<double> front_between_boxes() {
  auto level = fill_level<double>(
      3, 1, {box_at({0, 0, 0, 0}, {32, 32, 32, 1}), box_at({32, 0, 0, 0}, {32, 32, 32, 1})}, 65);
  for (double& value : level.values[1]) value += 40;
  return level;
}

TEST(Arrangement, WeighedWhereTheEffortAllows) {
  const SectionArrangement automatic{Arrangement::automatic, 0};
  const auto [ndim, boxes] = box_sets()[0];
  const auto smooth = fill_level<double>(ndim, 1, boxes, 61);
  const auto front = front_between_boxes();
  for (const Effort effort : {Effort::balanced, Effort::max}) {
    SCOPED_TRACE(effort_name(effort));
    const auto chosen = encode(front, bounded(1, 1e-3), automatic, {effort, 1});
    EXPECT_EQ(Frame::parse(chosen)->sections()[0].arrangement, Arrangement::linear);
    const size_t in_place = encode(front, bounded(1, 1e-3), {Arrangement::in_place, 0}, {effort, 1}).size();
    EXPECT_LT(chosen.size(), in_place);
    const auto together = encode(smooth, bounded(1, 1e-3), automatic, {effort, 1});
    EXPECT_EQ(Frame::parse(together)->sections()[0].arrangement, Arrangement::in_place);
  }
  const auto fast = encode(front, bounded(1, 1e-3), automatic, {Effort::fast, 1});
  EXPECT_EQ(Frame::parse(fast)->sections()[0].arrangement, Arrangement::in_place);
}

TEST(Arrangement, RecalledOnesAreTakenWithoutWeighing) {
  const SectionArrangement automatic{Arrangement::automatic, 0};
  const auto front = front_between_boxes();
  auto specs = bounded(1, 1e-3);
  specs[0].codec = Codec::automatic;
  specs[0].recalled = Codec::context;
  for (const Arrangement recalled : {Arrangement::linear, Arrangement::in_place}) {
    specs[0].recalled_arrangement = recalled;
    const auto frame = encode(front, specs, automatic, {Effort::max, 1});
    EXPECT_EQ(Frame::parse(frame)->sections()[0].arrangement, recalled);
    EXPECT_EQ(Frame::parse(frame)->sections()[0].codec, Codec::context);
  }
}

TEST(Arrangement, RefusesTuningThatCannotBe) {
  const auto level = fill_level<double>(3, 1, {box_at({0, 0, 0, 0}, {8, 8, 8, 1})}, 71);
  auto specs = bounded(1, 1e-2);
  specs[0].tuning.unit_cells = 7;
  const auto refused = encode_frame(DType::f64, level.layout, specs, level.data());
  ASSERT_EQ(refused.status().code(), Code::usage);
  EXPECT_NE(refused.status().message().find("component 0: unit is 7; 0, 8, 16, 32 and 64 are allowed"),
            std::string::npos);
}

}  // namespace
}  // namespace neve
