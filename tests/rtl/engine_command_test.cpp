// SPDX-License-Identifier: BSD-3-Clause
// `neve compress --stream --engine` writes the very bytes that the engine puts out, over five public fields:
// with one lane, with four, and with a fixed ratio.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "core/engine/engine_stream.hpp"
#include "io/plotfile/npy.hpp"
#include "tests/rtl/engine_bench.hpp"
#include "tests/rtl/engine_builds.hpp"
#include "tests/support/temp_dir.hpp"

namespace neve::rtl {
namespace {

struct Field {
  std::vector<uint64_t> shape;
  std::vector<float> values;
  ValueRange range;
};

class EngineCommand : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    path_ = fmt::format("{}/arrays/{}.npy", NEVE_SHARED_DATA, GetParam());
    if (!std::filesystem::exists(path_)) GTEST_SKIP() << "no " << path_ << ": bytes not compared";
    const auto array = plotfile::read_npy(path_);
    ASSERT_TRUE(array.ok()) << array.status().message();
    ASSERT_EQ(DType::f32, array->dtype);
    field_.shape = array->shape;
    field_.values.resize(array->values.size() / sizeof(float));
    std::memcpy(field_.values.data(), array->values.data(), array->values.size());
    const auto [low, high] = std::ranges::minmax(field_.values);
    field_.range = {low, high, false};
  }

  std::vector<std::byte> bytes_of_command(const std::string& options) const {
    const test::TempDir folder;
    const std::string out = folder / "field.nevs";
    const std::string command = fmt::format("{}/bin/neve compress {} {} --stream --engine {} > /dev/null",
                                            NEVE_BUILD_DIR, path_, out, options);
    EXPECT_EQ(std::system(command.c_str()), 0) << command;
    std::ifstream file(out, std::ios::binary);
    std::vector<std::byte> bytes(std::filesystem::file_size(out));
    file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    return bytes;
  }

  EngineOptions options() const {
    EngineOptions o;
    o.shape = field_.shape;
    o.range = field_.range;
    return o;
  }

  template <class Engine>
  void expect_same(const EngineBuild& build, unsigned bytes, const EngineOptions& o,
                   const std::string& typed) {
    EngineBench<Engine> bench(build, bytes, 1);
    const EngineRun run = check(bench, build, o, field_.values, Flow{});
    EXPECT_EQ(run.bytes, bytes_of_command(typed));
  }

  std::string path_;
  Field field_;
};

TEST_P(EngineCommand, OneLane) {
  EngineOptions o = options();
  o.bounds = {1e-3 * field_.range.width()};
  o.asked = Bound{BoundMode::rel, 1e-3};
  expect_same<Vengine1>(one, one_bytes, o, "--bound rel=1e-3");
}

TEST_P(EngineCommand, OneLaneThatDoesNotRestartAndPredictsInTwoDirections) {
  EngineBuild build = one;
  build.dims = 2;
  EngineOptions o = options();
  o.restarts = false;
  o.rule = CodebookRule::chi;
  o.chi_keep = 1.5;
  o.chi_offline = 4;
  o.bounds = {1e-4 * field_.range.width()};
  expect_same<Vengine1>(
      build, one_bytes, o,
      fmt::format("--bound abs={:.17g} --restart 0 --dims 2 --codebook-rule chi --chi 1.5,4", o.bounds[0]));
}

TEST_P(EngineCommand, FourLanes) {
  EngineOptions o = options();
  o.block_values = 1024;
  o.bounds = {1e-3 * field_.range.width()};
  o.asked = Bound{BoundMode::rel, 1e-3};
  expect_same<Vengine4>(four, four_bytes, o, "--bound rel=1e-3 --lanes 4 --block-values 1024");
}

// The ladder that docs/streams.md tells of.
TEST_P(EngineCommand, FixedRatio) {
  EngineOptions o = options();
  o.bounds = bound_ladder(1e-3 * field_.range.width() / 16, 64);
  o.first_rung = 32;
  o.ratio = 6;
  expect_same<Vengine1>(one, one_bytes, o, "--bound ratio=6 --best-effort");
}

INSTANTIATE_TEST_SUITE_P(Of, EngineCommand,
                         ::testing::Values("wrf_T", "wrf_W", "wrf_QV", "um_theta", "echam_t"));

}  // namespace
}  // namespace neve::rtl
