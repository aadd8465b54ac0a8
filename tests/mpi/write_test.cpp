// SPDX-License-Identifier: BSD-3-Clause
// Hierarchies written by all ranks and read back, value by value.
#include <cmath>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "io/hdf5/plotfile_source.hpp"
#include "tests/mpi/generated.hpp"

namespace neve {
namespace {

using test::fill_value;
using test::OwnedBoxes;
using test::world_rank;
using test::world_size;

struct Case {
  test::Shape shape;
  WriteOptions options;
};

// Errors of one field of one level over the cells that every rank looks at alone; the ranks share the boxes.
struct Comparison {
  uint64_t beyond_bound = 0;  // held cells
  uint64_t special_lost = 0;  // held cells
  uint64_t left_out = 0;
  uint64_t left_out_beyond = 0;  // left-out cells whose average is further off, or a special of the original
  double worst = 0;
};

bool is_special(int field, double value) {
  return !std::isfinite(value) || (value == 0 && std::signbit(value)) ||
         (field == test::masked && value == fill_value);
}

bool same(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) || std::memcmp(&a, &b, sizeof a) == 0;
}

Comparison compare(PlotfileSource& source, const Hierarchy& h, size_t level, int field, double bound) {
  Comparison result;
  for (size_t b = 0; b < h.levels[level].boxes.size(); ++b) {
    const int l = static_cast<int>(level);
    const int box = static_cast<int>(b);
    const auto cells = static_cast<size_t>(h.levels[level].boxes[b].cells());
    std::vector<std::byte> bytes(cells * dtype_bytes(h.dtype));
    const Status read = source.read_box(l, box, field, bytes.data());
    EXPECT_TRUE(read.ok()) << read.message();
    const Result<std::vector<uint8_t>> left_out = source.left_out(l, box, field);
    EXPECT_TRUE(left_out.ok()) << left_out.status().message();
    if (!read.ok() || !left_out.ok()) return result;
    const std::vector<double> got = test::widen(h.dtype, bytes);
    const std::vector<double> wanted = test::box_values(h, l, box, field);
    for (size_t i = 0; i < cells; ++i) {
      const bool is_left_out = !left_out->empty() && (*left_out)[i] != 0;
      const bool lost = is_special(field, wanted[i]) && !same(got[i], wanted[i]);
      const bool beyond = !is_special(field, wanted[i]) && !(std::abs(got[i] - wanted[i]) <= bound);
      if (is_left_out) {
        ++result.left_out;
        result.left_out_beyond += lost || beyond ? 1 : 0;
      } else {
        result.special_lost += lost ? 1 : 0;
        result.beyond_bound += beyond ? 1 : 0;
        if (!is_special(field, wanted[i]))
          result.worst = std::max(result.worst, std::abs(got[i] - wanted[i]));
      }
    }
  }
  return result;
}

class WriteFile : public testing::Test {
 protected:
  explicit WriteFile(std::string strategy = "skeleton")
      : directory_(test::make_directory("write")), strategy_(std::move(strategy)) {}
  ~WriteFile() override { test::remove_directory(directory_); }

  Result<WriteReport> write(const Hierarchy& h, const std::vector<std::vector<int>>& owner,
                            WriteOptions options) {
    const OwnedBoxes owned(h, owner, world_rank());
    if (options.strategy == "skeleton") options.strategy = strategy_;
    Result<WriteReport> report = write_plotfile(MPI_COMM_WORLD, path(), h, owned.boxes(), options);
    test::barrier();
    return report;
  }

  // Every value of every box within the bound the report states; every special value back.
  void check_all(const Hierarchy& h, const WriteReport& report, bool left_out_within_bound) {
    Result<std::unique_ptr<PlotfileSource>> opened = hdf5::open_hdf5_plotfile(path());
    ASSERT_TRUE(opened.ok()) << opened.status().message();
    PlotfileSource& source = **opened;
    EXPECT_EQ(source.hierarchy().components, h.components);
    EXPECT_EQ(source.hierarchy().dtype, h.dtype);
    EXPECT_EQ(source.hierarchy().time, h.time);
    ASSERT_EQ(source.hierarchy().levels.size(), h.levels.size());
    for (size_t level = 0; level < h.levels.size(); ++level) {
      EXPECT_EQ(source.hierarchy().levels[level].boxes, h.levels[level].boxes);
      for (int field = 0; field < test::field_count; ++field) {
        const FieldReport& of = report.levels[level].fields[static_cast<size_t>(field)];
        const Comparison c = compare(source, h, level, field, of.bound_abs);
        SCOPED_TRACE("level " + std::to_string(level) + " field " + of.name);
        EXPECT_EQ(c.beyond_bound, 0u) << "worst " << c.worst << " of " << of.bound_abs;
        EXPECT_EQ(c.special_lost, 0u);
        EXPECT_EQ(c.left_out, of.left_out_cells);
        EXPECT_EQ(c.worst, of.max_abs_error);
        if (left_out_within_bound) {
          EXPECT_EQ(c.left_out_beyond, 0u);
        }
      }
    }
  }

  std::string path() const { return directory_ + "/plot.h5"; }
  std::string directory_;
  std::string strategy_;
};

// The same promises whichever way the frames get into the file.
class Write : public WriteFile, public testing::WithParamInterface<const char*> {
 protected:
  Write() : WriteFile(GetParam()) {}
};
INSTANTIATE_TEST_SUITE_P(Strategies, Write, testing::Values("skeleton", "filtered"),
                         [](const auto& param) { return std::string(param.param); });

void expect_sums(const Hierarchy& h, const WriteReport& report) {
  uint64_t raw_bytes = 0;
  for (const LevelReport& level : report.levels) {
    uint64_t stored_bytes = 0;
    for (const FieldReport& field : level.fields) {
      stored_bytes += field.stored_bytes;
      raw_bytes += field.raw_bytes;
      EXPECT_EQ(field.raw_bytes, field.cells * dtype_bytes(h.dtype));
    }
    EXPECT_EQ(stored_bytes, level.stored_bytes);
  }
  EXPECT_EQ(raw_bytes, report.raw_bytes);
}

TEST_P(Write, EveryValueComesBackInEveryDimensionAndType) {
  for (int dims : {1, 2, 3}) {
    for (DType dtype : {DType::f32, DType::f64}) {
      for (double rel : {1e-2, 1e-5}) {
        SCOPED_TRACE(std::to_string(dims) + "D " + std::string(dtype_name(dtype)) + " rel " +
                     std::to_string(rel));
        const Hierarchy h =
            test::make_hierarchy({.dims = dims, .dtype = dtype, .box_cells = dims == 3 ? 8 : 16});
        WriteOptions options = test::leaving_out();
        options.bound = {BoundMode::rel, rel};
        const auto report = write(h, distribute_boxes(h, world_size()), options);
        ASSERT_TRUE(report.ok()) << report.status().message();
        check_all(h, *report, true);
        expect_sums(h, *report);
      }
    }
  }
}

TEST_P(Write, EveryCellIsStoredUnlessOtherwiseIsAskedFor) {
  EXPECT_EQ(WriteOptions().covered, Covered::keep);
  const Hierarchy h = test::make_hierarchy({});
  const auto report = write(h, distribute_boxes(h, world_size()), {});
  ASSERT_TRUE(report.ok()) << report.status().message();
  EXPECT_EQ(report->covered, Covered::keep);
  for (const LevelReport& level : report->levels) {
    for (const FieldReport& field : level.fields) EXPECT_EQ(field.left_out_cells, 0u) << field.name;
  }
  EXPECT_EQ(report->levels[0].fields[test::averaged].covered, "kept");
  EXPECT_EQ(report->levels[2].fields[test::averaged].covered, "none");
  check_all(h, *report, true);
}

TEST(CoveredNames, AreReadBackAndRefusalsListThem) {
  for (const Covered covered : {Covered::automatic, Covered::drop, Covered::keep}) {
    const auto parsed = parse_covered(covered_name(covered));
    ASSERT_TRUE(parsed.ok()) << parsed.status().message();
    EXPECT_EQ(*parsed, covered);
  }
  EXPECT_EQ(parse_covered("maybe").status().message(),
            "covered \"maybe\" unknown; allowed: auto, drop, keep");
}

TEST_P(Write, CoveredCellsAreLeftOutWhereTheAverageServes) {
  const Hierarchy h = test::make_hierarchy({});
  const auto report = write(h, distribute_boxes(h, world_size()), test::leaving_out());
  ASSERT_TRUE(report.ok()) << report.status().message();
  const uint64_t covered = 8 * 8 * 8;  // of level 0, by level 1
  const auto& coarse = report->levels[0].fields;
  EXPECT_EQ(coarse[test::averaged].left_out_cells, covered);
  EXPECT_EQ(coarse[test::averaged].covered, "dropped");
  EXPECT_EQ(coarse[test::own].left_out_cells, 0u);
  EXPECT_EQ(coarse[test::own].covered.find("kept: average of finer cells misses 512 of 512 cells, worst "),
            0u)
      << coarse[test::own].covered;
  EXPECT_EQ(coarse[test::constant].covered, "dropped");
  EXPECT_EQ(report->levels[1].fields[test::averaged].left_out_cells, 4u * 4 * 4);
  EXPECT_EQ(report->levels[2].fields[test::averaged].covered, "none");
  EXPECT_EQ(coarse[test::masked].fill, fill_value);
  check_all(h, *report, true);
}

TEST_P(Write, MissedCoveredCellsAreStoredAmongDroppedOnes) {
  const Hierarchy h = test::make_hierarchy({.dims = 2, .box_cells = 32});
  const auto report = write(h, distribute_boxes(h, world_size()), test::leaving_out());
  ASSERT_TRUE(report.ok()) << report.status().message();
  // The edge of the filled corner cuts through a few covered cells of level 0: no average gives those.
  const FieldReport& field = report->levels[0].fields[test::masked];
  EXPECT_EQ(field.covered, "dropped");
  EXPECT_LT(field.left_out_cells, 32u * 32);
  EXPECT_GT(field.left_out_cells, 32u * 32 * 7 / 8);
  check_all(h, *report, true);
}

TEST_P(Write, LeftOutCellsAreWithinTheBoundWhateverTheCodecPredictsFrom) {
  // Four levels in a chain: what level 0 leaves out is an average of what level 1 leaves out, and so on.
  for (const int dims : {2, 3}) {
    const Hierarchy h = test::make_hierarchy({.dims = dims, .levels = 4, .box_cells = dims == 3 ? 8 : 32});
    for (const Codec codec : {Codec::automatic, Codec::dual_quant, Codec::lorenzo_regression,
                              Codec::interpolation, Codec::context}) {
      SCOPED_TRACE(std::to_string(dims) + "D " + std::string(codec_name(codec)));
      WriteOptions options = test::leaving_out();
      options.codec = codec;
      options.bound = {BoundMode::rel, 1e-2};
      options.fields["own"].codec = Codec::dual_quant;  // fields of both kinds side by side
      const auto report = write(h, distribute_boxes(h, world_size()), options);
      ASSERT_TRUE(report.ok()) << report.status().message();
      for (size_t level = 0; level < 3; ++level) {
        EXPECT_EQ(report->levels[level].fields[test::averaged].covered, "dropped");
        EXPECT_GT(report->levels[level].fields[test::averaged].left_out_cells, 0u);
      }
      check_all(h, *report, true);
    }
  }
}

TEST_P(Write, LeftOutCellsOfCutBoxesAreWithinTheBound) {
  const Hierarchy h = test::make_hierarchy({.box_cells = 16, .one_box = true});
  for (const Codec codec : {Codec::lorenzo_regression, Codec::interpolation, Codec::context}) {
    SCOPED_TRACE(codec_name(codec));
    WriteOptions options = test::leaving_out();
    options.codec = codec;
    options.bound = {BoundMode::rel, 1e-2};
    options.chunk_bytes = 64 << 10;
    options.encode.threads = 2;
    const auto report = write(h, distribute_boxes(h, world_size()), options);
    ASSERT_TRUE(report.ok()) << report.status().message();
    EXPECT_EQ(report->levels[0].fields[test::averaged].covered, "dropped");
    check_all(h, *report, true);
  }
}

TEST_P(Write, DropAndKeepForceIt) {
  const Hierarchy h = test::make_hierarchy({});
  WriteOptions options = test::leaving_out();
  options.covered = Covered::keep;
  auto report = write(h, distribute_boxes(h, world_size()), options);
  ASSERT_TRUE(report.ok()) << report.status().message();
  for (const FieldReport& field : report->levels[0].fields) EXPECT_EQ(field.left_out_cells, 0u);
  check_all(h, *report, true);

  options.covered = Covered::drop;
  report = write(h, distribute_boxes(h, world_size()), options);
  ASSERT_TRUE(report.ok()) << report.status().message();
  for (const FieldReport& field : report->levels[0].fields) EXPECT_EQ(field.left_out_cells, 512u);
  check_all(h, *report, false);
}

TEST_P(Write, RanksWithoutBoxesTakePart) {
  const Hierarchy h = test::make_hierarchy({.dtype = DType::f32});
  auto owner = distribute_boxes(h, 1);
  for (int only : {0, world_size() - 1}) {
    for (auto& level : owner) std::fill(level.begin(), level.end(), only);
    const auto report = write(h, owner, test::leaving_out());
    ASSERT_TRUE(report.ok()) << report.status().message();
    check_all(h, *report, true);
  }
  // Owners against every order: neighbours in space lie on different ranks.
  int next = 0;
  for (auto& level : owner) {
    for (int& rank : level) rank = next++ % world_size();
  }
  const auto report = write(h, owner, test::leaving_out());
  ASSERT_TRUE(report.ok()) << report.status().message();
  check_all(h, *report, true);
}

TEST_P(Write, BoxesAboveTheChunkSizeAreCut) {
  const Hierarchy h = test::make_hierarchy({.box_cells = 16, .one_box = true});
  WriteOptions options = test::leaving_out();
  options.chunk_bytes = 64 << 10;
  const auto report = write(h, distribute_boxes(h, world_size()), options);
  ASSERT_TRUE(report.ok()) << report.status().message();
  // HDF5's filtered write takes one chunk of a rank, whatever its size.
  EXPECT_EQ(report->levels[0].chunks, strategy_ == "filtered" ? 1u : 32u * 32 * 32 * 5 * 8 / (64 << 10));
  check_all(h, *report, true);
}

TEST_P(Write, ExactAndAbsoluteBoundsByField) {
  const Hierarchy h = test::make_hierarchy({.dims = 2});
  WriteOptions options = test::leaving_out();
  options.bound = {BoundMode::abs, 0.25};
  options.fields["own"].bound = Bound{BoundMode::lossless, 0};
  options.fields["averaged"].codec = Codec::exact;
  const auto report = write(h, distribute_boxes(h, world_size()), options);
  ASSERT_TRUE(report.ok()) << report.status().message();
  EXPECT_EQ(report->levels[0].fields[test::own].max_abs_error, 0);
  EXPECT_EQ(report->levels[0].fields[test::averaged].max_abs_error, 0);
  EXPECT_EQ(report->levels[0].fields[test::masked].bound_abs, 0.25);
  check_all(h, *report, true);
}

// Bits of every box as Neve's reader gives them, by all boxes of all levels and fields.
std::vector<std::vector<std::byte>> read_everything(const std::string& path, const Hierarchy& h) {
  std::vector<std::vector<std::byte>> all;
  Result<std::unique_ptr<PlotfileSource>> opened = hdf5::open_hdf5_plotfile(path);
  EXPECT_TRUE(opened.ok()) << opened.status().message();
  if (!opened.ok()) return all;
  for (size_t level = 0; level < h.levels.size(); ++level) {
    for (size_t b = 0; b < h.levels[level].boxes.size(); ++b) {
      for (int c = 0; c < test::field_count; ++c) {
        auto& bytes =
            all.emplace_back(static_cast<size_t>(h.levels[level].boxes[b].cells()) * dtype_bytes(h.dtype));
        EXPECT_TRUE((*opened)->read_box(static_cast<int>(level), static_cast<int>(b), c, bytes.data()).ok());
      }
    }
  }
  return all;
}

TEST_P(Write, ValuesDoNotDependOnRanksNorBytesOnThreads) {
  const Hierarchy h = test::make_hierarchy({.box_cells = 16, .one_box = true});
  WriteOptions options = test::leaving_out();
  options.chunk_bytes = 64 << 10;
  options.strategy = strategy_;
  options.codec = Codec::dual_quant;  // others predict from neighbours in the same chunk
  ASSERT_TRUE(write(h, distribute_boxes(h, world_size()), options).ok());
  const auto by_all = read_everything(path(), h);
  const std::string bytes_one_thread = test::read_file(path());
  test::barrier();

  options.encode.threads = 3;
  ASSERT_TRUE(write(h, distribute_boxes(h, world_size()), options).ok());
  EXPECT_TRUE(test::read_file(path()) == bytes_one_thread);
  test::barrier();

  if (world_rank() == 0) {
    const OwnedBoxes owned(h, distribute_boxes(h, 1), 0);
    const auto report = write_plotfile(MPI_COMM_SELF, path(), h, owned.boxes(), options);
    ASSERT_TRUE(report.ok()) << report.status().message();
    EXPECT_TRUE(read_everything(path(), h) == by_all);
  }
}

// Levels of one file, each predicted with the one before: what readers get is what was checked, on any number
// of ranks, however chunks are cut.
TEST_P(Write, CrossLevelPredictionKeepsTheBound) {
  struct {
    test::Shape shape;
    Codec codec;
    Covered covered;
    uint64_t chunk_bytes;
  } const cases[] = {
      {{.box_cells = 16}, Codec::context, Covered::automatic, uint64_t{8} << 20},
      {{.box_cells = 16}, Codec::interpolation, Covered::keep, uint64_t{8} << 20},
      {{.dtype = DType::f32, .box_cells = 16, .one_box = true}, Codec::context, Covered::keep, 64 << 10},
      {{.dims = 2, .dtype = DType::f32, .box_cells = 16}, Codec::context, Covered::keep, uint64_t{8} << 20},
      {{.box_cells = 8}, Codec::automatic, Covered::keep, uint64_t{8} << 20},
  };
  for (const auto& of : cases) {
    SCOPED_TRACE(std::string(codec_name(of.codec)) + " " + std::to_string(of.shape.dims) + "D");
    const Hierarchy h = test::make_hierarchy(of.shape);
    WriteOptions options = test::leaving_out();
    options.codec = of.codec;
    options.covered = of.covered;
    options.chunk_bytes = of.chunk_bytes;
    options.encode.effort = Effort::max;
    options.encode.threads = 2;
    options.cross_level = true;
    const auto report = write(h, distribute_boxes(h, world_size()), options);
    ASSERT_TRUE(report.ok()) << report.status().message();
    check_all(h, *report, true);
    expect_sums(h, *report);
    // The field whose covered cells are data of their own is kept, so finer levels may lean on it.
    bool nested = false;
    for (const LevelReport& level : report->levels) {
      for (const FieldReport& field : level.fields) nested = nested || field.arrangement == "nested";
    }
    EXPECT_TRUE(nested);
    EXPECT_EQ(report->levels[0].fields[test::own].arrangement == "nested", false);
  }
}

// Nothing of it shows where no field can use it.
TEST_P(Write, CrossLevelPredictionChangesNothingWhereItCannotHelp) {
  const Hierarchy h = test::make_hierarchy({.box_cells = 16});
  WriteOptions options = test::leaving_out();
  options.codec = Codec::dual_quant;
  ASSERT_TRUE(write(h, distribute_boxes(h, world_size()), options).ok());
  const std::string without = test::read_file(path());
  test::barrier();
  options.cross_level = true;
  ASSERT_TRUE(write(h, distribute_boxes(h, world_size()), options).ok());
  EXPECT_TRUE(test::read_file(path()) == without);
}

TEST_F(WriteFile, AmrexLayoutKnowsNoCoarserLevel) {
  WriteOptions options = test::leaving_out();
  options.strategy = "amrex-1d";
  options.cross_level = true;
  const Hierarchy h = test::make_hierarchy({.dims = 2});
  const Status status = write(h, distribute_boxes(h, world_size()), options).status();
  EXPECT_EQ(status.code(), Code::usage);
  EXPECT_NE(status.message().find("cross-level"), std::string::npos) << status.message();
}

TEST_F(WriteFile, FilteredGivesARankOneChunkALevel) {
  strategy_ = "filtered";
  const Hierarchy h = test::make_hierarchy({});
  const auto owner = distribute_boxes(h, world_size());
  const auto report = write(h, owner, test::leaving_out());
  ASSERT_TRUE(report.ok()) << report.status().message();
  for (size_t level = 0; level < h.levels.size(); ++level) {
    std::map<int, uint64_t> cells;
    for (size_t b = 0; b < owner[level].size(); ++b) {
      cells[owner[level][b]] += static_cast<uint64_t>(h.levels[level].boxes[b].cells());
    }
    uint64_t most = 0;
    for (const auto& [rank, of_rank] : cells) most = std::max(most, of_rank);
    EXPECT_EQ(report->levels[level].chunks, cells.size());
    EXPECT_EQ(report->levels[level].chunk_elements, most * test::field_count);
  }
}

TEST_F(WriteFile, AmrexLayoutKeepsEveryCellWithinItsBoundInChunksOf1024) {
  strategy_ = "amrex-1d";
  for (const int dims : {1, 2, 3}) {
    for (const DType dtype : {DType::f32, DType::f64}) {
      for (const int box_cells : {8, 10}) {  // boxes end within chunks, fields within boxes
        for (const Codec codec : {Codec::automatic, Codec::dual_quant}) {
          SCOPED_TRACE(std::to_string(dims) + "D " + std::string(dtype_name(dtype)) + " boxes of " +
                       std::to_string(box_cells));
          const Hierarchy h = test::make_hierarchy({.dims = dims, .dtype = dtype, .box_cells = box_cells});
          WriteOptions options = test::leaving_out();
          options.codec = codec;
          options.encode.threads = 2;
          const auto report = write(h, distribute_boxes(h, world_size()), options);
          ASSERT_TRUE(report.ok()) << report.status().message();
          for (const LevelReport& level : report->levels) {
            EXPECT_EQ(level.chunk_elements, 1024u);
            for (const FieldReport& field : level.fields) {
              EXPECT_EQ(field.left_out_cells, 0u);
              EXPECT_GT(field.codec_bytes, 0u);
              EXPECT_LT(field.codec_bytes, field.stored_bytes);
            }
          }
          check_all(h, *report, true);
          expect_sums(h, *report);
        }
      }
    }
  }
}

TEST_F(WriteFile, AmrexLayoutHasChunksOfAnySize) {
  strategy_ = "amrex-1d";
  for (const int chunk_values : {1, 7, 4096, 100'000}) {  // up to more than all ranks together hold
    const int box_cells = chunk_values == 1 ? 4 : 10;
    for (const DType dtype : {DType::f32, DType::f64}) {
      SCOPED_TRACE(std::to_string(chunk_values) + " values of " + std::string(dtype_name(dtype)));
      const Hierarchy h = test::make_hierarchy({.dims = 2, .dtype = dtype, .box_cells = box_cells});
      WriteOptions options = test::leaving_out();
      options.chunk_values = chunk_values;
      const auto report = write(h, distribute_boxes(h, world_size()), options);
      ASSERT_TRUE(report.ok()) << report.status().message();
      for (const LevelReport& level : report->levels) {
        EXPECT_EQ(level.chunk_elements, static_cast<uint64_t>(chunk_values));
      }
      check_all(h, *report, true);
      expect_sums(h, *report);
    }
  }
}

TEST_F(WriteFile, AmrexLayoutCannotLeaveCellsOut) {
  WriteOptions options = test::leaving_out();
  options.strategy = "amrex-1d";
  options.covered = Covered::drop;
  const Hierarchy h = test::make_hierarchy({.dims = 2});
  const Status status = write(h, distribute_boxes(h, world_size()), options).status();
  EXPECT_EQ(status.code(), Code::usage);
  EXPECT_EQ(status.message(),
            "strategy amrex-1d stores every cell; allowed with it are covered auto and keep");
}

TEST_P(Write, ASeriesOfStepsRecallsItsCodecs) {
  const Hierarchy h = test::make_hierarchy({.box_cells = 16});
  const auto owner = distribute_boxes(h, world_size());
  WriteOptions options = test::leaving_out();
  options.encode.effort = Effort::max;
  options.memory = std::make_shared<SelectionMemory>();
  const auto first = write(h, owner, options);
  ASSERT_TRUE(first.ok()) << first.status().message();
  EXPECT_NE(first->levels[0].fields[test::averaged].chosen, "recalled");
  const auto second = write(h, owner, options);
  ASSERT_TRUE(second.ok()) << second.status().message();
  EXPECT_EQ(second->levels[0].fields[test::averaged].chosen, "recalled");
  for (size_t level = 0; level < h.levels.size(); ++level) {
    const FieldReport& before = first->levels[level].fields[test::averaged];
    const FieldReport& after = second->levels[level].fields[test::averaged];
    EXPECT_EQ(after.codec, before.codec) << level;
    EXPECT_EQ(after.arrangement, before.arrangement) << level;
  }
  check_all(h, *second, true);
}

TEST_P(Write, TheReportIsTheSameOnEveryRankAndProgressComesFromRankZero) {
  const Hierarchy h = test::make_hierarchy({});
  WriteOptions options = test::leaving_out();
  std::vector<std::string> phases;
  options.progress = [&](const std::string& phase, double fraction) {
    EXPECT_GE(fraction, 0);
    EXPECT_LE(fraction, 1);
    if (phases.empty() || phases.back() != phase) phases.push_back(phase);
  };
  const auto report = write(h, distribute_boxes(h, world_size()), options);
  ASSERT_TRUE(report.ok()) << report.status().message();
  std::string text = std::to_string(report->file_bytes) + " " + std::to_string(report->encode_seconds);
  for (const LevelReport& level : report->levels) {
    for (const FieldReport& field : level.fields) {
      text += "\n" + field.name + " " + std::to_string(field.stored_bytes) + " " + field.codec + " " +
              field.covered;
    }
  }
  EXPECT_TRUE(test::same_on_all_ranks(text));
  EXPECT_EQ(report->file_bytes, test::read_file(path()).size());
  const std::vector<std::string> all = {"plan", "encode", "write"};
  EXPECT_EQ(phases, world_rank() == 0 ? all : std::vector<std::string>{});
}

TEST_P(Write, BadOptionsAreNamedTheSameOnEveryRank) {
  const Hierarchy h = test::make_hierarchy({.dims = 2});
  const auto owner = distribute_boxes(h, world_size());
  const auto refused = [&](const WriteOptions& options) {
    const Status status = write(h, owner, options).status();
    EXPECT_EQ(status.code(), Code::usage) << status.message();
    EXPECT_TRUE(test::same_on_all_ranks(status.message()));
    EXPECT_TRUE(test::list_directory(directory_).empty());
    return status.message();
  };
  WriteOptions options = test::leaving_out();
  options.fields["nothing"].bound = Bound{};
  EXPECT_EQ(refused(options),
            "unknown field \"nothing\"; the fields are averaged, own, masked, special, constant");
  options = {};
  options.strategy = "magic";
  EXPECT_EQ(refused(options),
            "strategy \"magic\" unknown; allowed: skeleton, aggregated, collective, independent, "
            "filtered, amrex-1d");
  options = {};
  options.chunk_bytes = 1000;
  EXPECT_EQ(refused(options), "chunk_size is 1000; 65536 to 1073741824 are allowed");
  for (const int values : {0, -1, (1 << 24) + 1}) {
    options = {};
    options.strategy = "amrex-1d";
    options.chunk_values = values;
    EXPECT_EQ(refused(options), "chunk_values is " + std::to_string(values) + "; 1 to 16777216 are allowed");
  }
  options = {};
  options.strategy = "collective";
  options.chunk_values = 4096;
  EXPECT_EQ(refused(options),
            "chunk_values has no meaning for strategy collective; it is allowed with strategy amrex-1d");
  options = {};
  options.encode.threads = 0;
  EXPECT_EQ(refused(options), "threads is 0; 1 to 1024 are allowed");
  for (double value : {0.0, -1.0, std::nan("")}) {
    options = {};
    options.bound.value = value;
    refused(options);
    options = {};
    options.fields["own"].bound = Bound{BoundMode::abs, value};
    EXPECT_NE(refused(options).find("field own"), std::string::npos);
  }
  if (world_size() > 1) {
    options = {};
    options.bound.value = world_rank() == 0 ? 1e-3 : 1e-4;
    EXPECT_EQ(refused(options), "the ranks disagree about the write options (bound); all must pass the same");
    options = {};
    options.strategy = world_rank() == 0 ? "independent" : "skeleton";
    EXPECT_EQ(refused(options),
              "the ranks disagree about the write options (strategy); all must pass the same");
    // Threads may differ; what is wrong on one rank alone is told of that rank, on every rank.
    options = {};
    options.encode.threads = world_rank() == 1 ? -3 : 2;
    const std::string told = refused(options);
    EXPECT_EQ(told, "rank 1: threads is -3; 1 to 1024 are allowed");
    EXPECT_TRUE(test::same_on_all_ranks(told));
  }
}

}  // namespace
}  // namespace neve
