// SPDX-License-Identifier: BSD-3-Clause
// Every public function that needs MPI, each argument wrong in each way on one rank or on all, on every kind
// of communicator and under both error handlers: the same error by name on all ranks, nothing ends the
// program, and nothing is left in the folder.
#include <cmath>
#include <filesystem>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "neve/checkpoint.h"
#include "neve/checkpoint.hpp"
#include "neve/filter.h"
#include "neve/options.hpp"
#include "neve/plotfile.h"
#include "neve/plotfile_reader.h"
#include "neve/plotfile_reader.hpp"
#include "neve/plotfile_writer.hpp"
#include "neve/transfer.h"
#include "tests/mpi/generated.hpp"
#include "tests/support/wrong_calls.hpp"

namespace neve {
namespace {

using test::refused;
using test::survived;
using test::world_rank;
using test::world_size;

constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

int rank_in(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

int size_of(MPI_Comm comm) {
  int size = 1;
  MPI_Comm_size(comm, &size);
  return size;
}

bool is_same_on(MPI_Comm comm, const std::string& text) {
  const uint64_t hash = std::hash<std::string>{}(text);
  uint64_t both[] = {hash, ~hash};
  MPI_Allreduce(MPI_IN_PLACE, both, 2, MPI_UINT64_T, MPI_MIN, comm);
  return both[0] == ~both[1];
}

struct NamedComm {
  std::string name;
  MPI_Comm comm;
};

// Communicators that every collective function takes.
std::vector<NamedComm> good_communicators() {
  MPI_Comm dup = MPI_COMM_NULL, half = MPI_COMM_NULL, reversed = MPI_COMM_NULL, line = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &dup);
  MPI_Comm_split(MPI_COMM_WORLD, world_rank() % 2, 0, &half);
  MPI_Comm_split(MPI_COMM_WORLD, 0, -world_rank(), &reversed);
  const int ranks = world_size(), periodic = 0;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &periodic, 0, &line);
  MPI_Comm_set_errhandler(dup, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(half, MPI_ERRORS_ARE_FATAL);
  MPI_Comm_set_errhandler(reversed, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(line, MPI_ERRORS_ARE_FATAL);
  return {{"world", MPI_COMM_WORLD}, {"self", MPI_COMM_SELF}, {"dup", dup}, {"half", half},
          {"reversed", reversed},    {"cartesian", line}};
}

void free_communicators(std::vector<NamedComm>& communicators) {
  for (NamedComm& one : communicators) {
    if (one.comm != MPI_COMM_WORLD && one.comm != MPI_COMM_SELF) MPI_Comm_free(&one.comm);
  }
}

// A box a rank of the communicator.
struct Plot {
  explicit Plot(MPI_Comm comm) {
    hierarchy.dims = 2;
    hierarchy.components = {"u", "v"};
    Level level;
    level.domain = {{0, 0, 0}, {8 * size_of(comm) - 1, 7, 0}};
    for (int r = 0; r < size_of(comm); ++r) level.boxes.push_back({{8 * r, 0, 0}, {8 * r + 7, 7, 0}});
    hierarchy.levels = {level};
    LocalBox mine;
    mine.box = rank_in(comm);
    mine.data = {values.data(), 64, {1, 8, 64, 0}, nullptr};
    owned = {mine};
  }

  Hierarchy hierarchy;
  std::vector<double> values = std::vector<double>(128, 2.5);
  std::vector<LocalBox> owned;
};

neve_hierarchy* described(MPI_Comm comm, const Plot& plot) {
  const char* const names[] = {"u", "v"};
  neve_hierarchy* const h = neve_hierarchy_create(2, 8, 2, names);
  const Level& level = plot.hierarchy.levels[0];
  EXPECT_EQ(neve_hierarchy_add_level(h, level.domain.lo.data(), level.domain.hi.data(), 0), NEVE_OK);
  for (int r = 0; r < size_of(comm); ++r) {
    const Box& box = level.boxes[static_cast<size_t>(r)];
    EXPECT_EQ(neve_hierarchy_add_box(h, box.lo.data(), box.hi.data(),
                                     r == rank_in(comm) ? plot.values.data() : nullptr, 0),
              NEVE_OK);
  }
  return h;
}

class WrongCallsOfMpi : public testing::Test {
 protected:
  WrongCallsOfMpi() : directory_(test::make_directory("wrong_calls")) {}
  ~WrongCallsOfMpi() override {
    test::barrier();
    EXPECT_TRUE(test::list_directory(directory_).empty());
    test::barrier();
    test::remove_directory(directory_);
  }
  static void TearDownTestSuite() {
    if (world_rank() == 0) test::print_wrong_calls("WrongCallsOfMpi");
  }

  // Of a C function: refused, with the same words on all ranks of the communicator.
  static void expect_same(const std::string& function, MPI_Comm comm, int code) {
    refused(function, code, NEVE_USAGE);
    EXPECT_TRUE(is_same_on(comm, neve_last_error())) << function << ": " << neve_last_error();
  }
  static void expect_same(const std::string& function, MPI_Comm comm, const Status& status) {
    refused(function, status);
    EXPECT_TRUE(is_same_on(comm, status.message())) << function << ": " << status.message();
  }
  std::string path(MPI_Comm comm) const {
    int of_world[] = {world_rank()};
    MPI_Bcast(of_world, 1, MPI_INT, 0, comm);  // two halves write two files
    return directory_ + "/file_" + std::to_string(of_world[0]);
  }

  // A plotfile that `change(plot, options, path)` has made wrong.
  template <class Change>
  void refuse_plotfile(MPI_Comm comm, Change change) const {
    Plot plot(comm);
    WriteOptions options;
    std::string to = path(comm);
    change(plot, options, to);
    expect_same("write_plotfile", comm,
                write_plotfile(comm, to, plot.hierarchy, plot.owned, options).status());
    expect_same("write_plotfile_if", comm,
                write_plotfile_if(comm, {}, to, plot.hierarchy, plot.owned, options).status());
    const bool is_last = rank_in(comm) == size_of(comm) - 1;
    const Status given = is_last ? usage_error("nothing to write") : Status();
    expect_same("write_plotfile_if", comm,
                write_plotfile_if(comm, given, to, plot.hierarchy, plot.owned, options).status());
  }

  std::string directory_;
};

TEST_F(WrongCallsOfMpi, DescribingAHierarchy) {
  const char* const names[] = {"u", "v"};
  const char* const gap[] = {"u", nullptr};
  const char* const latin1[] = {"temp\xe9rature", "v"};
  const auto no_hierarchy = [](int dims, int bytes, int components, const char* const* given) {
    EXPECT_EQ(neve_hierarchy_create(dims, bytes, components, given), nullptr);
    refused("neve_hierarchy_create", NEVE_USAGE, NEVE_USAGE);
  };
  for (const int number : {0, -1, 4, INT32_MIN, INT32_MAX}) no_hierarchy(number, 8, 2, names);
  for (const int number : {0, -1, 2, 16, INT32_MIN, INT32_MAX}) no_hierarchy(2, number, 2, names);
  for (const int number : {0, -1, 65536, INT32_MIN, INT32_MAX}) no_hierarchy(2, 8, number, names);
  no_hierarchy(2, 8, 2, nullptr);
  no_hierarchy(2, 8, 2, gap);
  no_hierarchy(2, 8, 2, latin1);
  EXPECT_NE(std::string(neve_last_error()).find("temp\\xe9rature"), std::string::npos) << neve_last_error();
  neve_hierarchy_free(nullptr);
  survived("neve_hierarchy_free");

  neve_hierarchy* const h = neve_hierarchy_create(2, 8, 2, names);
  ASSERT_NE(h, nullptr);
  const int lo[] = {0, 0}, hi[] = {7, 7}, low[] = {INT32_MIN, INT32_MIN}, high[] = {INT32_MAX, INT32_MAX};
  const double zero[] = {0, 0};
  const auto expect = [](const char* function, int code) { refused(function, code, NEVE_USAGE); };
  expect("neve_hierarchy_set_time", neve_hierarchy_set_time(nullptr, 1));
  expect("neve_hierarchy_set_domain", neve_hierarchy_set_domain(nullptr, zero, zero));
  expect("neve_hierarchy_set_domain", neve_hierarchy_set_domain(h, nullptr, zero));
  expect("neve_hierarchy_set_domain", neve_hierarchy_set_domain(h, zero, nullptr));
  expect("neve_hierarchy_add_box", neve_hierarchy_add_box(h, lo, hi, zero, 0));  // before a level
  expect("neve_hierarchy_add_level", neve_hierarchy_add_level(nullptr, lo, hi, 0));
  expect("neve_hierarchy_add_level", neve_hierarchy_add_level(h, nullptr, hi, 0));
  expect("neve_hierarchy_add_level", neve_hierarchy_add_level(h, lo, nullptr, 0));
  expect("neve_hierarchy_add_level", neve_hierarchy_add_level(h, hi, lo, 0));
  ASSERT_EQ(neve_hierarchy_add_level(h, lo, hi, 0), NEVE_OK);
  for (const int ratio : {0, 1, -2, INT32_MIN}) {
    expect("neve_hierarchy_add_level", neve_hierarchy_add_level(h, lo, hi, ratio));
  }
  expect("neve_hierarchy_add_box", neve_hierarchy_add_box(nullptr, lo, hi, zero, 0));
  expect("neve_hierarchy_add_box", neve_hierarchy_add_box(h, nullptr, hi, zero, 0));
  expect("neve_hierarchy_add_box", neve_hierarchy_add_box(h, lo, nullptr, zero, 0));
  expect("neve_hierarchy_add_box", neve_hierarchy_add_box(h, hi, lo, zero, 0));
  expect("neve_hierarchy_add_box", neve_hierarchy_add_box(h, low, high, zero, 0));
  for (const int ghosts : {-1, 1025, INT32_MIN, INT32_MAX}) {
    expect("neve_hierarchy_add_box", neve_hierarchy_add_box(h, lo, hi, zero, ghosts));
  }
  expect("neve_hierarchy_set_box_strides", neve_hierarchy_set_box_strides(nullptr, 1, 1, 1));
  neve_hierarchy_free(h);
  survived("neve_mpi_last_error", neve_mpi_last_error() == neve_last_error());
}

TEST_F(WrongCallsOfMpi, MoreOfAHierarchy) {
  const char* const names[] = {"u", "v"};
  neve_hierarchy* const h = neve_hierarchy_create(2, 8, 2, names);
  const int lo[] = {0, 0}, hi[] = {7, 7}, fine[] = {15, 15};
  const double values[] = {0, 0, 0, 0};
  const auto expect = [](const char* function, int code) { refused(function, code, NEVE_USAGE); };
  expect("neve_hierarchy_set_coordinates", neve_hierarchy_set_coordinates(nullptr, 0));
  for (const int coordinates : {-1, 3, INT32_MIN, INT32_MAX}) {
    expect("neve_hierarchy_set_coordinates", neve_hierarchy_set_coordinates(h, coordinates));
  }
  expect("neve_hierarchy_add_side_file", neve_hierarchy_add_side_file(nullptr, "a", "b", 1));
  expect("neve_hierarchy_add_side_file", neve_hierarchy_add_side_file(h, nullptr, "b", 1));
  expect("neve_hierarchy_add_side_file", neve_hierarchy_add_side_file(h, "", "b", 1));
  expect("neve_hierarchy_add_side_file", neve_hierarchy_add_side_file(h, "\xe9", "b", 1));
  expect("neve_hierarchy_add_side_file", neve_hierarchy_add_side_file(h, "a", nullptr, 1));
  // Before a level, and before a box.
  expect("neve_hierarchy_set_level_step", neve_hierarchy_set_level_step(h, 0, 1));
  expect("neve_hierarchy_set_level_time", neve_hierarchy_set_level_time(h, 0, 1));
  expect("neve_hierarchy_set_box_strides", neve_hierarchy_set_box_strides(h, 1, 1, 1));
  ASSERT_EQ(neve_hierarchy_add_level_ratios(h, lo, hi, nullptr), NEVE_OK);
  const void* const fields[] = {values, values + 2};
  const void* const gap[] = {values, nullptr};
  const void* const crooked[] = {values, reinterpret_cast<const char*>(values) + 1};
  expect("neve_hierarchy_set_box_fields", neve_hierarchy_set_box_fields(h, fields));
  ASSERT_EQ(neve_hierarchy_add_box(h, lo, hi, nullptr, 0), NEVE_OK);
  expect("neve_hierarchy_set_box_fields", neve_hierarchy_set_box_fields(nullptr, fields));
  expect("neve_hierarchy_set_box_fields", neve_hierarchy_set_box_fields(h, gap));
  expect("neve_hierarchy_set_box_fields", neve_hierarchy_set_box_fields(h, crooked));
  EXPECT_NE(std::string(neve_last_error()).find("multiple of 8 bytes"), std::string::npos)
      << neve_last_error();
  expect("neve_hierarchy_set_level_step", neve_hierarchy_set_level_step(nullptr, 0, 1));
  expect("neve_hierarchy_set_level_time", neve_hierarchy_set_level_time(nullptr, 0, 1));
  for (const int level : {-1, 1, INT32_MIN, INT32_MAX}) {
    expect("neve_hierarchy_set_level_step", neve_hierarchy_set_level_step(h, level, 1));
    expect("neve_hierarchy_set_level_time", neve_hierarchy_set_level_time(h, level, 1));
  }
  const int zero_ratio[] = {2, 0}, ratios[] = {2, 2};
  expect("neve_hierarchy_add_level_ratios", neve_hierarchy_add_level_ratios(nullptr, lo, fine, ratios));
  expect("neve_hierarchy_add_level_ratios", neve_hierarchy_add_level_ratios(h, lo, fine, nullptr));
  expect("neve_hierarchy_add_level_ratios", neve_hierarchy_add_level_ratios(h, lo, fine, zero_ratio));
  expect("neve_hierarchy_add_level_ratios", neve_hierarchy_add_level_ratios(h, nullptr, fine, ratios));
  expect("neve_hierarchy_add_level_ratios", neve_hierarchy_add_level_ratios(h, fine, lo, ratios));
  neve_hierarchy_free(h);
}

// What is asked of a hierarchy that has one level with one box.
void ask_wrongly(const neve_hierarchy* h) {
  const auto expect = [](const char* function, int code) { refused(function, code, NEVE_USAGE); };
  const auto nothing = [](const char* function, const char* found) {
    EXPECT_EQ(found, nullptr);
    refused(function, NEVE_USAGE, NEVE_USAGE);
  };
  neve_hierarchy_description whole = NEVE_HIERARCHY_DESCRIPTION_INIT, old = {};
  neve_level_description level = NEVE_LEVEL_DESCRIPTION_INIT, old_level = {};
  int corner[3], owners[1];
  const char* bytes = nullptr;
  size_t size = 0;
  expect("neve_hierarchy_info", neve_hierarchy_info(nullptr, &whole));
  expect("neve_hierarchy_info", neve_hierarchy_info(h, nullptr));
  expect("neve_hierarchy_info", neve_hierarchy_info(h, &old));
  expect("neve_level_info", neve_level_info(nullptr, 0, &level));
  expect("neve_level_info", neve_level_info(h, 0, nullptr));
  expect("neve_level_info", neve_level_info(h, 0, &old_level));
  expect("neve_hierarchy_box", neve_hierarchy_box(nullptr, 0, 0, corner, corner));
  expect("neve_hierarchy_box", neve_hierarchy_box(h, 0, 0, nullptr, corner));
  expect("neve_hierarchy_box", neve_hierarchy_box(h, 0, 0, corner, nullptr));
  expect("neve_hierarchy_distribute", neve_hierarchy_distribute(nullptr, 1, 0, owners));
  expect("neve_hierarchy_distribute", neve_hierarchy_distribute(h, 1, 0, nullptr));
  nothing("neve_hierarchy_component", neve_hierarchy_component(nullptr, 0));
  nothing("neve_hierarchy_side_file_name", neve_hierarchy_side_file_name(nullptr, 0));
  for (const int number : {-1, 99, INT32_MIN, INT32_MAX}) {
    expect("neve_level_info", neve_level_info(h, number, &level));
    expect("neve_hierarchy_box", neve_hierarchy_box(h, number, 0, corner, corner));
    expect("neve_hierarchy_box", neve_hierarchy_box(h, 0, number, corner, corner));
    nothing("neve_hierarchy_component", neve_hierarchy_component(h, number));
    nothing("neve_hierarchy_side_file_name", neve_hierarchy_side_file_name(h, number));
    expect("neve_hierarchy_distribute", neve_hierarchy_distribute(h, 1, number, owners));
  }
  for (const int ranks : {0, -1}) {
    expect("neve_hierarchy_distribute", neve_hierarchy_distribute(h, ranks, 0, owners));
  }
  expect("neve_hierarchy_side_file", neve_hierarchy_side_file(nullptr, "a", &bytes, &size));
  expect("neve_hierarchy_side_file", neve_hierarchy_side_file(h, nullptr, &bytes, &size));
  expect("neve_hierarchy_side_file", neve_hierarchy_side_file(h, "a", nullptr, &size));
  expect("neve_hierarchy_side_file", neve_hierarchy_side_file(h, "a", &bytes, nullptr));
  expect("neve_hierarchy_side_file", neve_hierarchy_side_file(h, "none", &bytes, &size));
}

TEST_F(WrongCallsOfMpi, ReportsInC) {
  const Plot plot(MPI_COMM_WORLD);
  neve_hierarchy* const h = described(MPI_COMM_WORLD, plot);
  ask_wrongly(h);
  const std::string target = path(MPI_COMM_WORLD);
  neve_report* report = nullptr;
  ASSERT_EQ(neve_write_plotfile_report(MPI_COMM_WORLD, target.c_str(), h, nullptr, &report), NEVE_OK)
      << neve_last_error();
  test::barrier();
  if (world_rank() == 0) std::filesystem::remove(target);
  const auto expect = [](const char* function, int code) { refused(function, code, NEVE_USAGE); };
  neve_write_report totals = NEVE_WRITE_REPORT_INIT, old_totals = {};
  neve_field_report field = NEVE_FIELD_REPORT_INIT, old_field = {};
  expect("neve_report_totals", neve_report_totals(nullptr, &totals));
  expect("neve_report_totals", neve_report_totals(report, nullptr));
  expect("neve_report_totals", neve_report_totals(report, &old_totals));
  expect("neve_report_field", neve_report_field(nullptr, 0, 0, 0, &field));
  expect("neve_report_field", neve_report_field(report, 0, 0, 0, nullptr));
  expect("neve_report_field", neve_report_field(report, 0, 0, 0, &old_field));
  for (const int number : {-1, 2, INT32_MIN, INT32_MAX}) {
    expect("neve_report_field", neve_report_field(report, number, 0, 0, &field));
    expect("neve_report_field", neve_report_field(report, 0, number, 0, &field));
    expect("neve_report_field", neve_report_field(report, 0, 0, number, &field));
  }
  neve_report_free(report);
  neve_report_free(nullptr);
  survived("neve_report_free");
  neve_hierarchy_free(h);
}

// A file of this rank alone, for as long as a test takes.
class OwnFile {
 public:
  explicit OwnFile(const std::string& folder) : path_(folder + "/of_" + std::to_string(world_rank())) {}
  ~OwnFile() { std::filesystem::remove(path_); }
  const char* path() const { return path_.c_str(); }

 private:
  std::string path_;
};

TEST_F(WrongCallsOfMpi, ReadingAPlotfileInC) {
  const OwnFile file(directory_);
  const Plot plot(MPI_COMM_SELF);
  neve_hierarchy* const h = described(MPI_COMM_SELF, plot);
  ASSERT_EQ(neve_write_plotfile(MPI_COMM_SELF, file.path(), h, nullptr), NEVE_OK) << neve_last_error();
  neve_hierarchy_free(h);
  const auto expect = [](const char* function, int code) { refused(function, code, NEVE_USAGE); };
  neve_plotfile* plotfile = nullptr;
  expect("neve_plotfile_open", neve_plotfile_open(nullptr, 0, &plotfile));
  expect("neve_plotfile_open", neve_plotfile_open(file.path(), 0, nullptr));
  for (const int flags : {-1, 2, INT32_MAX}) {
    expect("neve_plotfile_open", neve_plotfile_open(file.path(), flags, &plotfile));
  }
  refused("neve_plotfile_open", neve_plotfile_open((directory_ + "/none").c_str(), 0, &plotfile),
          NEVE_FAILURE);
  EXPECT_EQ(plotfile, nullptr);
  ASSERT_EQ(neve_plotfile_open(file.path(), NEVE_FOLLOW_EXTERNAL, &plotfile), NEVE_OK);
  double values[64] = {}, min = 0, max = 0;
  unsigned char marks[64];
  int any = 0;
  EXPECT_EQ(neve_plotfile_hierarchy(nullptr), nullptr);
  refused("neve_plotfile_hierarchy", NEVE_USAGE, NEVE_USAGE);
  EXPECT_EQ(neve_plotfile_kind(nullptr), nullptr);
  refused("neve_plotfile_kind", NEVE_USAGE, NEVE_USAGE);
  expect("neve_plotfile_expect_all", neve_plotfile_expect_all(nullptr));
  expect("neve_plotfile_read_box", neve_plotfile_read_box(nullptr, 0, 0, 0, values, 0, 0, 0));
  expect("neve_plotfile_read_box", neve_plotfile_read_box(plotfile, 0, 0, 0, nullptr, 0, 0, 0));
  expect("neve_plotfile_read_box", neve_plotfile_read_box(plotfile, 0, 0, 0, values, 0, -8, 0));
  expect("neve_plotfile_read_box", neve_plotfile_read_box(plotfile, 0, 0, 0, values, 0, 0, -1));
  expect("neve_plotfile_read_cells", neve_plotfile_read_cells(nullptr, 0, 0, 0, 0, 1, values));
  expect("neve_plotfile_read_cells", neve_plotfile_read_cells(plotfile, 0, 0, 0, 0, 1, nullptr));
  expect("neve_plotfile_read_cells", neve_plotfile_read_cells(plotfile, 0, 0, 0, 60, 5, values));
  expect("neve_plotfile_read_cells", neve_plotfile_read_cells(plotfile, 0, 0, 0, UINT64_MAX, 2, values));
  expect("neve_plotfile_left_out", neve_plotfile_left_out(nullptr, 0, 0, 0, marks, &any));
  expect("neve_plotfile_left_out", neve_plotfile_left_out(plotfile, 0, 0, 0, nullptr, &any));
  expect("neve_plotfile_range", neve_plotfile_range(nullptr, 0, 0, &min, &max, &any));
  expect("neve_plotfile_range", neve_plotfile_range(plotfile, 0, 0, nullptr, &max, &any));
  expect("neve_plotfile_range", neve_plotfile_range(plotfile, 0, 0, &min, nullptr, &any));
  expect("neve_plotfile_range", neve_plotfile_range(plotfile, 0, 0, &min, &max, nullptr));
  for (const int ghosts : {-1, 1025, INT32_MIN, INT32_MAX}) {
    expect("neve_plotfile_read_box", neve_plotfile_read_box(plotfile, 0, 0, 0, values, ghosts, 0, 0));
  }
  for (const int number : {-1, 2, INT32_MIN, INT32_MAX}) {
    expect("neve_plotfile_read_box", neve_plotfile_read_box(plotfile, number, 0, 0, values, 0, 0, 0));
    expect("neve_plotfile_read_box", neve_plotfile_read_box(plotfile, 0, number, 0, values, 0, 0, 0));
    expect("neve_plotfile_read_box", neve_plotfile_read_box(plotfile, 0, 0, number, values, 0, 0, 0));
    expect("neve_plotfile_read_cells", neve_plotfile_read_cells(plotfile, number, 0, 0, 0, 1, values));
    expect("neve_plotfile_read_cells", neve_plotfile_read_cells(plotfile, 0, number, 0, 0, 1, values));
    expect("neve_plotfile_read_cells", neve_plotfile_read_cells(plotfile, 0, 0, number, 0, 1, values));
    expect("neve_plotfile_read_cells", neve_plotfile_read_cells(plotfile, 0, 0, number, 0, 0, nullptr));
    expect("neve_plotfile_left_out", neve_plotfile_left_out(plotfile, number, 0, 0, marks, &any));
    expect("neve_plotfile_left_out", neve_plotfile_left_out(plotfile, 0, number, 0, marks, &any));
    expect("neve_plotfile_left_out", neve_plotfile_left_out(plotfile, 0, 0, number, marks, &any));
    expect("neve_plotfile_range", neve_plotfile_range(plotfile, number, 0, &min, &max, &any));
    expect("neve_plotfile_range", neve_plotfile_range(plotfile, 0, number, &min, &max, &any));
  }
  uint64_t place = 0;
  expect("neve_plotfile_place", neve_plotfile_place(nullptr, 0, 0, &place));
  expect("neve_plotfile_place", neve_plotfile_place(plotfile, 0, 0, nullptr));
  for (const int number : {-1, 2, INT32_MIN, INT32_MAX}) {
    expect("neve_plotfile_place", neve_plotfile_place(plotfile, number, 0, &place));
    expect("neve_plotfile_place", neve_plotfile_place(plotfile, 0, number, &place));
  }
  for (neve_plotfile* of : {plotfile, static_cast<neve_plotfile*>(nullptr)}) {
    EXPECT_EQ(neve_plotfile_left_behind(of, 0), nullptr);
    refused("neve_plotfile_left_behind", NEVE_USAGE, NEVE_USAGE);
    EXPECT_EQ(neve_plotfile_remark(of, -1), nullptr);
    refused("neve_plotfile_remark", NEVE_USAGE, NEVE_USAGE);
  }
  neve_plotfile_close(plotfile);
  neve_plotfile_close(nullptr);
  survived("neve_plotfile_close");
}

TEST_F(WrongCallsOfMpi, ReadingACheckpointInC) {
  const OwnFile file(directory_);
  const Plot plot(MPI_COMM_SELF);
  neve_hierarchy* const h = described(MPI_COMM_SELF, plot);
  neve_variable variable = NEVE_VARIABLE_INIT;
  variable.name = "gas";
  variable.values = h;
  ASSERT_EQ(neve_write_checkpoint(MPI_COMM_SELF, file.path(), 1, &variable, nullptr, nullptr), NEVE_OK)
      << neve_last_error();
  neve_hierarchy_free(h);
  const auto expect = [](const char* function, int code) { refused(function, code, NEVE_USAGE); };
  neve_checkpoint* checkpoint = nullptr;
  expect("neve_checkpoint_open", neve_checkpoint_open(nullptr, 0, &checkpoint));
  expect("neve_checkpoint_open", neve_checkpoint_open(file.path(), 0, nullptr));
  expect("neve_checkpoint_open", neve_checkpoint_open(file.path(), 2, &checkpoint));
  refused("neve_checkpoint_open", neve_checkpoint_open((directory_ + "/none").c_str(), 0, &checkpoint),
          NEVE_FAILURE);
  EXPECT_EQ(checkpoint, nullptr);
  ASSERT_EQ(neve_checkpoint_open(file.path(), 0, &checkpoint), NEVE_OK);
  double values[64] = {};
  neve_variable_description of = NEVE_VARIABLE_DESCRIPTION_INIT, old = {};
  EXPECT_EQ(neve_checkpoint_hierarchy(nullptr), nullptr);
  refused("neve_checkpoint_hierarchy", NEVE_USAGE, NEVE_USAGE);
  EXPECT_EQ(neve_checkpoint_variables(nullptr), -1);
  refused("neve_checkpoint_variables", NEVE_USAGE, NEVE_USAGE);
  const std::pair<const neve_checkpoint*, const char*> searches[] = {
      {nullptr, "gas"}, {checkpoint, nullptr}, {checkpoint, ""}, {checkpoint, "dust"}};
  for (const auto& [in, name] : searches) {
    EXPECT_EQ(neve_checkpoint_find(in, name), -1);
    refused("neve_checkpoint_find", NEVE_USAGE, NEVE_USAGE);
  }
  expect("neve_checkpoint_variable", neve_checkpoint_variable(nullptr, 0, &of));
  expect("neve_checkpoint_variable", neve_checkpoint_variable(checkpoint, 0, nullptr));
  expect("neve_checkpoint_variable", neve_checkpoint_variable(checkpoint, 0, &old));
  EXPECT_EQ(neve_checkpoint_component(nullptr, 0, 0), nullptr);
  refused("neve_checkpoint_component", NEVE_USAGE, NEVE_USAGE);
  const auto read = [&](neve_checkpoint* in, int v, int level, int box, int c, void* to, int ghosts,
                        int row) {
    expect("neve_checkpoint_read_box", neve_checkpoint_read_box(in, v, level, box, c, to, ghosts, row, 0));
  };
  read(nullptr, 0, 0, 0, 0, values, 0, 0);
  read(checkpoint, 0, 0, 0, 0, nullptr, 0, 0);
  read(checkpoint, 0, 0, 0, 0, values, -1, 0);
  read(checkpoint, 0, 0, 0, 0, values, 0, -1);
  for (const int number : {-1, 2, INT32_MIN, INT32_MAX}) {
    expect("neve_checkpoint_variable", neve_checkpoint_variable(checkpoint, number, &of));
    EXPECT_EQ(neve_checkpoint_component(checkpoint, number, 0), nullptr);
    EXPECT_EQ(neve_checkpoint_component(checkpoint, 0, number), nullptr);
    read(checkpoint, number, 0, 0, 0, values, 0, 0);
    read(checkpoint, 0, number, 0, 0, values, 0, 0);
    read(checkpoint, 0, 0, number, 0, values, 0, 0);
    read(checkpoint, 0, 0, 0, number, values, 0, 0);
  }
  uint64_t place = 0;
  expect("neve_checkpoint_expect_all", neve_checkpoint_expect_all(nullptr));
  expect("neve_checkpoint_place", neve_checkpoint_place(nullptr, 0, 0, 0, &place));
  expect("neve_checkpoint_place", neve_checkpoint_place(checkpoint, 0, 0, 0, nullptr));
  for (const int number : {-1, 2, INT32_MIN, INT32_MAX}) {
    expect("neve_checkpoint_place", neve_checkpoint_place(checkpoint, number, 0, 0, &place));
    expect("neve_checkpoint_place", neve_checkpoint_place(checkpoint, 0, number, 0, &place));
    expect("neve_checkpoint_place", neve_checkpoint_place(checkpoint, 0, 0, number, &place));
  }
  neve_checkpoint_close(checkpoint);
  neve_checkpoint_close(nullptr);
  survived("neve_checkpoint_close");
}

constexpr const char* wrong_checkpoint_options[] = {"magic",
                                                    "covered=drop",
                                                    "cross_level",
                                                    "fill=3",
                                                    "ghosts=1",
                                                    "strategy=filtered",
                                                    "field:gas=fill=3",
                                                    "field:gas=unit=8",
                                                    "field:dust=abs=1",
                                                    "uncompressed;abs=1",
                                                    "abs=0",
                                                    "field:gas=abs=1;field:gas=rel=1",
                                                    "behind=maybe"};

TEST_F(WrongCallsOfMpi, WritingACheckpointInC) {
  auto communicators = good_communicators();
  for (const auto& [name, comm] : communicators) {
    SCOPED_TRACE(name);
    const Plot plot(comm);
    neve_hierarchy* const h = described(comm, plot);
    const char* const names[] = {"u"};
    neve_hierarchy* const other = neve_hierarchy_create(2, 8, 1, names);
    const std::string target = path(comm);
    const neve_variable good = {sizeof(neve_variable), "gas", h, 0, 0};
    const auto write = [&](const char* to, int count, const neve_variable* variables, const char* options) {
      neve_report* report = nullptr;
      expect_same("neve_write_checkpoint", comm,
                  neve_write_checkpoint(comm, to, count, variables, options, &report));
      EXPECT_EQ(report, nullptr);
    };
    for (const bool on_all : {true, false}) {
      const bool is_wrong = on_all || rank_in(comm) == size_of(comm) - 1;
      write(is_wrong ? nullptr : target.c_str(), 1, &good, nullptr);
      write(target.c_str(), is_wrong ? 0 : 1, &good, nullptr);
      write(target.c_str(), is_wrong ? -1 : 1, &good, nullptr);
      write(target.c_str(), 1, is_wrong ? nullptr : &good, nullptr);
      for (const char* options : wrong_checkpoint_options)
        write(target.c_str(), 1, &good, is_wrong ? options : nullptr);
      const neve_variable wrong[] = {{0, "gas", h, 0, 0},
                                     {sizeof(neve_variable), nullptr, h, 0, 0},
                                     {sizeof(neve_variable), "", h, 0, 0},
                                     {sizeof(neve_variable), "a/b", h, 0, 0},
                                     {sizeof(neve_variable), "gas", nullptr, 0, 0},
                                     {sizeof(neve_variable), "gas", other, 0, 0},
                                     {sizeof(neve_variable), "gas", h, -1, 0},
                                     {sizeof(neve_variable), "gas", h, 1, 0},  // more than the boxes have
                                     {sizeof(neve_variable), "gas", h, 1025, 0}};
      for (const neve_variable& one : wrong) {
        write(target.c_str(), 1, is_wrong ? &one : &good, nullptr);
        const neve_variable both[] = {{sizeof(neve_variable), "dust", h, 0, 0}, is_wrong ? one : good};
        write(target.c_str(), 2, both, nullptr);
      }
      const neve_variable twice[] = {good,
                                     is_wrong ? good : neve_variable{sizeof(neve_variable), "dust", h, 0, 0}};
      write(target.c_str(), 2, twice, nullptr);
      const neve_variable plain = {sizeof(neve_variable), "gas", h, 0, 1};
      write(target.c_str(), 1, is_wrong ? &plain : &good, "field:gas=abs=1");
      expect_same("write_checkpoint_if", comm,
                  write_checkpoint_if(comm, is_wrong ? usage_error("nothing") : Status(), target,
                                      plot.hierarchy, std::vector<Variable>{{"h", {"u"}}},
                                      std::vector<std::vector<LocalBox>>{plot.owned}, {})
                      .status());
    }
    neve_hierarchy_free(other);
    neve_hierarchy_free(h);
  }
  free_communicators(communicators);
}

constexpr const char* wrong_write_options[] = {"magic",
                                               "=",
                                               ":",
                                               "field",
                                               "field:",
                                               "field:u",
                                               "field:u=",
                                               "field:\"u=abs=1",
                                               "field:\"u\"x=abs=1",
                                               "abs",
                                               "abs=0",
                                               "abs=nan",
                                               "rel=-1",
                                               "lossless=1",
                                               "ratio=10",
                                               "lossless;abs=1",
                                               "abs=1;abs=1",
                                               "abs=1;rel=1e-3",
                                               "field:u=abs=1;field:u=rel=1e-3",
                                               "threads=1;threads=1",
                                               "uncompressed;uncompressed",
                                               "threads=0",
                                               "threads=-1",
                                               "threads=1025",
                                               "threads=2000000000",
                                               "threads=99999999999",
                                               "threads=1x",
                                               "codec=gzip",
                                               "codec=constant",
                                               "effort=huge",
                                               "covered=maybe",
                                               "strategy=magic",
                                               "ghosts=-1",
                                               "ghosts=1025",
                                               "aggregate_boxes=-1",
                                               "aggregate_boxes=4",
                                               "chunk_size=0",
                                               "chunk_size=5",
                                               "chunk_size=99999999999999999999",
                                               "uncompressed=7",
                                               "\xff",
                                               "field:x=abs=1",
                                               "uncompressed;strategy=filtered",
                                               "uncompressed;covered=drop"};

TEST_F(WrongCallsOfMpi, WritingAPlotfileInC) {
  auto communicators = good_communicators();
  for (const auto& [name, comm] : communicators) {
    SCOPED_TRACE(name);
    const Plot plot(comm);
    neve_hierarchy* const h = described(comm, plot);
    const std::string target = path(comm);
    const bool is_last = rank_in(comm) == size_of(comm) - 1;
    const auto write = [&](const char* to, const neve_hierarchy* what, const char* options) {
      expect_same("neve_write_plotfile", comm, neve_write_plotfile(comm, to, what, options));
      neve_report* report = nullptr;
      expect_same("neve_write_plotfile_report", comm,
                  neve_write_plotfile_report(comm, to, what, options, &report));
      EXPECT_EQ(report, nullptr);
    };
    for (const bool on_all : {true, false}) {
      const bool is_wrong = on_all || is_last;
      write(target.c_str(), is_wrong ? nullptr : h, nullptr);
      write(is_wrong ? nullptr : target.c_str(), h, nullptr);
      neve_plotfile_series* series = nullptr;
      ASSERT_EQ(neve_plotfile_series_create(nullptr, &series), NEVE_OK);
      const auto write_next = [&](const char* to, const neve_hierarchy* what, neve_plotfile_series* of) {
        expect_same("neve_plotfile_series_write", comm,
                    neve_plotfile_series_write(comm, to, what, of, nullptr));
      };
      write_next(is_wrong ? nullptr : target.c_str(), h, series);
      write_next(target.c_str(), is_wrong ? nullptr : h, series);
      write_next(target.c_str(), h, is_wrong ? nullptr : series);
      refused("neve_plotfile_series_set_hint", neve_plotfile_series_set_hint(nullptr, "a", "b"), NEVE_USAGE);
      refused("neve_plotfile_series_set_hint", neve_plotfile_series_set_hint(series, nullptr, "b"),
              NEVE_USAGE);
      refused("neve_plotfile_series_set_hint", neve_plotfile_series_set_hint(series, "a", nullptr),
              NEVE_USAGE);
      if (is_wrong) {
        ASSERT_EQ(neve_plotfile_series_set_hint(series, "", "b"), NEVE_OK);
      }
      write_next(target.c_str(), h, series);
      neve_plotfile_series_free(series);
      expect_same("neve_write_amrex_plotfile", comm,
                  neve_write_amrex_plotfile(comm, target.c_str(), is_wrong ? nullptr : h));
      expect_same("neve_write_amrex_plotfile", comm,
                  neve_write_amrex_plotfile(comm, is_wrong ? nullptr : target.c_str(), h));
      for (const char* options : wrong_write_options) {
        write(target.c_str(), h, is_wrong ? options : "abs=1");
      }
    }
    neve_hierarchy_free(h);
  }
  free_communicators(communicators);
}

TEST_F(WrongCallsOfMpi, MakingASeriesOfPlotfilesInC) {
  neve_plotfile_series* series = nullptr;
  for (const char* options : wrong_write_options) {
    if (parse_write_options(options).ok()) continue;  // what only a write finds wrong
    EXPECT_EQ(series, nullptr);
    refused("neve_plotfile_series_create", neve_plotfile_series_create(options, &series), NEVE_USAGE);
  }
  refused("neve_plotfile_series_create", neve_plotfile_series_create(nullptr, nullptr), NEVE_USAGE);
  neve_plotfile_series_free(nullptr);
  survived("neve_plotfile_series_free");
}

TEST_F(WrongCallsOfMpi, WritingAHierarchyThatOnlyTheWriteFindsWrong) {
  auto communicators = good_communicators();
  for (const auto& [name, comm] : communicators) {
    SCOPED_TRACE(name);
    const Plot plot(comm);
    const std::string target = path(comm);
    const int lo[] = {0, 0}, hi[] = {8 * size_of(comm) - 1, 7}, outside[] = {8 * size_of(comm), 7};
    const auto write_changed = [&](auto change) {
      const char* const names[] = {"u", "v"};
      neve_hierarchy* const wrong = neve_hierarchy_create(2, 8, 2, names);
      change(wrong);
      expect_same("neve_write_plotfile", comm, neve_write_plotfile(comm, target.c_str(), wrong, nullptr));
      neve_hierarchy_free(wrong);
    };
    const void* const mine = rank_in(comm) == 0 ? plot.values.data() : nullptr;
    write_changed([](neve_hierarchy*) {});
    write_changed([&](neve_hierarchy* w) { neve_hierarchy_add_level(w, lo, hi, 0); });
    write_changed([&](neve_hierarchy* w) {
      neve_hierarchy_add_level(w, lo, hi, 0);
      neve_hierarchy_add_box(w, lo, hi, nullptr, 0);  // nobody's
    });
    write_changed([&](neve_hierarchy* w) {
      neve_hierarchy_add_level(w, lo, hi, 0);
      neve_hierarchy_add_box(w, lo, outside, mine, 0);
    });
    for (const double value : {nan_value, infinity, -infinity}) {
      write_changed([&](neve_hierarchy* w) {
        const double zero[] = {0, 0}, wrong_corner[] = {value, 1};
        neve_hierarchy_set_domain(w, zero, wrong_corner);
        neve_hierarchy_add_level(w, lo, hi, 0);
        neve_hierarchy_add_box(w, lo, hi, mine, 0);
      });
    }
  }
  free_communicators(communicators);
}

TEST_F(WrongCallsOfMpi, CommunicatorsThatNothingTakes) {
  MPI_Comm half = MPI_COMM_NULL, both = MPI_COMM_NULL;
  if (world_size() > 1) {
    MPI_Comm_split(MPI_COMM_WORLD, world_rank() % 2, 0, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, world_rank() % 2 == 0 ? 1 : 0, 5, &both);
  }
  const Plot plot(MPI_COMM_WORLD);
  neve_hierarchy* const h = described(MPI_COMM_WORLD, plot);
  const std::string target = directory_ + "/nothing";
  float values[8] = {};
  for (const MPI_Comm comm : {MPI_COMM_NULL, both}) {
    const auto expect = [](const char* function, int code) { refused(function, code, NEVE_USAGE); };
    neve_mpi_file* file = nullptr;
    const uint64_t counts[] = {8, 8, 8, 8, 8, 8, 8, 8};
    expect("neve_write_plotfile", neve_write_plotfile(comm, target.c_str(), h, nullptr));
    const neve_variable variable = {sizeof(neve_variable), "gas", h, 0, 0};
    expect("neve_write_checkpoint",
           neve_write_checkpoint(comm, target.c_str(), 1, &variable, nullptr, nullptr));
    expect("neve_write_amrex_plotfile", neve_write_amrex_plotfile(comm, target.c_str(), h));
    expect("neve_wait_for_writes", neve_wait_for_writes(comm));
    refused("wait_for_writes", wait_for_writes(comm));
    expect("neve_mpi_gather", neve_mpi_gather(values, 8, MPI_FLOAT, values, 0, comm, nullptr, nullptr));
    expect("neve_mpi_gatherv",
           neve_mpi_gatherv(values, 8, MPI_FLOAT, values, counts, nullptr, 0, comm, nullptr, nullptr));
    expect("neve_mpi_allgather", neve_mpi_allgather(values, 1, MPI_FLOAT, values, comm, nullptr, nullptr));
    expect("neve_mpi_allgatherv",
           neve_mpi_allgatherv(values, 1, MPI_FLOAT, values, counts, nullptr, comm, nullptr, nullptr));
    expect("neve_mpi_alltoall", neve_mpi_alltoall(values, 1, MPI_FLOAT, values, comm, nullptr, nullptr));
    expect("neve_mpi_alltoallv", neve_mpi_alltoallv(values, counts, nullptr, MPI_FLOAT, values, counts,
                                                    nullptr, comm, nullptr, nullptr));
    expect("neve_mpi_bcast", neve_mpi_bcast(values, 8, MPI_FLOAT, 0, comm, nullptr, nullptr));
    expect("neve_mpi_scatter", neve_mpi_scatter(values, 1, MPI_FLOAT, values, 0, comm, nullptr, nullptr));
    expect("neve_mpi_scatterv",
           neve_mpi_scatterv(values, counts, nullptr, MPI_FLOAT, values, 1, 0, comm, nullptr, nullptr));
    expect("neve_mpi_send", neve_mpi_send(values, 8, MPI_FLOAT, 0, 0, comm, nullptr, nullptr));
    expect("neve_mpi_recv", neve_mpi_recv(values, 8, MPI_FLOAT, 0, 0, comm, nullptr, nullptr, nullptr));
    expect("neve_mpi_file_open", neve_mpi_file_open(comm, target.c_str(), NEVE_MPI_FILE_CREATE, &file));
    EXPECT_EQ(file, nullptr);
    refused("write_plotfile", write_plotfile(comm, target, plot.hierarchy, plot.owned, {}).status());
    refused("write_plotfile_if",
            write_plotfile_if(comm, {}, target, plot.hierarchy, plot.owned, {}).status());
    refused("write_amrex_plotfile", write_amrex_plotfile(comm, target, plot.hierarchy, plot.owned));
    const std::vector<Variable> variables = {{"h", {"u"}}};
    const std::vector<std::vector<LocalBox>> boxes = {plot.owned};
    refused("write_checkpoint",
            write_checkpoint(comm, target, plot.hierarchy, variables, boxes, {}).status());
  }
  neve_hierarchy_free(h);
  if (both != MPI_COMM_NULL) MPI_Comm_free(&both);
  if (half != MPI_COMM_NULL) MPI_Comm_free(&half);
}

TEST_F(WrongCallsOfMpi, WritingInCppWithWrongOptions) {
  auto communicators = good_communicators();
  for (const auto& [name, comm] : communicators) {
    SCOPED_TRACE(name);
    const auto wrong = [&](auto change) { refuse_plotfile(comm, change); };
    for (const uint8_t n : {77, 254}) {
      wrong([&](Plot&, WriteOptions& o, std::string&) { o.codec = static_cast<Codec>(n); });
      wrong([&](Plot&, WriteOptions& o, std::string&) { o.covered = static_cast<Covered>(n); });
      wrong([&](Plot&, WriteOptions& o, std::string&) { o.bound.mode = static_cast<BoundMode>(n); });
      wrong([&](Plot&, WriteOptions& o, std::string&) { o.encode.effort = static_cast<Effort>(n); });
      wrong(
          [&](Plot&, WriteOptions& o, std::string&) { o.tuning.arrangement = static_cast<Arrangement>(n); });
      wrong([&](Plot&, WriteOptions& o, std::string&) { o.tuning.method = static_cast<LosslessMethod>(n); });
      wrong([&](Plot&, WriteOptions& o, std::string&) { o.fields["u"].codec = static_cast<Codec>(n); });
      wrong([&](Plot& p, WriteOptions&, std::string&) { p.hierarchy.dtype = static_cast<DType>(n); });
    }
    for (const int number : {0, -1, 1025, 2000000000}) {
      wrong([&](Plot&, WriteOptions& o, std::string&) { o.encode.threads = number; });
    }
    for (const double value : {0.0, -1.0, nan_value, infinity}) {
      wrong([&](Plot&, WriteOptions& o, std::string&) { o.bound.value = value; });
      wrong([&](Plot&, WriteOptions& o, std::string&) {
        o.fields["u"].bound = Bound{BoundMode::abs, value};
      });
    }
    wrong([](Plot&, WriteOptions& o, std::string&) { o.fields["w"].codec = Codec::exact; });
    wrong([](Plot&, WriteOptions& o, std::string&) { o.strategy = "magic"; });
    for (const int number : {-1, 1025, INT32_MIN, INT32_MAX}) {
      wrong([&](Plot&, WriteOptions& o, std::string&) { o.ghosts[0] = number; });
      if (number < 0) wrong([&](Plot&, WriteOptions& o, std::string&) { o.aggregate_boxes = number; });
      if (number < 0) wrong([&](Plot&, WriteOptions& o, std::string&) { o.layout.stripe_count = number; });
    }
    for (const uint64_t bytes : {uint64_t{0}, uint64_t{1000}, UINT64_MAX}) {
      wrong([&](Plot&, WriteOptions& o, std::string&) { o.chunk_bytes = bytes; });
    }
    const std::map<std::string, std::string> hints[] = {{{std::string(MPI_MAX_INFO_KEY, 'k'), "1"}},
                                                        {{"cb_nodes", std::string(MPI_MAX_INFO_VAL, '1')}},
                                                        {{"", "1"}},
                                                        {{"cb_nodes", ""}},
                                                        {{std::string("a\0b", 3), "1"}}};
    for (const auto& wrong_hints : hints) {
      wrong([&](Plot&, WriteOptions& o, std::string&) { o.mpi_hints = wrong_hints; });
    }
  }
  free_communicators(communicators);
}

TEST_F(WrongCallsOfMpi, WritingWrongDataInCpp) {
  auto communicators = good_communicators();
  for (const auto& [name, comm] : communicators) {
    SCOPED_TRACE(name);
    const auto wrong = [&](auto change) { refuse_plotfile(comm, change); };
    wrong([](Plot& p, WriteOptions&, std::string&) { p.hierarchy.components[1] = "\xe9"; });
    wrong([](Plot& p, WriteOptions&, std::string&) { p.hierarchy.side_files["\xff"] = "x"; });
    wrong([](Plot& p, WriteOptions&, std::string&) { p.owned[0].data.data = nullptr; });
    for (const int number : {-1, INT32_MIN, INT32_MAX}) {
      wrong([&](Plot& p, WriteOptions&, std::string&) { p.owned[0].box = number; });
      wrong([&](Plot& p, WriteOptions&, std::string&) { p.owned[0].level = number; });
    }
    wrong([](Plot& p, WriteOptions&, std::string&) { p.owned.clear(); });
    wrong([](Plot& p, WriteOptions&, std::string&) { p.owned.push_back(p.owned[0]); });
    // One rank says something else than the others.
    if (size_of(comm) > 1) {
      const bool is_last = rank_in(comm) == size_of(comm) - 1;
      wrong([&](Plot&, WriteOptions&, std::string& to) { to += is_last ? "x" : ""; });
      wrong([&](Plot&, WriteOptions& o, std::string&) { o.bound.value = is_last ? 1 : 2; });
      wrong([&](Plot& p, WriteOptions&, std::string&) { p.hierarchy.time = is_last ? 1 : 2; });
    }

    const auto wrong_amrex = [&](auto change) {
      Plot plot(comm);
      change(plot);
      expect_same("write_amrex_plotfile", comm,
                  write_amrex_plotfile(comm, path(comm), plot.hierarchy, plot.owned));
    };
    wrong_amrex([](Plot& p) { p.hierarchy.components[1] = "\xe9"; });
    wrong_amrex([](Plot& p) { p.hierarchy.levels.clear(); });
    wrong_amrex([](Plot& p) { p.owned.clear(); });
    wrong_amrex([](Plot& p) { p.owned[0].data.data = nullptr; });
  }
  free_communicators(communicators);
}

TEST_F(WrongCallsOfMpi, WritingACheckpointInCpp) {
  auto communicators = good_communicators();
  for (const auto& [name, comm] : communicators) {
    SCOPED_TRACE(name);
    const auto wrong_checkpoint = [&](auto change) {
      Plot plot(comm);
      plot.hierarchy.components = {"u"};
      std::vector<Variable> variables = {{"thickness", {"u", "v"}}};
      std::vector<std::vector<LocalBox>> boxes = {plot.owned};
      WriteOptions options;
      change(variables, boxes, options);
      expect_same("write_checkpoint", comm,
                  write_checkpoint(comm, path(comm), plot.hierarchy, variables, boxes, options).status());
    };
    using Variables = std::vector<Variable>;
    using Boxes = std::vector<std::vector<LocalBox>>;
    wrong_checkpoint([](Variables& v, Boxes& b, WriteOptions&) { v.clear(), b.clear(); });
    wrong_checkpoint([](Variables&, Boxes& b, WriteOptions&) { b.clear(); });
    wrong_checkpoint([](Variables&, Boxes& b, WriteOptions&) { b[0].clear(); });
    for (const char* wrong_name : {"", "a/b", "\xe9", "a\nb"}) {
      wrong_checkpoint([&](Variables& v, Boxes&, WriteOptions&) { v[0].name = wrong_name; });
      if (std::string(wrong_name) == "a/b") continue;
      wrong_checkpoint([&](Variables& v, Boxes&, WriteOptions&) { v[0].components[1] = wrong_name; });
    }
    wrong_checkpoint([](Variables& v, Boxes&, WriteOptions&) { v[0].components.clear(); });
    wrong_checkpoint([](Variables& v, Boxes&, WriteOptions&) { v[0].ghosts[0] = -1; });
    wrong_checkpoint([](Variables& v, Boxes&, WriteOptions&) { v[0].codec = static_cast<Codec>(77); });
    wrong_checkpoint(
        [](Variables& v, Boxes&, WriteOptions&) { v[0].bound.mode = static_cast<BoundMode>(77); });
    wrong_checkpoint([](Variables&, Boxes&, WriteOptions& o) { o.strategy = "filtered"; });
    wrong_checkpoint([](Variables&, Boxes&, WriteOptions& o) { o.encode.threads = 2000000000; });
  }
  free_communicators(communicators);
}

TEST_F(WrongCallsOfMpi, OptionsInCpp) {
  survived("covered_name", covered_name(static_cast<Covered>(77)) == std::string("unknown"));
  survived("behind_name", behind_name(static_cast<Behind>(77)) == std::string("unknown"));
  refused("parse_covered", parse_covered("").status());
  refused("parse_covered", parse_covered("maybe").status());
  refused("parse_behind", parse_behind("").status());
  refused("parse_behind", parse_behind("Encode").status());
  for (const auto behind : {Behind::encode, Behind::copy, static_cast<Behind>(3), static_cast<Behind>(255)}) {
    WriteOptions options;
    options.behind = behind;
    options.compress = false;
    refused("check_behind", check_behind(options));
    survived("behind_of", behind_of(options) == behind);
    options.compress = true;
    options.strategy = "";
    refused("check_behind", check_behind(options));
  }
  refused("check_chunk_bytes", check_chunk_bytes(0));
  refused("check_chunk_bytes", check_chunk_bytes(UINT64_MAX));
  for (const int64_t values : {int64_t{0}, int64_t{-1}, INT64_MIN, int64_t{1} << 25, INT64_MAX})
    refused("check_chunk_values", check_chunk_values(values));
  for (const char* wrong :
       {"=", "rel", "no=1", "rel=1e-3;rel=1e-3", "field:u=abs=1", "fill=\xff", "threads=1025"}) {
    refused("parse_array_options", parse_array_options(wrong).status());
    refused("parse_array_options", parse_array_options({{"bound", wrong}}).status());
  }
  for (const char* wrong : {"=", "field:=abs=1", "field:\"u", "ratio=10", "explain", "uncompressed;rel=1"}) {
    refused("parse_write_options", parse_write_options(wrong).status());
    refused("parse_checkpoint_options", parse_checkpoint_options(wrong).status());
  }
  survived("options_for", !options_for(static_cast<DType>(77), {}).fill);
  const auto one_rank = distribute_boxes(Plot(MPI_COMM_SELF).hierarchy, -5);
  survived("distribute_boxes", one_rank.size() == 1 && one_rank[0] == std::vector<int>{0});
}

TEST_F(WrongCallsOfMpi, Gathering) {
  auto communicators = good_communicators();
  for (const auto& [name, comm] : communicators) {
    SCOPED_TRACE(name);
    const auto ranks = static_cast<size_t>(size_of(comm));
    std::vector<float> mine(8, 1.5f), all(8 * ranks);
    const std::vector<uint64_t> counts(ranks, 8);
    neve_compress_options values = NEVE_COMPRESS_OPTIONS_INIT;
    neve_mpi_options options = NEVE_MPI_OPTIONS_INIT;
    for (const bool on_all : {true, false}) {
      const bool is_wrong = on_all || rank_in(comm) == size_of(comm) - 1;
      const auto gather = [&](uint64_t count, MPI_Datatype type, int root, const char* bound,
                              const neve_mpi_options* given, const void* send) {
        expect_same("neve_mpi_gather", comm,
                    neve_mpi_gather(send, count, type, all.data(), root, comm, bound, given));
        expect_same("neve_mpi_gatherv", comm,
                    neve_mpi_gatherv(send, count, type, all.data(), counts.data(), nullptr, root, comm, bound,
                                     given));
      };
      gather(8, MPI_FLOAT, 0, nullptr, nullptr, is_wrong ? nullptr : mine.data());
      for (const int root : {-1, size_of(comm), INT32_MIN, INT32_MAX, MPI_PROC_NULL, MPI_ANY_SOURCE}) {
        gather(8, MPI_FLOAT, is_wrong ? root : 0, nullptr, nullptr, mine.data());
      }
      for (const MPI_Datatype type :
           {MPI_DATATYPE_NULL, MPI_C_FLOAT_COMPLEX, MPI_CHAR, MPI_BYTE, MPI_PACKED, MPI_LONG_DOUBLE}) {
        gather(8, is_wrong ? type : MPI_FLOAT, 0, nullptr, nullptr, mine.data());
      }
      for (const char* bound : {"", "abs=0", "abs=nan", "abs=inf", "ratio=1", "psnr=60", "magic", "\xff"}) {
        gather(8, MPI_FLOAT, 0, is_wrong ? bound : "abs=1", nullptr, mine.data());
      }
      for (const uint64_t count : {(uint64_t{1} << 40) + 1, uint64_t{1} << 63, UINT64_MAX}) {
        gather(is_wrong ? count : 8, MPI_FLOAT, 0, nullptr, nullptr, mine.data());
      }
      const auto with = [&](auto change) {
        values = NEVE_COMPRESS_OPTIONS_INIT;
        options = NEVE_MPI_OPTIONS_INIT;
        options.values = &values;
        if (is_wrong) change();
        gather(8, MPI_FLOAT, 0, "abs=1", &options, mine.data());
      };
      with([&] { options.struct_bytes = 0; });
      with([&] { values.struct_bytes = 0; });
      with([&] { values.threads = 2000000000; });
      with([&] { values.threads = -1; });
      with([&] { values.codec = "gzip"; });
      with([&] { options.block_bytes = UINT64_MAX; });
      with([&] { options.layer_ndim = -1; });
      with([&] { options.layer_ndim = 32; });
      with([&] { options.layer_ndim = INT32_MAX; });
      with([&] { options.layer_ndim = 1; });
      const uint64_t zero_layer[] = {0}, huge_layer[] = {UINT64_MAX}, odd_layer[] = {3};
      for (const uint64_t* layer : {zero_layer, huge_layer, odd_layer}) {
        with([&] { options.layer_ndim = 1, options.layer_shape = layer; });
      }
    }
  }
  free_communicators(communicators);
}

// Of every collective function beside the gathers: one thing wrong, on all ranks or on the last alone.
TEST_F(WrongCallsOfMpi, CollectiveCalls) {
  auto communicators = good_communicators();
  for (const auto& [name, comm] : communicators) {
    SCOPED_TRACE(name);
    const auto ranks = static_cast<size_t>(size_of(comm));
    const MPI_Comm on = comm;
    std::vector<float> mine(8 * ranks, 1.5f), all(8 * ranks);
    const std::vector<uint64_t> eights(ranks, 8), huge(ranks, UINT64_MAX);
    struct Given {
      uint64_t count = 8;
      MPI_Datatype type = MPI_FLOAT;
      int root = 0;
      const char* bound = "abs=1";
      const void* send = nullptr;
      void* recv = nullptr;
      const uint64_t *counts = nullptr, *displs = nullptr;
    };
    const auto call_all = [&](const Given& g) {
      expect_same("neve_mpi_allgather", on,
                  neve_mpi_allgather(g.send, g.count, g.type, g.recv, on, g.bound, nullptr));
      expect_same(
          "neve_mpi_allgatherv", on,
          neve_mpi_allgatherv(g.send, g.count, g.type, g.recv, g.counts, g.displs, on, g.bound, nullptr));
      expect_same("neve_mpi_alltoall", on,
                  neve_mpi_alltoall(g.send, g.count, g.type, g.recv, on, g.bound, nullptr));
      expect_same("neve_mpi_alltoallv", on,
                  neve_mpi_alltoallv(g.send, g.counts, g.displs, g.type, g.recv, g.counts, g.displs, on,
                                     g.bound, nullptr));
      expect_same("neve_mpi_scatter", on,
                  neve_mpi_scatter(g.send, g.count, g.type, g.recv, g.root, on, g.bound, nullptr));
      expect_same("neve_mpi_scatterv", on,
                  neve_mpi_scatterv(g.send, g.counts, g.displs, g.type, g.recv, g.count, g.root, on, g.bound,
                                    nullptr));
      expect_same("neve_mpi_bcast", on,
                  neve_mpi_bcast(g.recv, g.count, g.type, g.root, on, g.bound, nullptr));
    };
    for (const bool on_all : {true, false}) {
      const bool is_wrong = on_all || rank_in(comm) == size_of(comm) - 1;
      const auto with = [&](auto change) {
        Given given;
        given.send = mine.data(), given.recv = all.data(), given.counts = eights.data();
        if (is_wrong) change(given);
        call_all(given);
      };
      with([](Given& g) { g.send = g.recv = nullptr; });
      with([](Given& g) { g.count = UINT64_MAX, g.counts = nullptr; });
      with([&](Given& g) { g.count = (uint64_t{1} << 40) + 1, g.counts = huge.data(); });
      with([](Given& g) { g.type = MPI_DATATYPE_NULL; });
      with([](Given& g) { g.type = MPI_LONG_DOUBLE; });
      for (const char* bound : {"", "abs=0", "ratio=0", "magic"}) with([&](Given& g) { g.bound = bound; });
    }
    for (const int root : {-1, size_of(comm), INT32_MIN, MPI_PROC_NULL}) {
      const bool is_wrong = rank_in(comm) == size_of(comm) - 1;
      const int given = is_wrong ? root : 0;
      expect_same("neve_mpi_bcast", on,
                  neve_mpi_bcast(all.data(), 8, MPI_FLOAT, given, on, "abs=1", nullptr));
      expect_same("neve_mpi_scatter", on,
                  neve_mpi_scatter(mine.data(), 8, MPI_FLOAT, all.data(), given, on, "abs=1", nullptr));
    }
    expect_same("neve_mpi_bcast", on, neve_mpi_bcast(MPI_IN_PLACE, 8, MPI_FLOAT, 0, on, "abs=1", nullptr));
    expect_same("neve_mpi_allgather", on,
                neve_mpi_allgather(mine.data(), 8, MPI_FLOAT, MPI_IN_PLACE, on, "abs=1", nullptr));
    expect_same("neve_mpi_alltoallv", on,
                neve_mpi_alltoallv(mine.data(), eights.data(), huge.data(), MPI_FLOAT, all.data(),
                                   eights.data(), nullptr, on, "abs=1", nullptr));
  }
  free_communicators(communicators);
}

TEST_F(WrongCallsOfMpi, GatheringWithWrongArgumentsAtRoot) {
  auto communicators = good_communicators();
  for (const auto& [name, comm] : communicators) {
    SCOPED_TRACE(name);
    const auto ranks = static_cast<size_t>(size_of(comm));
    std::vector<float> mine(8, 1.5f), all(8 * ranks);
    const std::vector<uint64_t> counts(ranks, 8), zeros(ranks, 0), huge(ranks, UINT64_MAX);
    const auto root_only = [&](void* recv, const uint64_t* c, const uint64_t* d) {
      expect_same("neve_mpi_gatherv", comm,
                  neve_mpi_gatherv(mine.data(), 8, MPI_FLOAT, recv, c, d, 0, comm, nullptr, nullptr));
    };
    root_only(nullptr, counts.data(), nullptr);
    root_only(all.data(), nullptr, nullptr);
    root_only(all.data(), huge.data(), nullptr);
    root_only(all.data(), counts.data(), huge.data());
    if (ranks > 1) root_only(all.data(), zeros.data(), nullptr);
    expect_same("neve_mpi_gather", comm,
                neve_mpi_gather(mine.data(), 8, MPI_FLOAT, nullptr, 0, comm, nullptr, nullptr));
    if (ranks > 1) {
      const bool is_last = rank_in(comm) == size_of(comm) - 1;
      expect_same("neve_mpi_gather", comm,
                  neve_mpi_gather(is_last ? MPI_IN_PLACE : mine.data(), 8, MPI_FLOAT, all.data(), 0, comm,
                                  nullptr, nullptr));
    }
  }
  free_communicators(communicators);
}

TEST_F(WrongCallsOfMpi, SendingAndReceiving) {
  auto communicators = good_communicators();
  for (const auto& [name, comm] : communicators) {
    SCOPED_TRACE(name);
    float values[8] = {};
    const auto send = [&](const void* from, uint64_t count, MPI_Datatype type, int dest, int tag,
                          const char* bound) {
      refused("neve_mpi_send", neve_mpi_send(from, count, type, dest, tag, comm, bound, nullptr), NEVE_USAGE);
    };
    const auto receive = [&](void* to, uint64_t count, MPI_Datatype type, int source, int tag) {
      refused("neve_mpi_recv", neve_mpi_recv(to, count, type, source, tag, comm, nullptr, nullptr, nullptr),
              NEVE_USAGE);
    };
    send(nullptr, 8, MPI_FLOAT, 0, 0, nullptr);
    receive(nullptr, 8, MPI_FLOAT, 0, 0);
    for (const int peer : {-77, size_of(comm), INT32_MIN, INT32_MAX}) {
      send(values, 8, MPI_FLOAT, peer, 0, nullptr);
      receive(values, 8, MPI_FLOAT, peer, 0);
    }
    send(values, 8, MPI_FLOAT, MPI_ANY_SOURCE, 0, nullptr);
    for (const int tag : {-77, INT32_MIN}) {
      send(values, 8, MPI_FLOAT, 0, tag, nullptr);
      receive(values, 8, MPI_FLOAT, 0, tag);
    }
    send(values, 8, MPI_FLOAT, 0, MPI_ANY_TAG, nullptr);
    for (const MPI_Datatype type : {MPI_DATATYPE_NULL, MPI_CHAR, MPI_C_DOUBLE_COMPLEX}) {
      send(values, 8, type, 0, 0, nullptr);
      receive(values, 8, type, 0, 0);
    }
    for (const char* bound : {"", "abs=0", "ratio=0", "\xff"}) send(values, 8, MPI_FLOAT, 0, 0, bound);
    for (const uint64_t count : {uint64_t{1} << 63, UINT64_MAX})
      send(values, count, MPI_FLOAT, 0, 0, nullptr);

    // Nobody: as MPI has it.
    EXPECT_EQ(neve_mpi_send(values, 8, MPI_FLOAT, MPI_PROC_NULL, 0, comm, nullptr, nullptr), NEVE_OK)
        << neve_last_error();
    uint64_t received = 99;
    MPI_Status status;
    float untouched = 7;
    EXPECT_EQ(neve_mpi_recv(&untouched, 1, MPI_FLOAT, MPI_PROC_NULL, 3, comm, nullptr, &received, &status),
              NEVE_OK)
        << neve_last_error();
    EXPECT_EQ(received, 0u);
    EXPECT_EQ(status.MPI_SOURCE, MPI_PROC_NULL);
    EXPECT_EQ(status.MPI_TAG, MPI_ANY_TAG);
    EXPECT_EQ(untouched, 7);
  }
  free_communicators(communicators);
}

TEST_F(WrongCallsOfMpi, OpeningFrameFiles) {
  auto communicators = good_communicators();
  for (const auto& [name, comm] : communicators) {
    SCOPED_TRACE(name);
    const std::string target = path(comm);
    neve_mpi_file* file = nullptr;
    float values[8] = {};
    for (const bool on_all : {true, false}) {
      const bool is_wrong = on_all || rank_in(comm) == size_of(comm) - 1;
      const auto open = [&](const char* to, int mode, neve_mpi_file** out) {
        expect_same("neve_mpi_file_open", comm, neve_mpi_file_open(comm, to, mode, out));
        EXPECT_EQ(file, nullptr);
      };
      open(is_wrong ? nullptr : target.c_str(), NEVE_MPI_FILE_CREATE, &file);
      open(target.c_str(), NEVE_MPI_FILE_CREATE, is_wrong ? nullptr : &file);
      for (const int mode : {-1, 3, INT32_MIN, INT32_MAX}) {
        open(target.c_str(), is_wrong ? mode : NEVE_MPI_FILE_CREATE, &file);
      }
    }
    if (size_of(comm) > 1) {
      const std::string own = target + "_of_rank_" + std::to_string(rank_in(comm));
      expect_same("neve_mpi_file_open", comm,
                  neve_mpi_file_open(comm, own.c_str(), NEVE_MPI_FILE_CREATE, &file));
    }
    refused("neve_mpi_file_open", neve_mpi_file_open(comm, target.c_str(), NEVE_MPI_FILE_READ, &file),
            NEVE_FAILURE);
    const auto expect = [](const char* function, int code) { refused(function, code, NEVE_USAGE); };
    int dtype = 0;
    expect("neve_mpi_file_describe", neve_mpi_file_describe(nullptr, &dtype, nullptr));
    expect("neve_mpi_file_write_at_all",
           neve_mpi_file_write_at_all(nullptr, 0, values, 8, MPI_FLOAT, nullptr, nullptr));
    expect("neve_mpi_file_write_at",
           neve_mpi_file_write_at(nullptr, 0, values, 8, MPI_FLOAT, nullptr, nullptr));
    expect("neve_mpi_file_read_at_all", neve_mpi_file_read_at_all(nullptr, 0, values, 8, MPI_FLOAT, nullptr));
    expect("neve_mpi_file_read_at", neve_mpi_file_read_at(nullptr, 0, values, 8, MPI_FLOAT, nullptr));
    expect("neve_mpi_file_sync", neve_mpi_file_sync(nullptr));
    expect("neve_mpi_file_close", neve_mpi_file_close(nullptr));
    expect("neve_mpi_file_close", neve_mpi_file_close(&file));
  }
  free_communicators(communicators);
}

TEST_F(WrongCallsOfMpi, WritingAndReadingFrameFiles) {
  auto communicators = good_communicators();
  for (const auto& [name, comm] : communicators) {
    SCOPED_TRACE(name);
    const std::string target = path(comm);
    neve_mpi_file* file = nullptr;
    float values[8] = {};
    const auto expect = [](const char* function, int code) { refused(function, code, NEVE_USAGE); };
    ASSERT_EQ(neve_mpi_file_open(comm, target.c_str(), NEVE_MPI_FILE_CREATE, &file), NEVE_OK)
        << neve_last_error();
    expect("neve_mpi_file_read_at", neve_mpi_file_read_at(file, 0, values, 8, MPI_FLOAT, nullptr));
    expect_same("neve_mpi_file_read_at_all", comm,
                neve_mpi_file_read_at_all(file, 0, values, 8, MPI_FLOAT, nullptr));
    for (const bool on_all : {true, false}) {
      const bool is_wrong = on_all || rank_in(comm) == size_of(comm) - 1;
      const auto write = [&](uint64_t offset, const void* from, uint64_t count, MPI_Datatype type,
                             const char* bound) {
        expect_same("neve_mpi_file_write_at_all", comm,
                    neve_mpi_file_write_at_all(file, is_wrong ? offset : 0, is_wrong ? from : values,
                                               is_wrong ? count : 8, is_wrong ? type : MPI_FLOAT,
                                               is_wrong ? bound : "abs=1", nullptr));
        if (is_wrong) {
          expect("neve_mpi_file_write_at",
                 neve_mpi_file_write_at(file, offset, from, count, type, bound, nullptr));
        }
      };
      write(0, nullptr, 8, MPI_FLOAT, "abs=1");
      for (const uint64_t huge : {uint64_t{1} << 40, uint64_t{1} << 63, UINT64_MAX}) {
        write(huge, values, 8, MPI_FLOAT, "abs=1");
        if (huge > uint64_t{1} << 40) write(0, values, huge, MPI_FLOAT, "abs=1");
      }
      for (const MPI_Datatype type : {MPI_DATATYPE_NULL, MPI_CHAR}) write(0, values, 8, type, "abs=1");
      for (const char* bound : {"", "abs=0", "ratio=0", "\xff"}) write(0, values, 8, MPI_FLOAT, bound);
    }
    // Whether what failed is to be published is not asked here: whatever close says, nothing may stay.
    (void)neve_mpi_file_close(&file);
    EXPECT_EQ(file, nullptr);
    if (rank_in(comm) == 0) std::filesystem::remove(target);
    MPI_Barrier(comm);
  }
  free_communicators(communicators);
}

TEST_F(WrongCallsOfMpi, Reading) {
  refused("open_plotfile", open_plotfile("").status(), Code::failure);
  refused("open_plotfile", open_plotfile(directory_ + "/none").status(), Code::failure);
  refused("open_checkpoint", open_checkpoint("").status(), Code::failure);
  const Plot plot(MPI_COMM_SELF);
  const std::string file = directory_ + "/plot" + std::to_string(world_rank());
  const std::string folder = directory_ + "/amrex" + std::to_string(world_rank());
  const std::string state = directory_ + "/state" + std::to_string(world_rank());
  ASSERT_TRUE(write_plotfile(MPI_COMM_SELF, file, plot.hierarchy, plot.owned, {}).ok());
  ASSERT_TRUE(write_amrex_plotfile(MPI_COMM_SELF, folder, plot.hierarchy, plot.owned).ok());
  const std::vector<Variable> variables = {{"thickness", {"u", "v"}}};
  const std::vector<std::vector<LocalBox>> boxes = {plot.owned};
  ASSERT_TRUE(write_checkpoint(MPI_COMM_SELF, state, plot.hierarchy, variables, boxes, {}).ok());
  refused("open_checkpoint", open_checkpoint(file).status());
  for (const std::string& one : {file, folder}) {
    auto source = open_plotfile(one);
    ASSERT_TRUE(source.ok()) << source.status().message();
    std::vector<std::byte> out(64 * sizeof(double));
    for (const int number : {-1, 77, INT32_MIN, INT32_MAX}) {
      refused("PlotfileSource::read_box", (*source)->read_box(number, 0, 0, out.data()));
      refused("PlotfileSource::read_box", (*source)->read_box(0, number, 0, out.data()));
      refused("PlotfileSource::read_box", (*source)->read_box(0, 0, number, out.data()));
      refused("PlotfileSource::read_components", (*source)->read_components(number, 0, 0, 1, out.data()));
      refused("PlotfileSource::read_components", (*source)->read_components(0, number, 0, 1, out.data()));
      refused("PlotfileSource::read_components", (*source)->read_components(0, 0, number, 1, out.data()));
      refused("PlotfileSource::read_components", (*source)->read_components(0, 0, 1, number, out.data()));
      for (const Result<bool>& read : {(*source)->read_cells(number, 0, 0, 0, 1, out.data()),
                                       (*source)->read_cells(0, number, 0, 0, 1, out.data()),
                                       (*source)->read_cells(0, 0, number, 0, 1, out.data()),
                                       (*source)->read_cells(0, 0, 0, number, 1, out.data()),
                                       (*source)->read_cells(0, 0, 0, 0, number, out.data())}) {
        survived("PlotfileSource::read_cells", !read.ok() || !*read);
      }
      survived("PlotfileSource::place", (*source)->place(number, 0) == 0 && (*source)->place(0, number) == 0);
      survived("PlotfileSource::stored_ghosts", (*source)->stored_ghosts(number) == IntVect{0, 0, 0});
      survived("PlotfileSource::stated_range",
               !(*source)->stated_range(number, 0) && !(*source)->stated_range(0, number));
      const auto left_out = (*source)->left_out(0, 0, number);
      survived("PlotfileSource::left_out", !left_out.ok() || left_out->empty());
    }
    refused("PlotfileSource::read_box", (*source)->read_box(0, 0, 0, nullptr));
    refused("PlotfileSource::read_components", (*source)->read_components(0, 0, 0, 1, nullptr));
    (*source)->expect_all();
    survived("PlotfileSource::expect_all", (*source)->read_box(0, 0, 0, out.data()).ok());
    survived("PlotfileSource::hierarchy", (*source)->hierarchy().components.size() == 2);
    survived("PlotfileSource::left_behind", (*source)->left_behind().empty());
    survived("PlotfileSource::remarks", (*source)->remarks().empty());
    survived("PlotfileSource::kind", !(*source)->kind().empty());
  }
  auto checkpoint = open_checkpoint(state);
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.status().message();
  std::vector<std::byte> out(64 * sizeof(double));
  for (const int number : {-1, 77, INT32_MIN, INT32_MAX}) {
    refused("Checkpoint::read_box", (*checkpoint)->read_box(number, 0, 0, 0, out.data()));
    refused("Checkpoint::read_box", (*checkpoint)->read_box(0, number, 0, 0, out.data()));
    refused("Checkpoint::read_box", (*checkpoint)->read_box(0, 0, number, 0, out.data()));
    refused("Checkpoint::read_box", (*checkpoint)->read_box(0, 0, 0, number, out.data()));
    survived("Checkpoint::place", (*checkpoint)->place(number, 0, 0) == 0 &&
                                      (*checkpoint)->place(0, number, 0) == 0 &&
                                      (*checkpoint)->place(0, 0, number) == 0);
  }
  (*checkpoint)->expect_all();
  survived("Checkpoint::expect_all", (*checkpoint)->read_box(0, 0, 0, 0, out.data()).ok());
  refused("Checkpoint::read_box", (*checkpoint)->read_box(0, 0, 0, 0, nullptr));
  survived("Checkpoint::hierarchy", (*checkpoint)->hierarchy().levels.size() == 1);
  survived("Checkpoint::variables", (*checkpoint)->variables().size() == 1);
  for (const std::string& one : {file, folder, state}) std::filesystem::remove_all(one);
}

TEST_F(WrongCallsOfMpi, OfTheFiltersParameters) {
  unsigned words[NEVE_MAX_FILTER_WORDS];
  size_t count = NEVE_MAX_FILTER_WORDS;
  const auto parameters = [&](const char* text, unsigned* to, size_t* room) {
    refused("neve_filter_parameters", neve_filter_parameters(text, to, room), NEVE_USAGE);
  };
  parameters(nullptr, words, &count);
  parameters("abs = 1.0", nullptr, &count);
  parameters("abs = 1.0", words, nullptr);
  for (const char* text :
       {"abs", "rel = 0.1", "abs = -1.0", "codec = \"none\"", "{", "abs = 1.0, nothing = 2"}) {
    parameters(text, words, &count);
  }
  for (size_t room : {size_t{0}, size_t{1}, size_t{9}}) parameters("abs = 1.0", words, &room);
  ASSERT_EQ(neve_filter_parameters("abs = 0.5, effort = \"max\"", words, &count), NEVE_OK)
      << neve_last_error();
  char text[64];
  size_t bytes = sizeof text;
  const auto text_of = [&](const unsigned* from, size_t length, char* to, size_t* room) {
    refused("neve_filter_text", neve_filter_text(from, length, to, room), NEVE_USAGE);
  };
  text_of(nullptr, count, text, &bytes);
  text_of(words, count, text, nullptr);
  for (size_t room : {size_t{0}, size_t{1}, size_t{25}}) text_of(words, count, text, &room);
  for (size_t length = 1; length < count; ++length) text_of(words, length, text, &bytes);
  ASSERT_EQ(neve_filter_text(words, count, nullptr, &bytes), NEVE_OK);
  EXPECT_EQ(bytes, 26U);
  ASSERT_EQ(neve_filter_text(words, count, text, &bytes), NEVE_OK);
  EXPECT_STREQ(text, "abs = 0.5, effort = \"max\"");
  survived("neve_filter_id", neve_filter_id() == NEVE_FILTER_ID);
}

TEST_F(WrongCallsOfMpi, FieldNamesInQuotes) {
  const auto options =
      parse_write_options(R"(field:"a=b;c"=abs=0.5;field:"q\"\\"=lossless;field:u:v=rel=1e-2)");
  ASSERT_TRUE(options.ok()) << options.status().message();
  EXPECT_EQ(options->fields.at("a=b;c").bound, (Bound{BoundMode::abs, 0.5}));
  EXPECT_EQ(options->fields.at("q\"\\").bound->mode, BoundMode::lossless);
  EXPECT_EQ(options->fields.at("u:v").bound, (Bound{BoundMode::rel, 1e-2}));
}

}  // namespace
}  // namespace neve
