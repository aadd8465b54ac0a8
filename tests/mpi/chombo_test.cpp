// SPDX-License-Identifier: BSD-3-Clause
// The Chombo I/O benchmark on small boxes: what it counts, and that it notices wrong bytes.
#include <fmt/format.h>
#include <hdf5.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <set>

#include "bench/apps/chombo/benchmark.hpp"
#include "bench/apps/chombo/fields.hpp"
#include "bench/apps/chombo/mpi_io.hpp"
#include "core/amr/sample_grids.hpp"
#include "io/hdf5/handle.hpp"
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
    options.contents.box_cells = 4;
    options.folder = directory_;
    options.verify = true;
    options.ways = *parse_ways(ways, {});
    return options;
  }

  std::string directory_;
};

// Boxes of a level on the busiest rank when boxes are alike: the mean, rounded up.
int rounds_of(int boxes) { return (boxes + world_size() - 1) / world_size(); }

TEST_F(Chombo, CountsAsThePaperDoes) {
  Case options = make_case({"independent", "collective", "aggregated", "skeleton"});
  options.contents.distribution = DistributionMethod::chombo;
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
    EXPECT_EQ(way.data_bytes, 225u * 6 * 6 * 6 * 2 * 8) << way.way.name << ": with a layer of ghosts";
    EXPECT_EQ(way.verified_values, 225u * 64 * 2) << way.way.name;
    EXPECT_GT(way.total_seconds, 0) << way.way.name;
  }
  EXPECT_TRUE(test::list_directory(directory_).empty()) << "files are removed unless kept";
}

TEST_F(Chombo, SomeBoxesATime) {
  Case options = make_case({});
  options.ways = *parse_ways({"aggregated", "hdf5-aggregated", "cb2-aggregated"}, {5});
  options.contents.distribution = DistributionMethod::chombo;
  options.repeats = 2;
  const auto result = run_benchmark(MPI_COMM_WORLD, options);
  ASSERT_TRUE(result.ok()) << result.status().message();
  int rounds = 0;
  for (int boxes : boxes_of_unit) rounds += (rounds_of(boxes) + 4) / 5;
  for (const WayResult& way : result->ways)
    EXPECT_EQ(way.mpi_writes, static_cast<uint64_t>(rounds * world_size())) << way.way.name;
}

constexpr uint64_t box_bytes = 6 * 6 * 6 * 2 * 8;  // with a layer of ghosts

TEST_F(Chombo, ChombosOwnPathCountsAsThePaperDoes) {
  Case options = make_case({"hdf5-independent", "hdf5-collective", "hdf5-aggregated"});
  options.contents.distribution = DistributionMethod::chombo;
  const auto result = run_benchmark(MPI_COMM_WORLD, options);
  ASSERT_TRUE(result.ok()) << result.status().message();
  uint64_t rounds = 0;
  for (int boxes : boxes_of_unit) rounds += static_cast<uint64_t>(rounds_of(boxes));
  const auto ranks = static_cast<uint64_t>(world_size());
  EXPECT_EQ(result->ways[0].mpi_writes, 225u);
  EXPECT_EQ(result->ways[1].mpi_writes, rounds * ranks) << "empty calls of ranks without boxes among them";
  EXPECT_EQ(result->ways[2].mpi_writes, 3 * ranks);
  EXPECT_EQ(result->ways[0].peak_buffer_bytes, box_bytes);
  EXPECT_EQ(result->ways[1].peak_buffer_bytes, box_bytes);
  EXPECT_EQ(result->ways[2].peak_buffer_bytes, static_cast<uint64_t>(rounds_of(192)) * box_bytes);
  for (const WayResult& way : result->ways) EXPECT_EQ(way.data_bytes, 225u * box_bytes) << way.way.name;
}

// What the buffer costs: K boxes of the rank with the largest, at most all that it has of a level.
TEST_F(Chombo, BuffersGrowWithTheBoxesOfACall) {
  Case options = make_case({});
  options.contents.distribution = DistributionMethod::chombo;
  options.verify = false;
  options.ways = *parse_ways({"hdf5-aggregated", "hdf5-aggregated-independent"}, {1, 4, 0});
  const auto result = run_benchmark(MPI_COMM_WORLD, options);
  ASSERT_TRUE(result.ok()) << result.status().message();
  const auto all = static_cast<uint64_t>(rounds_of(192));
  const uint64_t wanted[] = {1, std::min<uint64_t>(4, all), all};
  ASSERT_EQ(result->ways.size(), 6u);
  for (size_t w = 0; w < 6; ++w)
    EXPECT_EQ(result->ways[w].peak_buffer_bytes, wanted[w % 3] * box_bytes) << result->ways[w].way.name;
  EXPECT_EQ(result->ways[0].way.name, "hdf5-aggregated, 1 box");
  EXPECT_EQ(result->ways[5].way.name, "hdf5-aggregated-independent, all boxes");
}

// What a file holds of each dataset of values, read past Neve.
std::map<std::string, std::vector<char>> datasets_of(const std::string& path) {
  std::map<std::string, std::vector<char>> datasets;
  const hdf5::Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
  EXPECT_TRUE(file.valid()) << path;
  const auto visit = [](hid_t where, const char* name, const H5O_info_t* info, void* into) -> herr_t {
    if (info->type != H5O_TYPE_DATASET) return 0;
    const hdf5::Handle dataset(H5Dopen2(where, name, H5P_DEFAULT), H5Dclose);
    const hdf5::Handle type(H5Dget_type(dataset.id()), H5Tclose);
    const hdf5::Handle space(H5Dget_space(dataset.id()), H5Sclose);
    std::vector<char>& bytes = (*static_cast<std::map<std::string, std::vector<char>>*>(into))[name];
    bytes.resize(H5Tget_size(type.id()) * static_cast<size_t>(H5Sget_simple_extent_npoints(space.id())));
    return H5Dread(dataset.id(), type.id(), H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data());
  };
  EXPECT_GE(H5Ovisit1(file.id(), H5_INDEX_NAME, H5_ITER_INC, visit, &datasets), 0);
  return datasets;
}

class EveryWay : public Chombo, public testing::WithParamInterface<FileKind> {};

TEST_P(EveryWay, HoldsTheDatasetsOfTheSkeletonByteForByte) {
  Case options = make_case({});
  options.keep = true;
  options.read_back = true;
  options.contents.file = GetParam();
  options.contents.components = 2;
  options.write.layout.stripe_bytes = uint64_t{64} << 10;
  options.write.layout.stripe_count = 3;
  options.ways = *parse_ways({"skeleton", "hdf5-independent", "hdf5-collective", "cb2-collective"}, {});
  const auto aggregated =
      parse_ways({"hdf5-aggregated", "hdf5-aggregated-independent", "cb2-aggregated"}, {0, 3});
  options.ways.insert(options.ways.end(), aggregated->begin(), aggregated->end());
  const auto result = run_benchmark(MPI_COMM_WORLD, options);
  ASSERT_TRUE(result.ok()) << result.status().message();
  for (const WayResult& way : result->ways) {
    EXPECT_GE(way.verified_values, result->value_bytes / 8) << way.way.name;
    EXPECT_GT(way.read_seconds, 0) << way.way.name;
  }
  if (world_rank() != 0) return;
  std::vector<std::string> files = test::list_directory(directory_);
  ASSERT_EQ(files.size(), options.ways.size());
  const auto wanted = datasets_of(directory_ + "/neve_chombo_skeleton.h5");
  ASSERT_GE(wanted.size(), 9u);
  for (const std::string& file : files) EXPECT_EQ(datasets_of(directory_ + "/" + file), wanted) << file;
}

INSTANTIATE_TEST_SUITE_P(OfBothKinds, EveryWay, testing::Values(FileKind::plot, FileKind::checkpoint));

// Boxes that cross stripes, and rounds of several stripes.
TEST_F(Chombo, TwoPhaseWritesOfBoxesLargerThanAStripe) {
  Case options = make_case({"cb2-collective", "cb2-aggregated"});
  options.contents.box_cells = 16;
  options.write.layout.stripe_bytes = uint64_t{64} << 10;
  options.write.layout.buffer_bytes = uint64_t{128} << 10;
  options.write.layout.aggregators = 2;
  const auto result = run_benchmark(MPI_COMM_WORLD, options);
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_EQ(result->ways[1].verified_values, 225u * 4096 * 2);
  options.write.layout.buffer_bytes = uint64_t{96} << 10;
  const Status refused = run_benchmark(MPI_COMM_WORLD, options).status();
  EXPECT_EQ(refused.code(), Code::usage);
  EXPECT_NE(refused.message().find("multiples of the stripe size, 65536"), std::string::npos);
}

// A failing rank fails all of them, alike, and leaves nothing behind.
TEST_F(Chombo, RanksFailTogether) {
  for (const char* way : {"hdf5-independent", "hdf5-collective", "hdf5-aggregated", "cb2-aggregated"}) {
    for (const char* phase : {"write", "sync"}) {
      const std::string fault = fmt::format("{}:{}", phase, world_size() - 1);
      ::setenv("NEVE_FAULT", fault.c_str(), 1);
      const Status status = run_benchmark(MPI_COMM_WORLD, make_case({way})).status();
      ::unsetenv("NEVE_FAULT");
      EXPECT_FALSE(status.ok()) << way << " " << phase;
      EXPECT_TRUE(test::same_on_all_ranks(status.message()));
      EXPECT_TRUE(test::list_directory(directory_).empty()) << way << " " << phase;
    }
  }
}

TEST(ReadsAndWritesBack, SaysWhichWaysTheLibraryMayFill) {
  const auto flag = [](const char* name, const MpiIo& io, const mpi::Hints& hints, uint64_t box) {
    return reads_and_writes_back(parse_ways({name}, {})->front(), io, {4, box, hints});
  };
  const MpiIo romio{MpiIo::Kind::romio, 0}, ompio{MpiIo::Kind::ompio, 4096};
  const mpi::Hints none = {{"romio_ds_write", "disable"}};
  mpi::Hints alone = none, enabled = none;
  alone["romio_cb_write"] = "disable";
  enabled["romio_cb_write"] = "enable";
  for (const char* of_each_box : {"hdf5-collective", "collective"}) {
    EXPECT_FALSE(flag(of_each_box, romio, alone, 100)) << of_each_box;
    EXPECT_TRUE(flag(of_each_box, romio, enabled, 100)) << of_each_box;
    EXPECT_TRUE(flag(of_each_box, romio, none, 100)) << of_each_box << ": ROMIO decides";
    EXPECT_TRUE(flag(of_each_box, ompio, alone, 3456)) << of_each_box << ": small boxes lie close together";
    EXPECT_FALSE(flag(of_each_box, ompio, alone, 16000)) << of_each_box;
  }
  for (const char* never :
       {"hdf5-independent", "hdf5-aggregated", "hdf5-aggregated-independent", "aggregated", "skeleton",
        "independent", "cb2-collective", "cb2-aggregated", "compressed"}) {
    EXPECT_FALSE(flag(never, romio, enabled, 100)) << never;
    EXPECT_FALSE(flag(never, ompio, none, 100)) << never;
  }
  EXPECT_TRUE(flag("skeleton", romio, {}, 100)) << "data sieving";
}

TEST_F(Chombo, CompressedStaysWithinItsBound) {
  for (const char* bound : {"rel=1e-3", "lossless"}) {
    Case options = make_case({"compressed"});
    options.contents.box_cells = 8;
    options.write.bound = *parse_bound(bound);
    const auto result = run_benchmark(MPI_COMM_WORLD, options);
    ASSERT_TRUE(result.ok()) << result.status().message();
    EXPECT_LE(result->ways[0].max_abs_error, result->ways[0].bound_abs);
    EXPECT_EQ(result->ways[0].verified_values, 225u * 512 * 2);
    EXPECT_LT(result->ways[0].data_bytes, result->value_bytes);
  }
}

TEST_F(Chombo, UnitsAreReplicated) {
  Case options = make_case({"skeleton"});
  options.contents.units = {2, 1, 1};
  options.contents.ghosts = 0;
  const auto result = run_benchmark(MPI_COMM_WORLD, options);
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_EQ(result->boxes, 450u);
  EXPECT_EQ(result->ways[0].data_bytes, result->value_bytes);
}

TEST_F(Chombo, IceSheetPlotFile) {
  Case options = make_case({"collective", "aggregated"});
  options.contents.grid = Grid::bisicles;
  options.contents.box_cells = 1;
  options.contents.components = 3;
  const auto result = run_benchmark(MPI_COMM_WORLD, options);
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_EQ(result->finest_boxes, 896u);
  EXPECT_EQ(result->ways[1].mpi_writes, 5u * static_cast<uint64_t>(world_size()));
  EXPECT_GT(result->ways[0].mpi_writes, result->ways[1].mpi_writes);
}

TEST_F(Chombo, IceSheetCheckpointHasADatasetForEachVariableAndLevel) {
  Case options = make_case({"independent", "aggregated", "skeleton"});
  options.contents.grid = Grid::bisicles;
  options.contents.file = FileKind::checkpoint;
  options.contents.box_cells = 1;
  options.contents.components = 3;
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
  Case never = make_case({"skeleton"});
  never.repeats = 0;
  EXPECT_EQ(run_benchmark(MPI_COMM_WORLD, never).status().code(), Code::usage);
  Case nowhere = make_case({"skeleton"});
  nowhere.folder = directory_ + "/missing";
  const Status status = run_benchmark(MPI_COMM_WORLD, nowhere).status();
  EXPECT_EQ(status.code(), Code::failure);
  EXPECT_TRUE(test::same_on_all_ranks(status.message()));
  EXPECT_EQ(parse_ways({"filtered"}, {}).status().code(), Code::usage);
  EXPECT_EQ(parse_ways({"skeleton", "skeleton"}, {}).status().code(), Code::usage);
  EXPECT_EQ(parse_ways({"aggregated"}, {2, 2}).status().code(), Code::usage);
  EXPECT_EQ(parse_ways({"aggregated"}, {-1}).status().code(), Code::usage);
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
