// SPDX-License-Identifier: BSD-3-Clause
// The Chombo I/O benchmark on small boxes: what it counts, and that it notices wrong bytes.
#include <cmath>
#include <set>

#include "bench/apps/chombo/benchmark.hpp"
#include "bench/apps/chombo/fields.hpp"
#include "core/amr/sample_grids.hpp"
#include "tests/mpi/generated.hpp"

namespace neve::chombo {
namespace {

using test::world_rank;
using test::world_size;

constexpr int boxes_of_unit[] = {1, 32, 192};

class Chombo : public testing::Test {
 protected:
  Chombo() : directory_(test::make_directory("chombo")) {}
  ~Chombo() override { test::remove_directory(directory_); }

  Case make_case(const std::vector<std::string>& ways) const {
    Case options;
    options.box_cells = 4;
    options.folder = directory_;
    options.verify = true;
    for (const std::string& name : ways) options.ways.push_back(*parse_way(name));
    return options;
  }

  std::string directory_;
};

// Boxes of a level on the busiest rank when boxes are alike: the mean, rounded up.
int rounds_of(int boxes) { return (boxes + world_size() - 1) / world_size(); }

TEST_F(Chombo, CountsAsThePaperDoes) {
  Case options = make_case({"independent", "collective", "aggregated", "skeleton"});
  options.distribution = DistributionMethod::exchange;
  const auto result = run_benchmark(MPI_COMM_WORLD, options);
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_EQ(result->boxes, 225u);
  EXPECT_EQ(result->value_bytes, 225u * 64 * 2 * 8);
  int rounds = 0;
  for (int boxes : boxes_of_unit) rounds += rounds_of(boxes);
  const auto ranks = static_cast<uint64_t>(world_size());
  ASSERT_EQ(result->ways.size(), 4u);
  EXPECT_EQ(result->ways[0].mpi_writes, 225u);
  EXPECT_EQ(result->ways[1].mpi_writes, static_cast<uint64_t>(rounds) * ranks);
  EXPECT_EQ(result->ways[2].mpi_writes, 3 * ranks);
  EXPECT_EQ(result->ways[3].mpi_writes, ranks);
  for (const WayResult& way : result->ways) {
    EXPECT_EQ(way.data_bytes, 225u * 6 * 6 * 6 * 2 * 8) << way.name << ": with a layer of ghosts";
    EXPECT_EQ(way.verified_values, 225u * 64 * 2) << way.name;
    EXPECT_GT(way.total_seconds, 0) << way.name;
  }
  EXPECT_TRUE(test::list_directory(directory_).empty()) << "files are removed unless kept";
}

TEST_F(Chombo, SomeBoxesATime) {
  Case options = make_case({"aggregated"});
  options.aggregate_boxes = 5;
  options.distribution = DistributionMethod::exchange;
  options.repeats = 2;
  const auto result = run_benchmark(MPI_COMM_WORLD, options);
  ASSERT_TRUE(result.ok()) << result.status().message();
  int rounds = 0;
  for (int boxes : boxes_of_unit) rounds += (rounds_of(boxes) + 4) / 5;
  EXPECT_EQ(result->ways[0].mpi_writes, static_cast<uint64_t>(rounds * world_size()));
}

TEST_F(Chombo, CompressedStaysWithinItsBound) {
  for (const char* bound : {"rel=1e-3", "lossless"}) {
    Case options = make_case({"compressed"});
    options.box_cells = 8;
    options.bound = *parse_bound(bound);
    const auto result = run_benchmark(MPI_COMM_WORLD, options);
    ASSERT_TRUE(result.ok()) << result.status().message();
    EXPECT_LE(result->ways[0].max_abs_error, result->ways[0].bound_abs);
    EXPECT_EQ(result->ways[0].verified_values, 225u * 512 * 2);
    EXPECT_LT(result->ways[0].data_bytes, result->value_bytes);
  }
}

TEST_F(Chombo, UnitsAreReplicated) {
  Case options = make_case({"skeleton"});
  options.units = {2, 1, 1};
  options.ghosts = 0;
  const auto result = run_benchmark(MPI_COMM_WORLD, options);
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_EQ(result->boxes, 450u);
  EXPECT_EQ(result->ways[0].data_bytes, result->value_bytes);
}

TEST_F(Chombo, IceSheetPlotFile) {
  Case options = make_case({"collective", "aggregated"});
  options.grid = Grid::bisicles;
  options.box_cells = 1;
  options.components = 3;
  const auto result = run_benchmark(MPI_COMM_WORLD, options);
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_EQ(result->finest_boxes, 896u);
  EXPECT_EQ(result->ways[1].mpi_writes, 5u * static_cast<uint64_t>(world_size()));
  EXPECT_GT(result->ways[0].mpi_writes, result->ways[1].mpi_writes);
}

TEST_F(Chombo, IceSheetCheckpointHasADatasetForEachVariableAndLevel) {
  Case options = make_case({"independent", "aggregated", "skeleton"});
  options.grid = Grid::bisicles;
  options.file = FileKind::checkpoint;
  options.box_cells = 1;
  options.components = 3;
  const auto result = run_benchmark(MPI_COMM_WORLD, options);
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_EQ(result->ways[0].mpi_writes, 3 * result->boxes);
  EXPECT_EQ(result->ways[1].mpi_writes, 3u * 5 * static_cast<uint64_t>(world_size()));
  EXPECT_EQ(result->ways[2].mpi_writes, static_cast<uint64_t>(world_size()));
  for (const WayResult& way : result->ways)
    EXPECT_GT(way.verified_values, result->value_bytes / 8) << "ghosts too";
}

TEST_F(Chombo, RefusesWhatMakesNoSense) {
  Case none = make_case({});
  EXPECT_EQ(run_benchmark(MPI_COMM_WORLD, none).status().code(), Code::usage);
  EXPECT_EQ(run_benchmark(MPI_COMM_WORLD, make_case({"skeleton", "skeleton"})).status().code(), Code::usage);
  Case never = make_case({"skeleton"});
  never.repeats = 0;
  EXPECT_EQ(run_benchmark(MPI_COMM_WORLD, never).status().code(), Code::usage);
  Case nowhere = make_case({"skeleton"});
  nowhere.folder = directory_ + "/missing";
  const Status status = run_benchmark(MPI_COMM_WORLD, nowhere).status();
  EXPECT_EQ(status.code(), Code::failure);
  EXPECT_TRUE(test::same_on_all_ranks(status.message()));
  EXPECT_EQ(parse_way("filtered").status().code(), Code::usage);
}

// A cell's bits depend on its place alone.
TEST(Fields, DoNotDependOnTheBoxTheyAreComputedIn) {
  if (world_rank() != 0) return;
  const Result<Hierarchy> h = amr::chombo_grid({{1, 1, 1}, 8, 2, DType::f64});
  ASSERT_TRUE(h.ok());
  const Fields fields(*h);
  const Box whole{{-3, 2, 5}, {20, 9, 12}}, part{{4, 3, 7}, {11, 8, 10}};
  for (int component : {0, 1}) {
    std::vector<double> of_whole(static_cast<size_t>(whole.cells())),
        of_part(static_cast<size_t>(part.cells()));
    fields.fill(1, whole, component, of_whole.data());
    fields.fill(1, part, component, of_part.data());
    size_t i = 0;
    for (int32_t z = part.lo[2]; z <= part.hi[2]; ++z) {
      for (int32_t y = part.lo[1]; y <= part.hi[1]; ++y) {
        for (int32_t x = part.lo[0]; x <= part.hi[0]; ++x, ++i) {
          const int64_t at =
              (x - whole.lo[0]) + whole.size(0) * ((y - whole.lo[1]) + whole.size(1) * (z - whole.lo[2]));
          ASSERT_EQ(of_part[i], of_whole[static_cast<size_t>(at)]);
        }
      }
    }
    const std::set<double> distinct(of_whole.begin(), of_whole.end());
    EXPECT_GT(distinct.size(), of_whole.size() * 9 / 10) << "no constant field";
    for (double value : of_whole) ASSERT_TRUE(std::isfinite(value));
  }
}

}  // namespace
}  // namespace neve::chombo
