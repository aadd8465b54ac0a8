// SPDX-License-Identifier: BSD-3-Clause
// Writes of values that are read while they are written: the same files as of values in memory, whatever the
// source states of itself, and one error on all ranks where it cannot be read.
#include <atomic>
#include <cfenv>
#include <filesystem>
#include <limits>

#include "core/amr/grow.hpp"
#include "neve/checkpoint.hpp"
#include "tests/mpi/generated.hpp"
#include "tests/mpi/write_kinds.hpp"

namespace neve {
namespace {

using test::GeneratedSource;
using test::HeldFromSource;
using test::world_rank;
using test::world_size;

struct Case {
  std::string name;
  test::Shape shape;
  WriteOptions options;
};

Case make_case(const std::string& name, const std::function<void(Case&)>& change) {
  Case made;
  made.name = name;
  made.options.bound = {BoundMode::rel, 1e-3};
  change(made);
  return made;
}

std::vector<Case> cases() {
  return {
      make_case("Defaults", [](Case&) {}),
      make_case("Threads", [](Case& c) { c.options.encode.threads = 3; }),
      make_case("SmallChunks", [](Case& c) { c.options.chunk_bytes = uint64_t{64} << 10; }),
      make_case("CutBoxes",
                [](Case& c) {
                  c.shape.one_box = true;
                  c.options.chunk_bytes = uint64_t{64} << 10;
                }),
      make_case("CoveredAuto", [](Case& c) { c.options.covered = Covered::automatic; }),
      make_case("CoveredAutoOfCutBoxes",
                [](Case& c) {
                  c.shape.one_box = true;
                  c.options.chunk_bytes = uint64_t{64} << 10;
                  c.options.covered = Covered::automatic;
                  c.options.encode.threads = 2;
                }),
      make_case("CoveredAutoBeforeFrames",
                [](Case& c) {
                  c.options.covered = Covered::automatic;
                  c.options.codec = Codec::dual_quant;
                }),
      make_case("CoveredDropOfFloats",
                [](Case& c) {
                  c.shape.dtype = DType::f32;
                  c.options.covered = Covered::drop;
                }),
      make_case("Lossless",
                [](Case& c) {
                  c.options.bound = {BoundMode::lossless, 0};
                }),
      make_case("FillGiven", [](Case& c) { c.options.fill = test::fill_value; }),
      make_case("Ghosts",
                [](Case& c) {
                  c.options.ghosts = {2, 1, 1};
                }),
      make_case("GhostsUncompressed",
                [](Case& c) {
                  c.options.ghosts = {2, 1, 1};
                  c.options.compress = false;
                }),
      make_case("Independent", [](Case& c) { c.options.strategy = "independent"; }),
      make_case("Collective", [](Case& c) { c.options.strategy = "collective"; }),
      make_case("Aggregated",
                [](Case& c) {
                  c.options.strategy = "aggregated";
                  c.options.aggregate_boxes = 2;
                }),
      make_case("Filtered", [](Case& c) { c.options.strategy = "filtered"; }),
      make_case("Amrex1d", [](Case& c) { c.options.strategy = "amrex-1d"; }),
      make_case("CrossLevel",
                [](Case& c) {
                  c.options.cross_level = true;
                  c.options.encode.effort = Effort::max;
                }),
      make_case("Uncompressed", [](Case& c) { c.options.compress = false; }),
      make_case("UncompressedIndependent",
                [](Case& c) {
                  c.options.compress = false;
                  c.options.strategy = "independent";
                }),
  };
}

class ReadSource : public testing::Test {
 protected:
  ReadSource() : directory_(test::make_directory("read_values")) {}
  ~ReadSource() override { test::remove_directory(directory_); }

  std::string directory_;
};

class ReadValues : public ReadSource, public testing::WithParamInterface<Case> {};

void expect_same_files(const std::string& a, const std::string& b) {
  test::barrier();
  EXPECT_EQ(test::contents(a), test::contents(b));
  test::barrier();
}

TEST_P(ReadValues, MakeTheFileThatValuesInMemoryMake) {
  const Hierarchy h = test::make_hierarchy(GetParam().shape);
  const WriteOptions& options = GetParam().options;
  GeneratedSource source(h, options.ghosts);
  const HeldFromSource held(source, options.ghosts, world_size(), world_rank());
  const auto in_memory = write_plotfile(MPI_COMM_WORLD, directory_ + "/memory", h, held.boxes(), options);
  ASSERT_TRUE(in_memory.ok()) << in_memory.status().message();
  const auto read = write_plotfile(MPI_COMM_WORLD, directory_ + "/read", h, source, options);
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(read->file_bytes, in_memory->file_bytes);
  EXPECT_EQ(read->data_bytes, in_memory->data_bytes);
  expect_same_files(directory_ + "/memory", directory_ + "/read");
  EXPECT_EQ(test::list_directory(directory_), (std::vector<std::string>{"memory", "read"}));
  test::barrier();
}

INSTANTIATE_TEST_SUITE_P(, ReadValues, testing::ValuesIn(cases()),
                         [](const testing::TestParamInfo<Case>& of) { return of.param.name; });

// Fields without fill values and special ones, whose ranges a source can state.
Hierarchy plain_hierarchy() {
  Hierarchy h = test::make_hierarchy({});
  h.components.resize(test::masked);
  return h;
}

std::vector<std::pair<double, double>> true_ranges(const Hierarchy& h) {
  std::vector<std::pair<double, double>> ranges;
  for (size_t l = 0; l < h.levels.size(); ++l) {
    for (size_t c = 0; c < h.components.size(); ++c) {
      std::pair<double, double> range{std::numeric_limits<double>::max(),
                                      std::numeric_limits<double>::lowest()};
      for (size_t b = 0; b < h.levels[l].boxes.size(); ++b) {
        for (const double v :
             test::box_values(h, static_cast<int>(l), static_cast<int>(b), static_cast<int>(c))) {
          range = {std::min(range.first, v), std::max(range.second, v)};
        }
      }
      ranges.push_back(range);
    }
  }
  return ranges;
}

uint64_t values_of(const Hierarchy& h) {
  uint64_t values = 0;
  for (const Level& level : h.levels) {
    for (const Box& box : level.boxes) values += static_cast<uint64_t>(box.cells()) * h.components.size();
  }
  return values;
}

TEST_F(ReadSource, WhatItStatesOfItsRangesIsTakenWhereItIsTrueAndMeasuredWhereNot) {
  const Hierarchy h = plain_hierarchy();
  WriteOptions options;
  options.bound = {BoundMode::rel, 1e-3};
  const auto write = [&](const std::string& name, const std::vector<std::pair<double, double>>& stated) {
    GeneratedSource source(h);
    source.state(stated);
    const auto written = write_plotfile(MPI_COMM_WORLD, directory_ + "/" + name, h, source, options);
    EXPECT_TRUE(written.ok()) << written.status().message();
    uint64_t values = source.values_read();
    MPI_Allreduce(MPI_IN_PLACE, &values, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    return values;
  };
  EXPECT_EQ(write("measured", {}), 2 * values_of(h));
  const std::vector<std::pair<double, double>> stated = true_ranges(h);
  EXPECT_EQ(write("true", stated), values_of(h));
  expect_same_files(directory_ + "/measured", directory_ + "/true");
  std::vector<std::pair<double, double>> wide = stated;
  wide[1].second += 1;
  EXPECT_EQ(write("wide", wide), 3 * values_of(h));
  expect_same_files(directory_ + "/measured", directory_ + "/wide");
  std::vector<std::pair<double, double>> narrow = stated;
  narrow.back().first += 1e-3 * (narrow.back().second - narrow.back().first);
  EXPECT_EQ(write("narrow", narrow), 3 * values_of(h));
  expect_same_files(directory_ + "/measured", directory_ + "/narrow");
}

TEST_F(ReadSource, AFillValueThatItsRangesMayHideIsFound) {
  const Hierarchy h = test::make_hierarchy({});
  GeneratedSource silent(h), speaking(h);
  speaking.state(
      std::vector<std::pair<double, double>>(h.levels.size() * h.components.size(), {test::fill_value, 1.0}));
  WriteOptions options;
  options.bound = {BoundMode::rel, 1e-3};
  ASSERT_TRUE(write_plotfile(MPI_COMM_WORLD, directory_ + "/silent", h, silent, options).ok());
  ASSERT_TRUE(write_plotfile(MPI_COMM_WORLD, directory_ + "/speaking", h, speaking, options).ok());
  expect_same_files(directory_ + "/silent", directory_ + "/speaking");
}

TEST_F(ReadSource, AnAmrexFolderIsThatOfValuesInMemory) {
  for (const DType dtype : {DType::f32, DType::f64}) {
    test::Shape shape;
    shape.dtype = dtype;
    const Hierarchy h = test::make_hierarchy(shape);
    GeneratedSource source(h);
    const HeldFromSource held(source, {0, 0, 0}, world_size(), world_rank());
    ASSERT_TRUE(write_amrex_plotfile(MPI_COMM_WORLD, directory_ + "/memory", h, held.boxes()).ok());
    const Status read = write_amrex_plotfile(MPI_COMM_WORLD, directory_ + "/read", source);
    ASSERT_TRUE(read.ok()) << read.message();
    test::barrier();
    namespace fs = std::filesystem;
    for (const auto& entry : fs::recursive_directory_iterator(directory_ + "/memory")) {
      if (!entry.is_regular_file()) continue;
      const fs::path name = fs::relative(entry.path(), directory_ + "/memory");
      EXPECT_EQ(test::read_file(entry.path().string()),
                test::read_file((fs::path(directory_ + "/read") / name).string()))
          << name;
    }
    test::barrier();
  }
}

TEST_F(ReadSource, ACheckpointIsThatOfValuesInMemory) {
  const Hierarchy h = test::make_hierarchy({});
  std::vector<Variable> variables(3);
  variables[0] = {"plain", h.components, {1, 1, 0}, false, {}, Codec::automatic};
  variables[1] = {"exact", h.components, {0, 0, 0}, true, {BoundMode::lossless, 0}, Codec::automatic};
  variables[2] = {"bounded", h.components, {1, 0, 0}, true, {BoundMode::rel, 1e-3}, Codec::automatic};
  for (const char* strategy : {"skeleton", "collective", "independent"}) {
    WriteOptions options;
    options.strategy = strategy;
    std::vector<GeneratedSource> sources;
    std::vector<PlotfileSource*> read;
    std::vector<std::vector<LocalBox>> boxes;
    std::vector<HeldFromSource> held;
    for (const Variable& variable : variables) sources.emplace_back(h, variable.ghosts);
    for (size_t v = 0; v < variables.size(); ++v) {
      read.push_back(&sources[v]);
      held.emplace_back(sources[v], variables[v].ghosts, world_size(), world_rank());
      boxes.push_back(held.back().boxes());
    }
    ASSERT_TRUE(write_checkpoint(MPI_COMM_WORLD, directory_ + "/memory", h, variables, boxes, options).ok());
    const auto written = write_checkpoint(MPI_COMM_WORLD, directory_ + "/read", h, variables, read, options);
    ASSERT_TRUE(written.ok()) << written.status().message();
    expect_same_files(directory_ + "/memory", directory_ + "/read");
  }
}

TEST_F(ReadSource, ABoxThatCannotBeReadIsOneErrorAndLeavesTheEarlierFile) {
  const Hierarchy h = test::make_hierarchy({});
  const std::string path = directory_ + "/file";
  for (const char* way :
       {"compressed", "auto", "uncompressed", "independent", "filtered", "amrex", "state"}) {
    const auto write = [&](GeneratedSource& source) -> Status {
      const std::string name = way;
      if (name == "amrex") return write_amrex_plotfile(MPI_COMM_WORLD, path, source);
      WriteOptions options;
      options.encode.threads = 2;
      if (name == "auto") options.covered = Covered::automatic;
      options.compress = name != "uncompressed";
      if (name == "independent" || name == "filtered") options.strategy = name;
      if (name != "state") return write_plotfile(MPI_COMM_WORLD, path, h, source, options).status();
      const Variable variable{"state", h.components,           {0, 0, 0},
                              true,    {BoundMode::rel, 1e-3}, Codec::automatic};
      PlotfileSource* const sources[] = {&source};
      return write_checkpoint(MPI_COMM_WORLD, path, h, std::span(&variable, 1), sources, options).status();
    };
    GeneratedSource whole(h);
    ASSERT_TRUE(write(whole).ok()) << way;
    test::barrier();
    const std::string before = test::contents(path);
    for (const int level : {0, static_cast<int>(h.levels.size()) - 1}) {
      const auto boxes = static_cast<int>(h.levels[static_cast<size_t>(level)].boxes.size());
      for (const int box : {0, boxes / 2, boxes - 1}) {
        GeneratedSource damaged(h);
        damaged.fail_at(level, box);
        const Status status = write(damaged);
        EXPECT_EQ(status.code(), Code::corrupt) << way << ": " << status.message();
        EXPECT_NE(status.message().find("is damaged"), std::string::npos) << way << ": " << status.message();
        EXPECT_TRUE(test::same_on_all_ranks(status.message())) << way;
        test::barrier();
        EXPECT_EQ(test::contents(path), before) << way;
        EXPECT_EQ(test::list_directory(directory_), std::vector<std::string>{"file"}) << way;
        test::barrier();
      }
    }
    if (world_rank() == 0) std::filesystem::remove_all(path);
    test::barrier();
  }
}

// Counts the reads that do not round to nearest: averages that a source takes would not be those of the
// format.
class RoundingSource : public GeneratedSource {
 public:
  using GeneratedSource::GeneratedSource;
  Status read_box(int level, int box, int component, std::byte* out) override {
    const volatile double one = 1, little = 1e-30;
    if (one + little != one) ++rounded_up_;
    return GeneratedSource::read_box(level, box, component, out);
  }
  int rounded_up() const { return rounded_up_; }

 private:
  std::atomic<int> rounded_up_ = 0;
};

TEST_F(ReadSource, IsReadInTheFormatsArithmeticWhateverTheCallersIs) {
  const Hierarchy h = test::make_hierarchy({});
  for (const char* way : {"compressed", "uncompressed", "independent", "filtered", "amrex"}) {
    const std::string name = way, path = directory_ + "/" + name;
    WriteOptions options;
    options.covered = Covered::automatic;
    options.compress = name != "uncompressed";
    if (name == "independent" || name == "filtered") options.strategy = name;
    RoundingSource source(h);
    ASSERT_EQ(std::fesetround(FE_UPWARD), 0);
    const Status written = name == "amrex"
                               ? write_amrex_plotfile(MPI_COMM_WORLD, path, source)
                               : write_plotfile(MPI_COMM_WORLD, path, h, source, options).status();
    EXPECT_EQ(std::fegetround(), FE_UPWARD) << way;
    std::fesetround(FE_TONEAREST);
    ASSERT_TRUE(written.ok()) << way << ": " << written.message();
    EXPECT_GT(source.values_read(), 0U) << way;
    EXPECT_EQ(source.rounded_up(), 0) << way;
    test::barrier();
  }
}

TEST_F(ReadSource, OtherBoxesThanThoseOfTheHierarchyAreRefused) {
  const Hierarchy h = test::make_hierarchy({});
  GeneratedSource source(h, {1, 0, 0});
  const Status status = write_plotfile(MPI_COMM_WORLD, directory_ + "/file", h, source, {}).status();
  EXPECT_EQ(status.code(), Code::usage) << status.message();
  test::barrier();
  EXPECT_TRUE(test::list_directory(directory_).empty());
  test::barrier();
}

// Some strategies read all values at once, others piece by piece: the ranks have to agree on which.
TEST(ReadOptions, RanksThatAskForDifferentStrategiesAreToldSo) {
  if (world_size() == 1) GTEST_SKIP() << "needs two ranks to differ";
  const std::string directory = test::make_directory("strategies-differ");
  test::GeneratedSource source(test::make_hierarchy({}));
  WriteOptions options;
  if (world_rank() == 1) options.strategy = "filtered";
  const auto report =
      write_plotfile(MPI_COMM_WORLD, directory + "/file", source.hierarchy(), source, options);
  EXPECT_EQ(report.status().code(), Code::usage);
  EXPECT_NE(report.status().message().find("(strategy)"), std::string::npos) << report.status().message();
  test::barrier();
  test::remove_directory(directory);
}

}  // namespace
}  // namespace neve
