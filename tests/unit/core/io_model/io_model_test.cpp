// SPDX-License-Identifier: BSD-3-Clause
// Against Table I and figures 10 and 11 of Devendran et al.: 494 GB, 2304 ranks, stripes of 8 MiB.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "core/amr/load_balance.hpp"
#include "core/amr/sample_grids.hpp"
#include "core/io_model/access_bins.hpp"
#include "core/io_model/file_pieces.hpp"
#include "core/io_model/predict.hpp"
#include "core/io_model/write_calls.hpp"

namespace neve::io_model {
namespace {

constexpr uint64_t MiB = uint64_t{1} << 20;
constexpr uint64_t paper_box_bytes = 4599936;
// Writes of the paper's Table I that are not data: 115,268 MPI-IO writes for 115,200 boxes.
constexpr uint64_t paper_metadata_writes = amr::chombo_metadata_writes;

FilePieces chombo_file(const IntVect& replicas, int ranks, int box_cells = 64) {
  amr::ChomboGrid grid;
  grid.replicas = replicas;
  grid.box_cells = box_cells;
  const Result<Hierarchy> h = amr::chombo_grid(grid);
  EXPECT_TRUE(h.ok());
  const amr::Owners owners = amr::share_boxes(*h, ranks, amr::cell_loads(*h), DistributionMethod::chombo);
  return value_pieces(*h, owners, ranks, std::vector{DatasetLayout{grid.components, {1, 1, 1}}});
}

// What must hold of every plan of every file: all bytes once at either level.
void expect_all_bytes(const FilePieces& file, int aggregate_boxes, uint64_t stripe_bytes) {
  const auto bytes = [](const SizeCounts& counts) {
    uint64_t total = 0;
    for (const auto& [size, count] : counts) total += size * count;
    return total;
  };
  for (const Strategy strategy :
       {Strategy::independent, Strategy::collective, Strategy::aggregated, Strategy::skeleton}) {
    const WriteCounts counts = count_writes(file, strategy, aggregate_boxes, stripe_bytes);
    EXPECT_EQ(bytes(counts.mpi), file.bytes()) << strategy_name(strategy);
    EXPECT_EQ(bytes(counts.posix), file.bytes()) << strategy_name(strategy);
    if (strategy != Strategy::independent && stripe_bytes > 0) {
      EXPECT_LE(counts.posix.rbegin()->first, stripe_bytes);
    }
  }
}

class TableOne : public testing::Test {
 protected:
  const FilePieces file_ = chombo_file({8, 8, 8}, 2304);
  WriteCounts count(Strategy strategy) const { return count_writes(file_, strategy, 0, 8 * MiB); }
};

TEST_F(TableOne, IndependentWritesABoxATime) {
  const WriteCounts counts = count(Strategy::independent);
  EXPECT_EQ(counts.mpi, (SizeCounts{{paper_box_bytes, 115200}}));
  EXPECT_EQ(total_count(counts.posix) + paper_metadata_writes, 115268u);
}

TEST_F(TableOne, CollectiveTakes52Rounds) {
  const WriteCounts counts = count(Strategy::collective);
  EXPECT_EQ(total_count(counts.mpi), 119808u);
  const auto posix = static_cast<double>(total_count(counts.posix) + paper_metadata_writes);
  EXPECT_LE(std::abs(posix - 164270), 0.0005 * 164270) << posix;
  // The paper's most frequent size is a box, 42,640 times; then the stripe, 4779 times.
  EXPECT_NEAR(static_cast<double>(counts.posix.at(paper_box_bytes)), 42640, 0.005 * 42640);
  EXPECT_NEAR(static_cast<double>(counts.posix.at(8 * MiB)), 4779, 0.05 * 4779);
}

TEST_F(TableOne, AggregatedWritesALevelAtOnce) {
  const WriteCounts counts = count(Strategy::aggregated);
  EXPECT_EQ(total_count(counts.mpi), 6912u);
  EXPECT_EQ(total_count(counts.posix) + paper_metadata_writes, 63241u);
  // 63,174 and 63,177 writes of a stripe in the paper's two runs.
  EXPECT_NEAR(static_cast<double>(counts.posix.at(8 * MiB)), 63174, 10);
}

TEST_F(TableOne, SkeletonWritesOnceARank) { EXPECT_EQ(total_count(count(Strategy::skeleton).mpi), 2304u); }

TEST_F(TableOne, FiguresTenAndEleven) {
  using Bins = std::array<uint64_t, bin_count>;
  // Independent and most collective calls take a box: 4 MB to 10 MB. The others of a round take nothing.
  EXPECT_EQ(binned(count(Strategy::independent).mpi), (Bins{0, 0, 0, 0, 0, 0, 115200, 0, 0, 0}));
  EXPECT_EQ(binned(count(Strategy::collective).mpi), (Bins{4608, 0, 0, 0, 0, 0, 115200, 0, 0, 0}));
  // Aggregated: a finest level of 42 or 43 boxes is between 100 MB and 1 GB, the next between 10 and 100 MB,
  // and a box or nothing of the coarsest.
  EXPECT_EQ(binned(count(Strategy::aggregated).mpi), (Bins{1792, 0, 0, 0, 0, 0, 512, 2304, 2304, 0}));
  // At the POSIX level it is stripes, and collective I/O is spread out.
  const Bins aggregated = binned(count(Strategy::aggregated).posix);
  EXPECT_GE(aggregated[6], total_count(count(Strategy::aggregated).posix) - 5);
  const Bins collective = binned(count(Strategy::collective).posix);
  for (size_t bin = 1; bin < 7; ++bin) EXPECT_GT(collective[bin], 0u) << bin_names[bin];
}

TEST(WriteCalls, SixtyOneGigabytes) {
  const FilePieces file = chombo_file({4, 4, 4}, 576);
  EXPECT_EQ(file.pieces(), 14400u);
  EXPECT_EQ(file.bytes(), 14400 * paper_box_bytes);
  EXPECT_EQ(total_count(count_writes(file, Strategy::aggregated, 0, 4 * MiB).mpi), 3u * 576);
}

TEST(WriteCalls, BytesArriveOnceWhateverTheStrategy) {
  for (int ranks : {1, 3, 8, 1000}) {
    const FilePieces file = chombo_file({1, 1, 1}, ranks, 5);
    for (int aggregate_boxes : {0, 1, 3}) {
      for (uint64_t stripe : {uint64_t{0}, uint64_t{1000}, MiB})
        expect_all_bytes(file, aggregate_boxes, stripe);
    }
  }
}

TEST(WriteCalls, AggregatedTakesKBoxesOfARankAtATime) {
  const FilePieces file = chombo_file({1, 1, 1}, 8, 4);  // 1, 4 a rank, 24 a rank
  EXPECT_EQ(total_count(count_writes(file, Strategy::aggregated, 0, 0).mpi), 8u * 3);
  EXPECT_EQ(total_count(count_writes(file, Strategy::aggregated, 3, 0).mpi), 8u * (1 + 2 + 8));
  EXPECT_EQ(count_writes(file, Strategy::aggregated, 1, MiB).mpi,
            count_writes(file, Strategy::collective, 0, MiB).mpi);
}

TEST(WriteCalls, EachDatasetHasItsComponentsAndGhosts) {
  Hierarchy h;
  h.dims = 2;
  h.dtype = DType::f64;
  Level level;
  level.boxes = {{{0, 0, 0}, {15, 31, 0}}, {{16, 0, 0}, {31, 15, 0}}};
  h.levels = {level, level};
  const std::vector<std::vector<int>> owners = {{0, 1}, {1, 0}};
  const FilePieces file =
      value_pieces(h, owners, 2, std::vector<DatasetLayout>{{1, {5, 5, 0}}, {3, {0, 1, 0}}});
  ASSERT_EQ(file.datasets.size(), 4u);
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ(file.datasets[i].owner, owners[i / 2]) << i;
  EXPECT_EQ(file.datasets[0].piece_bytes, (std::vector<uint64_t>{26 * 42 * 8, 26 * 26 * 8}));
  EXPECT_EQ(file.datasets[1].piece_bytes, (std::vector<uint64_t>{16 * 34 * 3 * 8, 16 * 18 * 3 * 8}));
  EXPECT_EQ(file.datasets[3].begin, file.datasets[2].begin + (26 * 42 + 26 * 26) * 8);
  expect_all_bytes(file, 2, 4096);
}

// Of the BISICLES-like files, 576 ranks, 24 stripes of 4 MiB.
FilePieces ice_file(amr::IceFile kind) {
  amr::IceGrid grid;
  grid.file = kind;
  grid.components = amr::ice_components(kind);
  const Result<Hierarchy> h = amr::ice_grid(grid);
  EXPECT_TRUE(h.ok());
  const amr::Owners owners = amr::share_boxes(*h, 576, amr::cell_loads(*h), DistributionMethod::chombo);
  std::vector<DatasetLayout> layouts = {{grid.components, {1, 1, 0}}};
  if (kind == amr::IceFile::checkpoint) {
    layouts.clear();
    const Result<std::vector<amr::SampleVariable>> variables = amr::checkpoint_variables(grid.components);
    EXPECT_TRUE(variables.ok());
    for (const amr::SampleVariable& v : *variables) {
      layouts.push_back({v.components, {v.ghosts, v.ghosts, 0}});
    }
  }
  return value_pieces(*h, owners, 576, layouts);
}

std::vector<std::pair<uint64_t, uint64_t>> most_frequent(const SizeCounts& counts, size_t how_many) {
  std::vector<std::pair<uint64_t, uint64_t>> sorted(counts.begin(), counts.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  sorted.resize(how_many);
  return sorted;
}

// The paper's size and count, in its order; counts within `tolerance`.
void expect_leading(const SizeCounts& counts, const std::vector<std::pair<uint64_t, double>>& paper,
                    double tolerance) {
  const auto found = most_frequent(counts, paper.size());
  for (size_t i = 0; i < paper.size(); ++i) {
    EXPECT_EQ(found[i].first, paper[i].first) << i;
    EXPECT_NEAR(static_cast<double>(found[i].second), paper[i].second, tolerance * paper[i].second) << i;
  }
}

TEST(TableTwo, CheckpointSizes) {
  const FilePieces file = ice_file(amr::IceFile::checkpoint);
  expect_leading(count_writes(file, Strategy::independent, 0, 4 * MiB).posix,
                 {{8736, 4085}, {5408, 3229}, {7680, 3080}}, 0.05);
  const WriteCounts aggregated = count_writes(file, Strategy::aggregated, 0, 4 * MiB);
  expect_leading(aggregated.posix, {{4 * MiB, 477}}, 0.2);
}

// The paper's counts are of three plot files.
TEST(TableThree, PlotFileSizes) {
  const FilePieces file = ice_file(amr::IceFile::plot);
  expect_leading(count_writes(file, Strategy::independent, 0, 4 * MiB).posix,
                 {{73440, 1429 / 3.0}, {204000, 1378 / 3.0}, {38880, 1372 / 3.0}, {300000, 709 / 3.0}}, 0.15);
  const WriteCounts aggregated = count_writes(file, Strategy::aggregated, 0, 4 * MiB);
  expect_leading(aggregated.posix, {{4 * MiB, 322 / 3.0}}, 0.2);
}

TEST(FilePieces, FramesAreSmallerByTheRatio) {
  amr::ChomboGrid grid;
  grid.box_cells = 16;
  const Result<Hierarchy> h = amr::chombo_grid(grid);
  ASSERT_TRUE(h.ok());
  const amr::Owners owners = amr::share_boxes(*h, 4, amr::cell_loads(*h), DistributionMethod::even_runs);
  const double raw_bytes = 225 * 4096 * 2 * 8;
  for (double ratio : {1.0, 10.0}) {
    const FilePieces file = frame_pieces(*h, owners, 4, 8 * MiB, ratio);
    EXPECT_NEAR(static_cast<double>(file.bytes()), raw_bytes / ratio, static_cast<double>(file.pieces()));
    expect_all_bytes(file, 0, MiB);
  }
}

TEST(FilePieces, SizesGivenAreMixedAndDealtOut) {
  const std::pair<uint64_t, uint64_t> sizes[] = {{100, 30}, {1000, 10}};
  const auto file = pieces_of_sizes(sizes, 4);
  ASSERT_TRUE(file.ok()) << file.status().message();
  EXPECT_EQ(file->pieces(), 40u);
  EXPECT_EQ(file->bytes(), 13000u);
  std::array<uint64_t, 4> of_rank{};
  for (size_t i = 0; i < 40; ++i) {
    of_rank[static_cast<size_t>(file->datasets[0].owner[i])] += file->datasets[0].piece_bytes[i];
  }
  for (uint64_t bytes : of_rank) EXPECT_NEAR(static_cast<double>(bytes), 3250, 1000);
  EXPECT_EQ(pieces_of_sizes({}, 4).status().code(), Code::usage);
  const std::pair<uint64_t, uint64_t> empty[] = {{0, 3}};
  EXPECT_EQ(pieces_of_sizes(empty, 4).status().code(), Code::usage);
  // Half-way places: 1/60, ..., and the first of the larger ones at 1/20, after one (1/60) and with the
  // second (3/60) of the smaller ones, which were given first.
  const std::vector<uint64_t> begin(file->datasets[0].piece_bytes.begin(),
                                    file->datasets[0].piece_bytes.begin() + 4);
  EXPECT_EQ(begin, (std::vector<uint64_t>{100, 100, 1000, 100}));
  const std::pair<uint64_t, uint64_t> too_many[] = {{1, 3'000'000}, {2, 1'000'001}};
  EXPECT_EQ(pieces_of_sizes(too_many, 4).status().code(), Code::usage);
}

TEST(AccessBins, BoundsBelongToTheSmallerBin) {
  EXPECT_EQ(binned({{0, 1}, {100, 2}, {101, 4}, {1024, 8}, {1073741824, 16}, {1073741825, 32}}),
            (std::array<uint64_t, bin_count>{3, 12, 0, 0, 0, 0, 0, 0, 16, 32}));
}

// The arithmetic by hand: two targets, stripes of 100 bytes.
TEST(Predict, AddsUpWhatTheSlowestTargetDoes) {
  FilePieces file;
  file.ranks = 2;
  file.datasets = {{0, {150, 270}, {0, 1}}};
  file.metadata_writes = 3;
  FileSystem system;
  system.targets = 2;
  system.target_bytes_per_second = 100.0;
  system.node_bytes_per_second = 1000.0;
  system.request_seconds = 1.0;
  system.lock_seconds = 10.0;
  system.call_seconds_per_rank = 2.5;
  const Striping striping{2, 100, 1};
  // Target 0: stripes 0 and 2, whole, and 20 bytes of stripe 4, which do not fill it: 3.2 s. One aggregator
  // sends 420 bytes: 0.42 s. Two ranks call.
  const Prediction together = predict(file, Strategy::skeleton, 0, striping, system);
  EXPECT_DOUBLE_EQ(together.target_seconds, 2.2 + 1.0);
  EXPECT_DOUBLE_EQ(together.exchange_seconds, 0.42);
  EXPECT_DOUBLE_EQ(together.call_seconds, 5.0);
  EXPECT_DOUBLE_EQ(together.metadata_seconds, 3.0);
  // Independently stripe 1 is written by both: target 1 has two halves and a lock that changes hands.
  const Prediction alone = predict(file, Strategy::independent, 0, striping, system);
  EXPECT_DOUBLE_EQ(alone.target_seconds, 2.0 + 2.0 + 10.0);
  EXPECT_DOUBLE_EQ(alone.total(), alone.target_seconds + 3.0);
}

TEST(Predict, IndependentWritersWaitForNobodyBetweenDatasets) {
  FilePieces file;
  file.ranks = 2;
  file.datasets = {{0, {100}, {0}}, {100, {100}, {1}}};  // on a target each
  FileSystem system;
  system.target_bytes_per_second = 100.0;
  system.node_bytes_per_second = 1000.0;
  const Striping striping{2, 100, 2};
  EXPECT_DOUBLE_EQ(predict(file, Strategy::independent, 0, striping, system).target_seconds, 1.0);
  EXPECT_DOUBLE_EQ(predict(file, Strategy::aggregated, 0, striping, system).target_seconds, 2.0);
}

TEST(Predict, NamesOnlyThePapersMachines) {
  EXPECT_EQ(named_file_system("summit").status().code(), Code::usage);
}

TEST(Predict, SmallFilesGetFewStripes) {
  const Result<FileSystem> edison = named_file_system("edison");
  ASSERT_TRUE(edison.ok());
  const Striping small = best_striping(chombo_file({1, 1, 1}, 8, 8), Strategy::aggregated, *edison);
  const Striping large = best_striping(chombo_file({8, 8, 8}, 2304), Strategy::aggregated, *edison);
  EXPECT_LT(small.stripe_count, 8);
  EXPECT_EQ(large.stripe_count, 96);
  EXPECT_LE(small.aggregators, 8);
}

}  // namespace
}  // namespace neve::io_model
