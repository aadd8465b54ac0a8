// SPDX-License-Identifier: BSD-3-Clause
// The structured mini-app: its field, its tiles, and every output read back.
#include <algorithm>
#include <filesystem>
#include <numeric>

#include "bench/apps/struct/benchmark.hpp"
#include "tests/mpi/generated.hpp"

namespace neve::structured {
namespace {

using test::world_rank;
using test::world_size;

mpi::Comm world() { return std::move(*mpi::Comm::duplicate(MPI_COMM_WORLD)); }

class Struct : public testing::Test {
 protected:
  Struct() : directory_(test::make_directory("struct")) {}
  ~Struct() override { test::remove_directory(directory_); }

  Case small_case(const std::vector<std::string>& outputs) const {
    Case c;
    c.grid.cells = {30, 22, 9};
    c.grid.space_frequency = 1;
    c.chunk = {16, 16, 8};
    c.store = {directory_, true, false};
    for (const std::string& name : outputs) c.outputs.push_back(*apps::parse_output(name));
    return c;
  }

  std::string directory_;
};

TEST(Ocean, HasAsManyValidPointsAsAskedFor) {
  const mpi::Comm comm = world();
  Grid grid;
  grid.cells = {200, 120, 30};
  for (const double slope : {0.0, 0.15}) {
    for (const double wanted : {0.0, 0.1, 0.65, 1.0}) {
      grid.mask_slope = slope;
      const Result<Ocean> ocean = Ocean::with_valid(comm, grid, wanted);
      ASSERT_TRUE(ocean.ok());
      const auto columns = ocean->valid_in_columns(comm);
      ASSERT_TRUE(columns.ok());
      const uint64_t valid = std::accumulate(columns->begin(), columns->end(), uint64_t{0});
      EXPECT_NEAR(static_cast<double>(valid) / static_cast<double>(grid.points()), wanted, 0.0005);
    }
  }
}

TEST(Ocean, BalancedTilesShareTheLoadAndCoverTheGrid) {
  const mpi::Comm comm = world();
  const Grid grid;  // 256 x 256 x 64
  const Result<Ocean> ocean = Ocean::with_valid(comm, grid, 0.65);
  ASSERT_TRUE(ocean.ok());
  const auto weights = ocean->valid_in_columns(comm);
  ASSERT_TRUE(weights.ok());
  const std::array<int, 2> columns = {256, 256};
  for (const int ranks : {1, 4, 7, 8, 16}) {
    const std::vector<Tile> tiles = balanced_tiles(columns, *weights, ranks);
    ASSERT_EQ(tiles.size(), static_cast<size_t>(ranks));
    EXPECT_LE(max_over_mean(columns, *weights, tiles), 1.02) << ranks;
    std::vector<int> owners(256 * 256, 0);
    for (const Tile& tile : tiles) {
      for (int y = 0; y < tile.size[1]; ++y) {
        for (int x = 0; x < tile.size[0]; ++x) {
          ++owners[static_cast<size_t>((tile.first[1] + y) * 256 + tile.first[0] + x)];
        }
      }
    }
    EXPECT_TRUE(std::all_of(owners.begin(), owners.end(), [](int n) { return n == 1; })) << ranks;
  }
  EXPECT_GT(max_over_mean(columns, *weights, even_tiles(columns, {4, 4})), 1.1) << "land weighs nothing";
}

TEST(Tiles, EveryRankGetsAColumnEvenWhereThereIsNoLoad) {
  for (const uint32_t weight : {0u, 3u}) {
    std::vector<uint32_t> weights(5 * 3, 0);
    weights[7] = weight;
    for (int ranks = 1; ranks <= 15; ++ranks) {
      const std::vector<Tile> tiles = balanced_tiles({5, 3}, weights, ranks);
      int64_t columns = 0;
      for (const Tile& tile : tiles) {
        EXPECT_GE(tile.columns(), 1);
        columns += tile.columns();
      }
      EXPECT_EQ(columns, 15);
    }
  }
  EXPECT_EQ(square_tasks({100, 100}, 16), (std::array<int, 2>{4, 4}));
  EXPECT_EQ(square_tasks({400, 100}, 4), (std::array<int, 2>{4, 1}));
}

TEST(Ocean, GrowsAsSmoothAsItIs) {
  Grid grid;
  grid.cells = {100, 60, 10};
  const Grid four = grown(grid, 4), six = grown(grid, 6);
  EXPECT_EQ(four.cells, (std::array<int, 3>{200, 120, 10}));
  EXPECT_EQ(six.cells, (std::array<int, 3>{200, 180, 10})) << "nearest to a square";
  EXPECT_EQ(grown(grid, 1).cells, grid.cells);
  for (const Grid& larger : {four, six}) {
    EXPECT_DOUBLE_EQ(per_point(larger, larger.space_frequency), per_point(grid, grid.space_frequency));
    EXPECT_DOUBLE_EQ(per_point(larger, larger.mask_frequency), per_point(grid, grid.mask_frequency));
  }
}

// Counted tiles are those of as many ranks, by the outputs that compress each by itself.
TEST_F(Struct, CountsWhatRanksWouldStore) {
  Case c = small_case({"raw", "hdf5-shuffle-zlib", "neve-none"});
  c.store.count = true;
  const auto stored = run_benchmark(MPI_COMM_WORLD, c);
  ASSERT_TRUE(stored.ok()) << stored.status().message();
  c.tile_counts = {world_size(), 5};
  const auto counted = run_benchmark(MPI_COMM_WORLD, c);
  ASSERT_TRUE(counted.ok()) << counted.status().message();
  ASSERT_EQ(counted->tile_counts.size(), 4u) << "two layouts each";
  EXPECT_TRUE(counted->layouts.empty());
  for (size_t l = 0; l < 2; ++l) {
    const TileCount& tiles = counted->tile_counts[l];
    const LayoutResult& layout = stored->layouts[l];
    EXPECT_EQ(tiles.balanced, layout.balanced);
    EXPECT_EQ(tiles.valid_points, layout.valid_points);
    EXPECT_EQ(tiles.raw_bytes, layout.raw_bytes);
    for (size_t o = 0; o < c.outputs.size(); ++o) {
      EXPECT_EQ(tiles.outputs[o].bytes, layout.outputs[o].alone_bytes) << c.outputs[o].name;
      const auto& in_file = layout.outputs[o].rank_bytes;
      EXPECT_LE(std::accumulate(in_file.begin(), in_file.end(), uint64_t{0}), layout.outputs[o].file_bytes);
    }
  }
  EXPECT_TRUE(test::list_directory(directory_).empty());
}

// What all ranks hold together is what one computes alone.
TEST_F(Struct, TheFieldDoesNotDependOnTheRanks) {
  Case c = small_case({"raw"});
  c.steps = 2;
  const auto together = run_benchmark(MPI_COMM_WORLD, c);
  ASSERT_TRUE(together.ok()) << together.status().message();
  const auto alone = run_benchmark(MPI_COMM_SELF, [&] {
    Case mine = c;
    mine.store.folder = directory_ + "/" + std::to_string(world_rank());
    std::filesystem::create_directory(mine.store.folder);
    return mine;
  }());
  ASSERT_TRUE(alone.ok()) << alone.status().message();
  EXPECT_EQ(together->field_checksum, alone->field_checksum);
  EXPECT_EQ(together->valid, alone->valid);
  c.steps = 1;
  EXPECT_NE(run_benchmark(MPI_COMM_WORLD, c)->field_checksum, alone->field_checksum) << "time passes";
}

TEST_F(Struct, EveryOutputBringsBackWhatWasWritten) {
  std::vector<std::string> names = apps::output_names();
  // Which sees pairs of values as 64-bit numbers, and these not shrink: the next test has its field.
  std::erase_if(names, [](const std::string& n) { return n.starts_with("adios") && n.ends_with("szip"); });
  const Case c = small_case(names);
  const auto result = run_benchmark(MPI_COMM_WORLD, c);
  ASSERT_TRUE(result.ok()) << result.status().message();
  ASSERT_EQ(result->layouts.size(), 2u);
  for (const LayoutResult& layout : result->layouts) {
    EXPECT_TRUE(apps::check_stored(layout.outputs).ok()) << apps::check_stored(layout.outputs).message();
    for (const apps::StoreResult& output : layout.outputs) {
      EXPECT_EQ(output.verified_values, 30u * 22 * 9) << output.name;
      EXPECT_LE(output.max_abs_error, 1e-4) << output.name;
      const bool is_lossy = apps::parse_output(output.name)->lossy;
      EXPECT_EQ(output.max_abs_error > 0, is_lossy) << output.name;
      EXPECT_EQ(output.raw_bytes, 30u * 22 * 9 * 4);
    }
  }
  EXPECT_TRUE(test::list_directory(directory_).empty()) << "files are removed unless kept";
}

// ADIOS's szip shrinks what is constant.
TEST_F(Struct, AdiosSzipOfLand) {
  Case c = small_case({});
  c.valid = 0;
  c.balance = {false};
  c.grid.cells[2] = 8;  // an even number of values a rank, which it wants
  c.store.repeats = 2;
  c.store.phases = true;
  for (const std::string& name : apps::output_names()) {
    const apps::Output output = *apps::parse_output(name);
    if (apps::is_adios(output) && output.compression == apps::Output::Compression::szip) {
      c.outputs.push_back(output);
    }
  }
  if (c.outputs.empty()) GTEST_SKIP() << "this build has no ADIOS";
  const auto result = run_benchmark(MPI_COMM_WORLD, c);
  ASSERT_TRUE(result.ok()) << result.status().message();
  for (const LayoutResult& layout : result->layouts) {
    EXPECT_TRUE(apps::check_stored(layout.outputs).ok()) << apps::check_stored(layout.outputs).message();
    for (const apps::StoreResult& output : layout.outputs) {
      EXPECT_EQ(output.verified_values, 30u * 22 * 8) << output.name;
      EXPECT_LE(output.write.min, output.write.median);
      EXPECT_LE(output.write.median, output.write.max);
      ASSERT_TRUE(output.compress_seconds.has_value());
      EXPECT_GT(*output.compress_seconds, 0);
    }
  }
  c.grid.cells = {7, 7, 1};
  EXPECT_EQ(run_benchmark(MPI_COMM_WORLD, c).status().code(), Code::failure)
      << "it would lose the last value";
}

// While it is at work, ADIOS's zfp wants more room than ADIOS thinks of: seen from 16 MiB a rank on.
TEST_F(Struct, AdiosZfpOfManyValues) {
  if (world_size() > 1) GTEST_SKIP() << "one rank shows it";
  if (!apps::parse_output("adios-mpi-zfp").ok()) GTEST_SKIP() << "this build has no ADIOS";
  Case c = small_case({"adios-mpi-zfp"});
  c.grid = Grid();
  c.balance = {false};
  c.store.verify = false;
  const auto result = run_benchmark(MPI_COMM_WORLD, c);
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_EQ(result->layouts.front().outputs.front().raw_bytes, uint64_t{16} << 20);
}

// zfp's precision ends where values of very different sizes meet: that must not go unseen.
TEST_F(Struct, ABrokenBoundIsCounted) {
  Case c = small_case({"hdf5-zfp", "hdf5-neve"});
  c.grid.fill = -1e30f;
  const auto result = run_benchmark(MPI_COMM_WORLD, c);
  ASSERT_TRUE(result.ok()) << result.status().message();
  for (const LayoutResult& layout : result->layouts) {
    EXPECT_GT(layout.outputs[0].wrong_values, 0u);
    EXPECT_EQ(layout.outputs[1].wrong_values, 0u);
    EXPECT_EQ(apps::check_stored(layout.outputs).code(), Code::bound_violated);
  }
}

TEST_F(Struct, RefusesWhatNobodyCouldReadBack) {
  Case c = small_case({"hdf5-szip"});
  c.grid.space_frequency = 200;
  c.valid = 1;
  const Status status = run_benchmark(MPI_COMM_WORLD, c).status();
  EXPECT_EQ(status.code(), Code::failure);
  EXPECT_NE(status.message().find("szip cannot make"), std::string::npos) << status.message();
  MPI_Barrier(MPI_COMM_WORLD);  // rank 0 removes what the write left after all know of the failure
  EXPECT_TRUE(test::list_directory(directory_).empty());
}

TEST_F(Struct, RefusesWhatMakesNoSense) {
  EXPECT_EQ(apps::parse_output("hdf4").status().code(), Code::usage);
  EXPECT_EQ(run_benchmark(MPI_COMM_WORLD, small_case({})).status().code(), Code::usage);
  Case tasks = small_case({"raw"});
  tasks.tasks = {world_size() + 1, 1};
  EXPECT_EQ(run_benchmark(MPI_COMM_WORLD, tasks).status().code(), Code::usage);
  Case nowhere = small_case({"raw"});
  nowhere.store.folder = directory_ + "/missing";
  const Status status = run_benchmark(MPI_COMM_WORLD, nowhere).status();
  EXPECT_EQ(status.code(), Code::failure);
  EXPECT_TRUE(test::same_on_all_ranks(status.message()));
}

}  // namespace
}  // namespace neve::structured
