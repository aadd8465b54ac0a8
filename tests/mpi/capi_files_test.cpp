// SPDX-License-Identifier: BSD-3-Clause
// Hierarchies, plotfiles and checkpoints of the C API: what was described comes back, and every value is
// where the caller asked for it.
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "neve/checkpoint.h"
#include "neve/plotfile.h"
#include "neve/plotfile_reader.h"
#include "tests/mpi/generated.hpp"
#include "tests/mpi/write_kinds.hpp"

namespace neve {
namespace {

using test::world_rank;
using test::world_size;

constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();
constexpr double untouched = -12345;

// A two-dimensional hierarchy whose second level is finer by 2 in x and by 4 in y, with a box more than there
// are ranks on each level.
constexpr int edge = 6, layers = 2, held = edge + 2 * layers, components = 3;
const char* const names[components] = {"density", "momentum x", "momentum y"};

int box_count() { return world_size() + 1; }

double value_at(int level, int box, int component, int x, int y) {
  if (x == 1 && y == 2) return nan_value;
  if (x == 2 && y == 2) return -0.0;
  if (x == 3 && y == 2) return -std::numeric_limits<double>::infinity();
  return std::sin(0.3 * x + level) + 0.1 * y + component + 0.01 * box;
}

// One box with its ghosts, each field in an array of its own, rows `row` apart.
struct BoxFields {
  BoxFields(int level, int box, int row) : row_length(row) {
    for (int c = 0; c < components; ++c) {
      std::vector<double>& field = fields[static_cast<size_t>(c)];
      field.assign(static_cast<size_t>(row * held), untouched);
      for (int y = -layers; y < edge + layers; ++y) {
        for (int x = -layers; x < edge + layers; ++x) field[place(x, y)] = value_at(level, box, c, x, y);
      }
    }
  }
  size_t place(int x, int y) const { return static_cast<size_t>((y + layers) * row_length + x + layers); }
  std::array<const void*, components> pointers() const {
    return {fields[0].data(), fields[1].data(), fields[2].data()};
  }
  int row_length;
  std::array<std::vector<double>, components> fields;
};

using Corner = std::array<int, 2>;
Corner low(int box) { return {edge * box, 0}; }
Corner high(int box) { return {edge * box + edge - 1, edge - 1}; }

// The hierarchy with this rank's values; `owner(box)` says whose box it is.
class Described {
 public:
  template <class Owner>
  Described(Owner owner, int row) : h_(neve_hierarchy_create(2, 8, components, names)) {
    const int origin[] = {0, 0}, ratios[] = {2, 4};
    const int coarse[] = {edge * box_count() - 1, edge - 1};
    const int fine[] = {2 * edge * box_count() - 1, 4 * edge - 1};
    const double prob_lo[] = {0, -1}, prob_hi[] = {1.0 * box_count(), 1};
    EXPECT_EQ(neve_hierarchy_set_time(h_, 0.75), NEVE_OK);
    EXPECT_EQ(neve_hierarchy_set_domain(h_, prob_lo, prob_hi), NEVE_OK);
    EXPECT_EQ(neve_hierarchy_set_coordinates(h_, 1), NEVE_OK);
    EXPECT_EQ(neve_hierarchy_add_side_file(h_, "state", "step 7\0x", 8), NEVE_OK);
    EXPECT_EQ(neve_hierarchy_add_side_file(h_, "empty", nullptr, 0), NEVE_OK);
    for (int level = 0; level < 2; ++level) {
      EXPECT_EQ(neve_hierarchy_add_level_ratios(h_, origin, level == 0 ? coarse : fine,
                                                level == 0 ? nullptr : ratios),
                NEVE_OK);
      EXPECT_EQ(neve_hierarchy_set_level_step(h_, level, 7 << level), NEVE_OK);
      for (int box = 0; box < box_count(); ++box) add(level, box, owner(box) == world_rank(), row);
    }
    EXPECT_EQ(neve_hierarchy_set_level_time(h_, 1, 0.5), NEVE_OK);
  }
  Described(const Described&) = delete;
  ~Described() { neve_hierarchy_free(h_); }
  neve_hierarchy* get() const { return h_; }

 private:
  void add(int level, int box, bool is_mine, int row) {
    EXPECT_EQ(neve_hierarchy_add_box(h_, low(box).data(), high(box).data(), nullptr, layers), NEVE_OK);
    if (row != held) {
      EXPECT_EQ(neve_hierarchy_set_box_strides(h_, row, 0, 0), NEVE_OK);
    }
    if (is_mine) boxes_.push_back(std::make_unique<BoxFields>(level, box, row));
    EXPECT_EQ(neve_hierarchy_set_box_fields(h_, is_mine ? boxes_.back()->pointers().data() : nullptr),
              NEVE_OK)
        << neve_last_error();
  }
  neve_hierarchy* h_;
  std::vector<std::unique_ptr<BoxFields>> boxes_;
};

int dealt(int box) { return box % world_size(); }

bool is_same_bits(double a, double b) { return std::memcmp(&a, &b, sizeof a) == 0; }

class CFiles : public testing::Test {
 protected:
  CFiles() : directory_(test::make_directory("capi_files")), path_(directory_ + "/file") {}
  ~CFiles() override {
    test::barrier();
    test::remove_directory(directory_);
  }
  std::string directory_, path_;
};

void expect_description(const neve_hierarchy* h) {
  neve_hierarchy_description whole = NEVE_HIERARCHY_DESCRIPTION_INIT;
  ASSERT_EQ(neve_hierarchy_info(h, &whole), NEVE_OK);
  EXPECT_EQ(whole.dims, 2);
  EXPECT_EQ(whole.value_bytes, 8);
  EXPECT_EQ(whole.levels, 2);
  EXPECT_EQ(whole.time, 0.75);
  EXPECT_EQ(whole.prob_lo[1], -1);
  EXPECT_EQ(whole.prob_hi[0], box_count());
  for (int level = 0; level < 2; ++level) {
    neve_level_description of = NEVE_LEVEL_DESCRIPTION_INIT;
    ASSERT_EQ(neve_level_info(h, level, &of), NEVE_OK);
    EXPECT_EQ(of.boxes, box_count());
    EXPECT_EQ(of.step, 7 << level);
    EXPECT_EQ(of.hi[1], level == 0 ? edge - 1 : 4 * edge - 1);
    EXPECT_EQ(of.dx[1], 2.0 / (level == 0 ? edge : 4 * edge));
    EXPECT_EQ(of.time, level == 0 ? 0.75 : 0.5);
    EXPECT_EQ(of.ref_ratios[0], level == 0 ? 2 : 1);
    EXPECT_EQ(of.ref_ratios[1], level == 0 ? 4 : 1);
    EXPECT_EQ(of.ref_ratios[2], 1);
    for (int box = 0; box < box_count(); ++box) {
      Corner lo{}, hi{};
      ASSERT_EQ(neve_hierarchy_box(h, level, box, lo.data(), hi.data()), NEVE_OK);
      EXPECT_EQ(lo, low(box));
      EXPECT_EQ(hi, high(box));
    }
  }
  ASSERT_EQ(whole.side_files, 2);
  EXPECT_STREQ(neve_hierarchy_side_file_name(h, 1), "state");
  const char* bytes = nullptr;
  size_t size = 0;
  ASSERT_EQ(neve_hierarchy_side_file(h, "state", &bytes, &size), NEVE_OK);
  EXPECT_EQ(std::string(bytes, size), std::string("step 7\0x", 8));
  ASSERT_EQ(neve_hierarchy_side_file(h, "empty", &bytes, &size), NEVE_OK);
  EXPECT_EQ(size, 0u);
}

// A box read into memory with `ghosts` layers and rows `row` apart, of which only valid cells change.
void expect_box(neve_plotfile* plotfile, int level, int box, int c, int ghosts, int row, double bound) {
  const int length = row == 0 ? edge + 2 * ghosts : row;
  std::vector<double> values(static_cast<size_t>(length * (edge + 2 * ghosts)), untouched);
  ASSERT_EQ(neve_plotfile_read_box(plotfile, level, box, c, values.data(), ghosts, row, 0), NEVE_OK)
      << neve_last_error();
  for (int i = 0; i < static_cast<int>(values.size()); ++i) {
    const int x = i % length - ghosts, y = i / length - ghosts;
    const double found = values[static_cast<size_t>(i)];
    if (x < 0 || x >= edge || y < 0 || y >= edge) {
      EXPECT_EQ(found, untouched);
      continue;
    }
    const double wanted = value_at(level, box, c, x, y);
    EXPECT_TRUE(is_same_bits(found, wanted) || std::abs(found - wanted) <= bound) << found << " " << wanted;
  }
}

void expect_cells(neve_plotfile* plotfile, int level, int box, int c, double bound) {
  std::array<double, 9> part{};
  part.fill(untouched);
  ASSERT_EQ(neve_plotfile_read_cells(plotfile, level, box, c, 9, 8, part.data()), NEVE_OK)
      << neve_last_error();
  for (int i = 0; i < 8; ++i) {
    const double wanted = value_at(level, box, c, (9 + i) % edge, (9 + i) / edge);
    const double found = part[static_cast<size_t>(i)];
    EXPECT_TRUE(is_same_bits(found, wanted) || std::abs(found - wanted) <= bound);
  }
  EXPECT_EQ(part[8], untouched);
  EXPECT_EQ(neve_plotfile_read_cells(plotfile, level, box, c, 36, 0, nullptr), NEVE_OK);
}

TEST_F(CFiles, APlotfileComesBackAsItWasDescribed) {
  const Described described(dealt, held);
  const std::pair<const char*, double> ways[] = {
      {"abs=1e-3;ghosts=1", 1e-3}, {"lossless", 0}, {"uncompressed", 0}};
  for (const auto& [options, bound] : ways) {
    SCOPED_TRACE(options);
    ASSERT_EQ(neve_write_plotfile(MPI_COMM_WORLD, path_.c_str(), described.get(), options), NEVE_OK)
        << neve_last_error();
    neve_plotfile* plotfile = nullptr;
    ASSERT_EQ(neve_plotfile_open(path_.c_str(), 0, &plotfile), NEVE_OK) << neve_last_error();
    ASSERT_NO_FATAL_FAILURE(expect_description(neve_plotfile_hierarchy(plotfile)));
    EXPECT_STREQ(neve_hierarchy_component(neve_plotfile_hierarchy(plotfile), 1), "momentum x");
    EXPECT_NE(std::string(neve_plotfile_kind(plotfile)).find("HDF5"), std::string::npos);
    EXPECT_EQ(neve_plotfile_expect_all(plotfile), NEVE_OK);
    for (int level = 0; level < 2; ++level) {
      for (int box = 0; box < box_count(); ++box) {
        for (int c = 0; c < components; ++c) {
          for (const int ghosts : {0, 1, layers}) {
            for (const int row : {0, edge + 2 * ghosts, edge + 2 * ghosts + 5}) {
              expect_box(plotfile, level, box, c, ghosts, row, bound);
            }
          }
          expect_cells(plotfile, level, box, c, bound);
        }
      }
    }
    uint64_t first = 0, last = 0;
    EXPECT_EQ(neve_plotfile_place(plotfile, 0, 0, &first), NEVE_OK);
    EXPECT_EQ(neve_plotfile_place(plotfile, 0, box_count() - 1, &last), NEVE_OK);
    EXPECT_NE(first, last);
    double min = untouched, max = untouched;
    int is_stated = -1;
    EXPECT_EQ(neve_plotfile_range(plotfile, 1, 2, &min, &max, &is_stated), NEVE_OK);
    EXPECT_TRUE(is_stated == 0 ? min == untouched : (is_stated == 1 && min < max));
    std::array<unsigned char, edge * edge> marks{};
    marks.fill(9);
    int any = -1;
    EXPECT_EQ(neve_plotfile_left_out(plotfile, 0, 0, 0, marks.data(), &any), NEVE_OK);
    EXPECT_EQ(any, 0);
    EXPECT_EQ(marks, (std::array<unsigned char, edge * edge>{}));
    neve_plotfile_close(plotfile);
    test::barrier();
  }
}

TEST_F(CFiles, StridesByWhichValuesOverlapAreRefused) {
  constexpr long long most = std::numeric_limits<long long>::max();
  const char* const name = "density";
  const std::array<int, 3> lo{0, 0, 0}, hi{7, 7, 7};
  const std::vector<double> values(512, 1.0);
  neve_hierarchy* const h = neve_hierarchy_create(3, 8, 1, &name);
  ASSERT_EQ(neve_hierarchy_add_level(h, lo.data(), hi.data(), 0), NEVE_OK);
  const double* const mine = world_rank() == 0 ? values.data() : nullptr;
  ASSERT_EQ(neve_hierarchy_add_box(h, lo.data(), hi.data(), mine, 0), NEVE_OK);
  for (const auto& [y, z] : {std::pair(0LL, 0LL), {8, 64}, {64, 8}, {0, 64}}) {
    EXPECT_EQ(neve_hierarchy_set_box_strides(h, y, z, 0), NEVE_OK) << y << " " << z;
  }
  for (const auto& [y, z] : {std::pair(7LL, 64LL),
                             {1, 1},
                             {8, 1},
                             {8, 8},
                             {-8, 64},
                             {most, 0},
                             {0, most},
                             {std::numeric_limits<long long>::min(), 1}}) {
    EXPECT_EQ(neve_hierarchy_set_box_strides(h, y, z, 0), NEVE_USAGE) << y << " " << z;
    EXPECT_NE(std::string(neve_last_error()).find("stride"), std::string::npos) << neve_last_error();
  }
  ASSERT_EQ(neve_write_plotfile(MPI_COMM_WORLD, path_.c_str(), h, "lossless"), NEVE_OK) << neve_last_error();
  neve_hierarchy_free(h);

  neve_plotfile* plotfile = nullptr;
  ASSERT_EQ(neve_plotfile_open(path_.c_str(), 0, &plotfile), NEVE_OK) << neve_last_error();
  std::vector<double> read(512, 0.0);
  for (const auto& [y, z] : {std::pair(7LL, 64LL), {most, most}, {0, 1}, {8, 8}, {most / 8, 0}}) {
    EXPECT_EQ(neve_plotfile_read_box(plotfile, 0, 0, 0, read.data(), 0, y, z), NEVE_USAGE) << y << " " << z;
  }
  EXPECT_EQ(read, std::vector<double>(512, 0.0));
  EXPECT_EQ(neve_plotfile_read_box(plotfile, 0, 0, 0, read.data(), 0, 64, 8), NEVE_OK);  // planes in rows
  EXPECT_EQ(read, values);
  neve_plotfile_close(plotfile);
}

// Component strides of 0, behind whatever lies before them: planes within rows, padded rows, boxes of one
// row.
TEST_F(CFiles, ComponentsLieBehindABoxOfAnyStrides) {
  struct Layout {
    std::array<int, 3> size;
    long long y, z;
    int component;  // where the second one begins
  };
  const char* const both[] = {"density", "energy"};
  for (const Layout& layout : {Layout{{4, 4, 4}, 16, 4, 64},
                               {{4, 4, 4}, 6, 0, 96},
                               {{4, 1, 4}, 1, 0, 16},
                               {{4, 4, 1}, 4, 1, 16},
                               {{1, 4, 4}, 4, 1, 16},
                               {{4, 1, 1}, 1, 1, 4}}) {
    const auto& size = layout.size;
    const std::array<int, 3> lo{0, 0, 0}, hi{size[0] - 1, size[1] - 1, size[2] - 1};
    std::vector<double> values(256, untouched), wanted[2];
    const long long y = size[1] > 1 ? layout.y : 0;
    const long long z = size[2] == 1 ? 0 : layout.z != 0 ? layout.z : y != 0 ? y * size[1] : size[0];
    for (int c = 0; c < 2; ++c) {
      for (int k = 0; k < size[2]; ++k) {
        for (int j = 0; j < size[1]; ++j) {
          for (int i = 0; i < size[0]; ++i) {
            wanted[c].push_back(i + 10 * j + 100 * k + 1000 * c);
            values[static_cast<size_t>(c * layout.component + i + j * y + k * z)] = wanted[c].back();
          }
        }
      }
    }
    neve_hierarchy* const h = neve_hierarchy_create(3, 8, 2, both);
    ASSERT_EQ(neve_hierarchy_add_level(h, lo.data(), hi.data(), 0), NEVE_OK);
    ASSERT_EQ(neve_hierarchy_add_box(h, lo.data(), hi.data(), world_rank() == 0 ? values.data() : nullptr, 0),
              NEVE_OK);
    ASSERT_EQ(neve_hierarchy_set_box_strides(h, layout.y, layout.z, 0), NEVE_OK) << neve_last_error();
    ASSERT_EQ(neve_hierarchy_set_box_strides(h, layout.y, layout.z, 1), NEVE_USAGE);  // by the value
    ASSERT_EQ(neve_write_plotfile(MPI_COMM_WORLD, path_.c_str(), h, "lossless"), NEVE_OK)
        << neve_last_error();
    neve_hierarchy_free(h);
    neve_plotfile* plotfile = nullptr;
    ASSERT_EQ(neve_plotfile_open(path_.c_str(), 0, &plotfile), NEVE_OK) << neve_last_error();
    for (int c = 0; c < 2; ++c) {
      std::vector<double> read(wanted[c].size());
      ASSERT_EQ(neve_plotfile_read_box(plotfile, 0, 0, c, read.data(), 0, 0, 0), NEVE_OK);
      EXPECT_EQ(read, wanted[c]) << layout.y << " " << layout.z << " " << c;
    }
    neve_plotfile_close(plotfile);
    test::barrier();
  }
}

TEST_F(CFiles, LeftOutCellsAreTold) {
  const Described described(dealt, held);
  ASSERT_EQ(neve_write_plotfile(MPI_COMM_WORLD, path_.c_str(), described.get(), "abs=1e-3;covered=drop"),
            NEVE_OK)
      << neve_last_error();
  neve_plotfile* plotfile = nullptr;
  ASSERT_EQ(neve_plotfile_open(path_.c_str(), 0, &plotfile), NEVE_OK);
  std::array<unsigned char, edge * edge> marks{};
  int any = -1;
  ASSERT_EQ(neve_plotfile_left_out(plotfile, 0, 0, 0, marks.data(), &any), NEVE_OK);
  EXPECT_EQ(any, 1);
  // Rows 0 of y (a fine box has 6 of 4 a coarse cell) are covered as far as a whole cell is.
  EXPECT_EQ(marks[0], 1);
  EXPECT_EQ(marks[edge * edge - 1], 0);
  neve_plotfile_close(plotfile);
}

TEST_F(CFiles, AnAmrexPlotfileComesBack) {
  neve_hierarchy* const h = neve_hierarchy_create(2, 8, components, names);
  const BoxFields mine(0, world_rank(), held + 3);
  const int origin[] = {0, 0}, last[] = {edge * world_size() - 1, edge - 1};
  ASSERT_EQ(neve_hierarchy_add_level(h, origin, last, 0), NEVE_OK);
  for (int box = 0; box < world_size(); ++box) {
    ASSERT_EQ(neve_hierarchy_add_box(h, low(box).data(), high(box).data(), nullptr, layers), NEVE_OK);
    ASSERT_EQ(neve_hierarchy_set_box_fields(h, box == world_rank() ? mine.pointers().data() : nullptr),
              NEVE_OK);
    ASSERT_EQ(neve_hierarchy_set_box_strides(h, held + 3, 0, 0), NEVE_OK);
  }
  ASSERT_EQ(neve_hierarchy_set_coordinates(h, 1), NEVE_OK);
  ASSERT_EQ(neve_write_amrex_plotfile(MPI_COMM_WORLD, path_.c_str(), h), NEVE_OK) << neve_last_error();
  neve_hierarchy_free(h);
  neve_plotfile* plotfile = nullptr;
  ASSERT_EQ(neve_plotfile_open(path_.c_str(), 0, &plotfile), NEVE_OK);
  EXPECT_STREQ(neve_plotfile_kind(plotfile), "AMReX plotfile");
  neve_hierarchy_description whole = NEVE_HIERARCHY_DESCRIPTION_INIT;
  ASSERT_EQ(neve_hierarchy_info(neve_plotfile_hierarchy(plotfile), &whole), NEVE_OK);
  EXPECT_EQ(whole.coordinates, 1);
  for (int box = 0; box < world_size(); ++box) {
    for (int c = 0; c < components; ++c) {
      expect_box(plotfile, 0, box, c, 1, 0, 0);
      expect_cells(plotfile, 0, box, c, 0);
    }
  }
  neve_plotfile_close(plotfile);
}

TEST_F(CFiles, FieldsApartMakeTheFileOfFieldsTogether) {
  const int origin[] = {0, 0}, last[] = {edge * world_size() - 1, edge - 1};
  const BoxFields apart(0, world_rank(), held);
  std::vector<double> together;
  for (const auto& field : apart.fields) together.insert(together.end(), field.begin(), field.end());
  for (const char* options : {"rel=1e-3;ghosts=2", "uncompressed;ghosts=1", "behind=copy", "behind=encode"}) {
    std::string made[2];
    for (const bool is_apart : {false, true}) {
      neve_hierarchy* const h = neve_hierarchy_create(2, 8, components, names);
      ASSERT_EQ(neve_hierarchy_add_level(h, origin, last, 0), NEVE_OK);
      for (int box = 0; box < world_size(); ++box) {
        const bool is_mine = box == world_rank();
        ASSERT_EQ(neve_hierarchy_add_box(h, low(box).data(), high(box).data(),
                                         is_mine && !is_apart ? together.data() : nullptr, layers),
                  NEVE_OK);
        if (!is_apart) continue;
        // The array of pointers need not live on.
        auto pointers = apart.pointers();
        ASSERT_EQ(neve_hierarchy_set_box_fields(h, is_mine ? pointers.data() : nullptr), NEVE_OK);
        pointers.fill(nullptr);
      }
      ASSERT_EQ(neve_write_plotfile(MPI_COMM_WORLD, path_.c_str(), h, options), NEVE_OK) << neve_last_error();
      ASSERT_EQ(neve_wait_for_writes(MPI_COMM_WORLD), NEVE_OK);
      neve_hierarchy_free(h);
      test::barrier();
      made[is_apart ? 1 : 0] = test::contents(path_);
      test::barrier();
    }
    EXPECT_TRUE(made[0] == made[1]) << options;
  }
}

TEST_F(CFiles, AReportSaysWhatWasDone) {
  const Described described(dealt, held);
  neve_report* report = nullptr;
  ASSERT_EQ(
      neve_write_plotfile_report(MPI_COMM_WORLD, path_.c_str(), described.get(),
                                 "abs=1e-3;field:density=lossless;field:momentum y=rel=1e-2,fill=2", &report),
      NEVE_OK)
      << neve_last_error();
  neve_write_report totals = NEVE_WRITE_REPORT_INIT;
  ASSERT_EQ(neve_report_totals(report, &totals), NEVE_OK);
  const auto cells = static_cast<uint64_t>(edge * edge * box_count());
  EXPECT_EQ(totals.raw_bytes, 2 * cells * components * sizeof(double));
  EXPECT_EQ(totals.file_bytes, test::contents(path_).size());
  EXPECT_TRUE(totals.data_bytes > 0 && totals.data_bytes < totals.file_bytes);
  EXPECT_TRUE(totals.worst_error_over_bound > 0 && totals.worst_error_over_bound <= 1);
  EXPECT_EQ(totals.variables, 1);
  ASSERT_EQ(totals.levels, 2);
  EXPECT_GT(totals.plan_seconds + totals.encode_seconds + totals.write_seconds + totals.sync_seconds, 0);
  for (int level = 0; level < 2; ++level) {
    neve_field_report field = NEVE_FIELD_REPORT_INIT;
    ASSERT_EQ(neve_report_field(report, 0, level, 0, &field), NEVE_OK);
    EXPECT_STREQ(field.name, "density");
    EXPECT_STREQ(field.bound_mode, "lossless");
    EXPECT_EQ(field.cells, cells);
    EXPECT_EQ(field.raw_bytes, cells * sizeof(double));
    EXPECT_TRUE(field.bound_abs == 0 && field.max_abs_error == 0 && field.bound_value == 0);
    ASSERT_EQ(neve_report_field(report, 0, level, 1, &field), NEVE_OK);
    EXPECT_EQ(field.bound_abs, 1e-3);
    EXPECT_EQ(field.special_cells, 3u * static_cast<unsigned>(box_count()));
    EXPECT_TRUE(field.max_abs_error > 0 && field.max_abs_error <= 1e-3);
    EXPECT_EQ(field.has_fill, 0);
    ASSERT_EQ(neve_report_field(report, 0, level, 2, &field), NEVE_OK);
    EXPECT_STREQ(field.bound_mode, "rel");
    EXPECT_EQ(field.bound_value, 1e-2);
    EXPECT_NEAR(field.bound_abs, 1e-2 * (field.range_max - field.range_min), 1e-9);
    EXPECT_TRUE(field.has_fill == 1 && field.fill == 2);
    EXPECT_STRNE(field.codec, "none");
  }
  neve_report_free(report);
}

TEST_F(CFiles, ASeriesRemembersWhatWasChosen) {
  const Described described(dealt, held);
  neve_plotfile_series* series = nullptr;
  ASSERT_EQ(neve_plotfile_series_create("abs=1e-3;effort=balanced", &series), NEVE_OK) << neve_last_error();
  ASSERT_EQ(neve_plotfile_series_set_hint(series, "cb_nodes", "1"), NEVE_OK);
  std::string chosen[3], file[3];
  for (int step = 0; step < 3; ++step) {
    neve_report* report = nullptr;
    ASSERT_EQ(neve_plotfile_series_write(MPI_COMM_WORLD, path_.c_str(), described.get(), series, &report),
              NEVE_OK)
        << neve_last_error();
    neve_field_report field = NEVE_FIELD_REPORT_INIT;
    ASSERT_EQ(neve_report_field(report, 0, 1, 1, &field), NEVE_OK);
    chosen[step] = field.chosen;
    neve_report_free(report);
    test::barrier();
    file[step] = test::contents(path_);
    test::barrier();
  }
  EXPECT_NE(chosen[0], "recalled");
  EXPECT_EQ(chosen[1], "recalled");
  EXPECT_EQ(chosen[2], "recalled");
  EXPECT_EQ(file[1].size(), file[2].size());
  neve_plotfile_series_free(series);
}

TEST_F(CFiles, FillValuesOfPlotfilesAreChosenInTheOptions) {
  const char* const one[] = {"t"};
  const int origin[] = {0, 0}, last[] = {edge * world_size() - 1, edge - 1};
  std::vector<double> values(static_cast<size_t>(edge * edge), 280);
  for (int i = 0; i < edge; ++i) values[static_cast<size_t>(i)] = -9999;
  for (int i = edge; i < 2 * edge; ++i) values[static_cast<size_t>(i)] = 281 + 0.1 * i;
  const std::tuple<const char*, bool, double> ways[] = {{nullptr, true, -9999},
                                                        {"fill=auto", true, -9999},
                                                        {"fill=none", false, 0},
                                                        {"fill=280;abs=1", true, 280},
                                                        {"field:t=fill=280", true, 280}};
  for (const auto& [options, has_fill, fill] : ways) {
    neve_hierarchy* const h = neve_hierarchy_create(2, 8, 1, one);
    ASSERT_EQ(neve_hierarchy_add_level(h, origin, last, 0), NEVE_OK);
    for (int box = 0; box < world_size(); ++box) {
      neve_hierarchy_add_box(h, low(box).data(), high(box).data(),
                             box == world_rank() ? values.data() : nullptr, 0);
    }
    neve_report* report = nullptr;
    ASSERT_EQ(neve_write_plotfile_report(MPI_COMM_WORLD, path_.c_str(), h, options, &report), NEVE_OK)
        << neve_last_error();
    neve_hierarchy_free(h);
    neve_field_report field = NEVE_FIELD_REPORT_INIT;
    ASSERT_EQ(neve_report_field(report, 0, 0, 0, &field), NEVE_OK);
    EXPECT_EQ(field.has_fill == 1, has_fill) << options;
    EXPECT_EQ(field.fill, fill) << options;
    neve_report_free(report);
  }
}

// A box of a checkpoint read into memory with `ghosts` layers, of which the file has `stored`.
void expect_checkpoint_box(neve_checkpoint* checkpoint, int variable, int level, int box, int c, int stored,
                           int ghosts, int row, double bound) {
  const int length = row == 0 ? edge + 2 * ghosts : row, common = std::min(ghosts, stored);
  std::vector<double> values(static_cast<size_t>(length * (edge + 2 * ghosts)), untouched);
  ASSERT_EQ(neve_checkpoint_read_box(checkpoint, variable, level, box, c, values.data(), ghosts, row, 0),
            NEVE_OK)
      << neve_last_error();
  for (int i = 0; i < static_cast<int>(values.size()); ++i) {
    const int x = i % length - ghosts, y = i / length - ghosts;
    const double found = values[static_cast<size_t>(i)];
    if (x < -common || x >= edge + common || y < -common || y >= edge + common) {
      EXPECT_EQ(found, untouched);
      continue;
    }
    const double wanted = value_at(level, box, c, x, y);
    EXPECT_TRUE(is_same_bits(found, wanted) || std::abs(found - wanted) <= bound) << found << " " << wanted;
  }
}

struct CheckpointWay {
  const char* options;
  double bounds[3];
};

TEST_F(CFiles, ACheckpointComesBackBitForBitOrWithinItsBounds) {
  const Described first(dealt, held), second([](int box) { return (box + 1) % world_size(); }, held + 3);
  neve_variable variables[3] = {NEVE_VARIABLE_INIT, NEVE_VARIABLE_INIT, NEVE_VARIABLE_INIT};
  variables[0] = {sizeof(neve_variable), "gas", first.get(), 2, 0};
  variables[1] = {sizeof(neve_variable), "radiation", second.get(), 1, 0};
  variables[2] = {sizeof(neve_variable), "raw", first.get(), 0, 1};
  const CheckpointWay ways[] = {{nullptr, {0, 0, 0}},
                                {"threads=2;strategy=collective", {0, 0, 0}},
                                {"abs=1e-3;field:gas=lossless", {0, 1e-3, 0}},
                                {"field:radiation=abs=1e-2,codec=context", {0, 1e-2, 0}},
                                {"uncompressed", {0, 0, 0}}};
  for (const CheckpointWay& way : ways) {
    SCOPED_TRACE(way.options == nullptr ? "none" : way.options);
    neve_report* report = nullptr;
    ASSERT_EQ(neve_write_checkpoint(MPI_COMM_WORLD, path_.c_str(), 3, variables, way.options, &report),
              NEVE_OK)
        << neve_last_error();
    neve_write_report totals = NEVE_WRITE_REPORT_INIT;
    ASSERT_EQ(neve_report_totals(report, &totals), NEVE_OK);
    EXPECT_EQ(totals.variables, 3);
    EXPECT_EQ(totals.file_bytes, test::contents(path_).size());
    neve_field_report field = NEVE_FIELD_REPORT_INIT;
    ASSERT_EQ(neve_report_field(report, 1, 1, 2, &field), NEVE_OK);
    EXPECT_STREQ(field.name, "momentum y");
    EXPECT_EQ(field.bound_abs, way.bounds[1]);
    neve_report_free(report);

    neve_checkpoint* checkpoint = nullptr;
    ASSERT_EQ(neve_checkpoint_open(path_.c_str(), 0, &checkpoint), NEVE_OK) << neve_last_error();
    ASSERT_NO_FATAL_FAILURE(expect_description(neve_checkpoint_hierarchy(checkpoint)));
    ASSERT_EQ(neve_checkpoint_variables(checkpoint), 3);
    ASSERT_EQ(neve_checkpoint_expect_all(checkpoint), NEVE_OK);
    uint64_t place = 0;
    ASSERT_EQ(neve_checkpoint_place(checkpoint, 2, 1, 0, &place), NEVE_OK);
    for (int v = 0; v < 3; ++v) {
      neve_variable_description of = NEVE_VARIABLE_DESCRIPTION_INIT;
      ASSERT_EQ(neve_checkpoint_variable(checkpoint, v, &of), NEVE_OK);
      EXPECT_STREQ(of.name, variables[v].name);
      EXPECT_EQ(neve_checkpoint_find(checkpoint, of.name), v);
      EXPECT_EQ(of.components, components);
      EXPECT_EQ(of.ghosts[0], 2 - v);
      EXPECT_EQ(of.ghosts[2], 0);
      EXPECT_EQ(of.is_compressed == 0,
                v == 2 || std::string(way.options == nullptr ? "" : way.options) == "uncompressed");
      EXPECT_STREQ(neve_checkpoint_component(checkpoint, v, 1), "momentum x");
      for (int level = 0; level < 2; ++level) {
        for (int box = 0; box < box_count(); ++box) {
          for (const int ghosts : {0, 1, 2}) {
            for (const int row : {0, edge + 2 * ghosts + 4}) {
              expect_checkpoint_box(checkpoint, v, level, box, box % components, 2 - v, ghosts, row,
                                    way.bounds[v]);
            }
          }
        }
      }
    }
    neve_checkpoint_close(checkpoint);
    test::barrier();
  }
}

TEST_F(CFiles, StructsOfOtherVersions) {
  const Described described(dealt, held);
  // A newer caller's struct: what this library does not know must not be set.
  struct Newer {
    neve_variable known;
    int more;
  };
  Newer newer[2] = {};
  for (int v = 0; v < 2; ++v) {
    newer[v].known = {sizeof(Newer), v == 0 ? "a" : "b", described.get(), 0, 0};
  }
  EXPECT_EQ(neve_write_checkpoint(MPI_COMM_WORLD, path_.c_str(), 2, &newer[0].known, nullptr, nullptr),
            NEVE_OK)
      << neve_last_error();
  newer[1].more = 1;
  EXPECT_EQ(neve_write_checkpoint(MPI_COMM_WORLD, path_.c_str(), 2, &newer[0].known, nullptr, nullptr),
            NEVE_USAGE);
  EXPECT_NE(std::string(neve_last_error()).find("newer neve"), std::string::npos) << neve_last_error();
  struct {
    neve_hierarchy_description known;
    int more;
  } bigger = {NEVE_HIERARCHY_DESCRIPTION_INIT, 77};
  bigger.known.struct_bytes = sizeof bigger;
  EXPECT_EQ(neve_hierarchy_info(described.get(), &bigger.known), NEVE_OK);
  EXPECT_EQ(bigger.known.struct_bytes, sizeof bigger);
  EXPECT_EQ(bigger.more, 77);
}

TEST_F(CFiles, BoxesAreDealtOutAlike) {
  const Described described(dealt, held);
  std::vector<int> owners(static_cast<size_t>(box_count()), -1);
  ASSERT_EQ(neve_hierarchy_distribute(described.get(), world_size(), 1, owners.data()), NEVE_OK);
  std::string text;
  for (const int owner : owners) {
    EXPECT_TRUE(owner >= 0 && owner < world_size());
    text += std::to_string(owner) + ",";
  }
  EXPECT_TRUE(test::same_on_all_ranks(text));
}

}  // namespace
}  // namespace neve
