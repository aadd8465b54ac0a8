// SPDX-License-Identifier: BSD-3-Clause
// Public fields through the lane, through engines of one and of four lanes and from there through the decoder
// lane: symbols, bytes and values are those of Neve's own software. Some fields as a rule, all of them, with
// a tighter bound as well, where NEVE_TEST_LONG is set.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <limits>
#include <map>

#include "neve/stream.hpp"
#include "tests/rtl/command.hpp"
#include "tests/rtl/decoder_bench.hpp"
#include "tests/rtl/engine_bench.hpp"
#include "tests/rtl/engine_builds.hpp"
#include "tests/rtl/lane_bench.hpp"
#include "tests/rtl/public_files.hpp"

namespace neve::rtl {
namespace {

constexpr double bound_of_range = 1e-3;
constexpr double tight_bound_of_range = 1e-5;
constexpr uint64_t min_line = 8;  // shorter ones have no direction of their own

bool takes_all() { return std::getenv("NEVE_TEST_LONG") != nullptr; }

// Fields that stand for their folder.
const std::map<std::string, std::vector<std::string>> representatives{
    {"amr", {"nyx_lya32_plt00113:Temp level 0 32x32"}},
    {"arrays", {"wrf_W.npy"}},
    {"chombo", {"explosion_density.000020.3d.hdf5:density level 0 32x32"}},
    {"climate", {"global_oce_latlon_d0000-0360.nc:/Eta", "foam.ocean.nc:/lat", "ctorca.nc:/nav_lon"}},
};

// One field as one stream.
struct Variant {
  std::vector<uint64_t> shape;
  double bound = 0;
  ValueRange range;
  std::optional<double> fill;
};

// In as many directions as the shape has, and in fewer.
std::vector<std::vector<uint64_t>> shapes_of(const PublicField& field) {
  const uint64_t line = field.shape.back();
  std::vector<std::vector<uint64_t>> shapes{field.shape};
  if (field.shape.size() > 2 && line >= min_line) shapes.push_back({field.values.size() / line, line});
  if (field.shape.size() > 1 && line >= min_line) shapes.push_back({field.values.size()});
  return shapes;
}

using VisitVariant = std::function<void(const Variant&, const std::vector<float>&)>;

// Bounds that are too fine for the engine are refused by name: 0 in their place, which keeps all values as
// they are.
double bound_engine_takes(double bound, const ValueRange& range) {
  const double step = stream::stream_step<float>(bound, range);
  if (step == 0 || step >= min_step) return bound;
  const auto made = quantizer_settings(stream::stream_quantizer<float>(bound, step, {}));
  EXPECT_FALSE(made.ok());
  return 0;
}

void each_variant(const PublicField& field, const VisitVariant& visit) {
  Variant v;
  v.range = field.range;
  const double width = v.range.empty ? 0 : v.range.max - v.range.min;
  std::vector<double> bounds{bound_engine_takes(width * bound_of_range, v.range)};
  if (bounds[0] > 0 && takes_all()) {
    bounds.push_back(bound_engine_takes(width * tight_bound_of_range, v.range));
  }
  for (const auto& shape : shapes_of(field)) {
    for (const double bound : bounds) {
      v.shape = shape;
      v.bound = bound;
      v.fill.reset();
      visit(v, field.values);
      if (!field.fill) continue;
      v.fill = field.fill;
      visit(v, field.values);
      // As Python's readers give such a field.
      std::vector<float> masked = field.values;
      std::ranges::replace(masked, *field.fill, std::numeric_limits<float>::quiet_NaN());
      v.fill.reset();
      visit(v, masked);
    }
  }
}

class PublicFields : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(NEVE_SHARED_DATA)) {
      GTEST_SKIP() << "no " << NEVE_SHARED_DATA << ": public fields not compared";
    }
  }

  void each(const VisitVariant& through) {
    const auto files = public_files(GetParam());
    ASSERT_TRUE(files.ok()) << files.status().message();
    const auto& chosen = representatives.at(GetParam());
    size_t read = 0;
    size_t fields = 0;
    size_t masked = 0;
    size_t rounded = 0;
    uint64_t values = 0;
    uint64_t streams = 0;
    uint64_t streamed = 0;
    uint64_t exact = 0;
    for (const std::string& path : *files) {
      const std::string file = std::filesystem::path(path).filename().string();
      const auto is_of_file = [&](const std::string& name) { return name.starts_with(file); };
      if (!takes_all() && std::ranges::none_of(chosen, is_of_file)) continue;
      const Status s = visit_fields(path, [&](const PublicField& field) {
        if (HasFailure()) return;
        if (!takes_all() && std::ranges::find(chosen, field.name) == chosen.end()) return;
        SCOPED_TRACE(field.name);
        ++fields;
        masked += field.fill.has_value();
        rounded += field.was_f64;
        values += field.values.size();
        each_variant(field, [&](const Variant& v, const std::vector<float>& of_field) {
          if (HasFailure()) return;
          SCOPED_TRACE(fmt::format("{} directions, bound {}, fill {}", v.shape.size(), v.bound,
                                   v.fill ? fmt::format("{}", *v.fill) : "off"));
          ++streams;
          exact += v.bound == 0;
          streamed += of_field.size();
          through(v, of_field);
        });
      });
      ASSERT_TRUE(s.ok()) << s.message();
      ++read;
    }
    if (!takes_all()) {
      EXPECT_EQ(fields, chosen.size()) << "a field is not where it was";
    }
    const std::string text = fmt::format(
        "{} fields of {} files ({} with a fill value, {} rounded from f64), {} values; {} streams, {} "
        "values, of {} "
        "streams with bound 0",
        fields, read, masked, rounded, values, streams, streamed, exact);
    std::cout << GetParam() << ": " << text << "\n";
    RecordProperty("compared", text);
  }

  // Engine, then decoder lane.
  template <class Engine>
  void each_through(EngineBench<Engine>& bench, const EngineBuild& build) {
    uint64_t seed = 0;
    each([&](const Variant& v, const std::vector<float>& values) {
      EngineOptions o;
      o.shape = v.shape;
      o.bounds = {v.bound};
      o.range = v.range;
      o.fill = v.fill;
      o.block_values = 1U << build.block_bits;
      o.restarts = build.lanes > 1;
      Flow flow;
      flow.seed = ++seed;
      if (seed % 4 == 0) {
        flow.offered = 0.8;
        flow.taken = 0.7;
      }
      const EngineRun run = check(bench, build, o, values, flow);
      if (HasFailure()) return;
      if (seed % 16 == 1) expect_command_reads(run.bytes, o.shape);
      std::vector<float> expected(values.size());
      ASSERT_TRUE(decode_stream(run.bytes, reinterpret_cast<std::byte*>(expected.data()),
                                expected.size() * sizeof(float))
                      .ok());
      Pace pace;
      pace.seed = seed;
      DecoderBench decoder(pace);
      decoder.decode(run.bytes);
      ASSERT_EQ(decoder.values().size(), expected.size());
      EXPECT_EQ(std::memcmp(decoder.values().data(), expected.data(), expected.size() * sizeof(float)), 0);
    });
  }
};

TEST_P(PublicFields, Lane) {
  each([&](const Variant& v, const std::vector<float>& values) {
    LaneCase c;
    std::vector<uint64_t> sides = v.shape;
    c.dims = sides.back() < min_line ? 1 : std::min<int>(static_cast<int>(sides.size()), 3);
    c.line = c.dims > 1 ? static_cast<uint32_t>(sides.back()) : 0;
    c.lines_per_plane = c.dims > 2 ? static_cast<uint32_t>(sides[sides.size() - 2]) : 0;
    c.block_values = 4096;
    c.bound = v.bound;
    c.step = stream::stream_step<float>(v.bound, v.range);
    c.fill = v.fill;
    LaneBench bench(c, values);
    if (!HasFailure()) bench.run();
  });
}

TEST_P(PublicFields, EngineAndDecoder) {
  EngineBench<Vengine1> bench(one, one_bytes, 1);
  each_through(bench, one);
}

TEST_P(PublicFields, EngineOfFourLanesAndDecoder) {
  EngineBench<Vengine4> bench(four, four_bytes, 1);
  each_through(bench, four);
}

INSTANTIATE_TEST_SUITE_P(Of, PublicFields, ::testing::ValuesIn(public_folders()),
                         [](const auto& folder) { return folder.param; });

// Nothing among the public data is left out.
TEST(PublicData, HasFoldersOfKnownKinds) {
  if (!std::filesystem::exists(NEVE_SHARED_DATA)) GTEST_SKIP() << "no " << NEVE_SHARED_DATA;
  const std::vector<std::string> known = public_folders();
  for (const auto& entry : std::filesystem::directory_iterator(NEVE_SHARED_DATA)) {
    if (!entry.is_directory()) continue;
    EXPECT_NE(std::ranges::find(known, entry.path().filename().string()), known.end()) << entry.path();
  }
}

}  // namespace
}  // namespace neve::rtl
