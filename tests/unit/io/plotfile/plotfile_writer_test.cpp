// SPDX-License-Identifier: BSD-3-Clause
// Plotfiles put together from the writer's pieces, read back by the reader.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>

#include "io/plotfile/amrex_reader.hpp"
#include "io/plotfile/amrex_writer.hpp"
#include "tests/support/temp_dir.hpp"

namespace neve::plotfile {
namespace {

namespace fs = std::filesystem;

using test::TempDir;

// Ghost cells around the values show that strides are honoured.
constexpr int64_t pad = 2;

template <class T>
struct PaddedBox {
  PaddedBox(const Box& box, int components, int dims) {
    const int64_t nx = box.size(0) + 2 * pad;
    const int64_t ny = box.size(1) + (dims > 1 ? 2 * pad : 0);
    const int64_t nz = box.size(2) + (dims > 2 ? 2 * pad : 0);
    values.assign(static_cast<size_t>(nx * ny * nz * components), T(-1e30));
    data.component_stride = nx * ny * nz;
    data.stride = {1, nx, nx * ny, nx * ny * nz};
    first = pad + (dims > 1 ? pad * nx : 0) + (dims > 2 ? pad * nx * ny : 0);
    data.data = values.data() + first;
  }
  T& at(int64_t c, int64_t x, int64_t y, int64_t z) {
    return values[static_cast<size_t>(first + c * data.component_stride + x + y * data.stride[1] +
                                      z * data.stride[2])];
  }
  std::vector<T> values;
  int64_t first = 0;
  BoxData data;
};

Hierarchy small_hierarchy(int dims, DType dtype) {
  const auto flat = [dims](Box b) {
    for (size_t d = static_cast<size_t>(dims); d < 3; ++d) b.lo[d] = b.hi[d] = 0;
    return b;
  };
  Hierarchy h;
  h.dims = dims;
  h.dtype = dtype;
  h.components = {"u", "v w", "z"};
  h.time = 0.1;
  h.prob_lo = {-1, 0, 0};
  h.prob_hi = {1, 0.7, 3};
  h.coord_sys = 1;
  h.levels.resize(2);
  h.levels[0].domain = flat({{0, 0, 0}, {15, 6, 8}});
  h.levels[0].boxes = {flat({{0, 0, 0}, {7, 6, 8}}), flat({{8, 0, 0}, {15, 6, 8}})};
  h.levels[1].domain = flat({{0, 0, 0}, {63, 27, 35}});
  h.levels[1].boxes = {flat({{4, 0, 4}, {11, 3, 7}}), flat({{20, 4, 4}, {27, 7, 7}}),
                       flat({{40, 0, 0}, {43, 3, 3}})};
  for (size_t d = 0; d < static_cast<size_t>(dims); ++d) {
    h.levels[0].ref_ratio[d] = 4;
    h.levels[0].dx[d] =
        (h.prob_hi[d] - h.prob_lo[d]) / static_cast<double>(h.levels[0].domain.size(static_cast<int>(d)));
    h.levels[1].dx[d] = h.levels[0].dx[d] / 4;
  }
  h.levels[0].step = 12;
  h.levels[1].step = 48;
  h.levels[0].time = h.levels[1].time = 0.1;
  return h;
}

double value_at(int level, int64_t box, int64_t c, int64_t x, int64_t y, int64_t z) {
  return 1000.0 * level + 100.0 * static_cast<double>(box) + 10.0 * static_cast<double>(c) +
         0.125 * static_cast<double>(x) - 0.25 * static_cast<double>(y) + 0.5 * static_cast<double>(z);
}

template <class Visit>
void for_each_value(const Box& box, Visit visit) {
  for (int64_t c = 0; c < 3; ++c) {
    for (int64_t z = 0; z < box.size(2); ++z) {
      for (int64_t y = 0; y < box.size(1); ++y) {
        for (int64_t x = 0; x < box.size(0); ++x) visit(c, x, y, z);
      }
    }
  }
}

template <class T>
void write_level(const std::string& path, const Hierarchy& h, int l, const std::vector<FabPlace>& places) {
  fs::create_directories(path + "/" + level_directory(l));
  std::vector<FabExtremes> extremes;
  for (size_t i = 0; i < places.size(); ++i) {
    const Box& b = h.levels[static_cast<size_t>(l)].boxes[i];
    const auto value = [&](int64_t c, int64_t x, int64_t y, int64_t z) {
      return value_at(l, static_cast<int64_t>(i), c, x, y, z);
    };
    PaddedBox<T> box(b, 3, h.dims);
    for_each_value(b, [&](int64_t c, int64_t x, int64_t y, int64_t z) {
      box.at(c, x, y, z) = static_cast<T>(value(c, x, y, z));
    });
    const std::string file = path + "/" + level_directory(l) + "/" + places[i].file;
    const int fd = ::open(file.c_str(), O_WRONLY | O_CREAT, 0644);
    ASSERT_GE(fd, 0);
    const Status status = write_fab(fd, file, places[i].offset_bytes, h, b, box.data);
    ::close(fd);
    ASSERT_TRUE(status.ok()) << status.message();
    extremes.push_back(fab_extremes(h, b, box.data));
    EXPECT_EQ(extremes.back().max[2], value(2, b.size(0) - 1, 0, b.size(2) - 1));
    EXPECT_EQ(extremes.back().min[1], value(1, 0, b.size(1) - 1, 0));
  }
  test::write_file(path + "/" + fab_array_header_path(l), fab_array_header_text(h, l, places, extremes));
}

template <class T>
void expect_level(PlotfileSource& source, const Hierarchy& h, int l) {
  const Level& level = h.levels[static_cast<size_t>(l)];
  const Level& found = source.hierarchy().levels[static_cast<size_t>(l)];
  EXPECT_EQ(found.boxes, level.boxes);
  EXPECT_EQ(found.ref_ratio, level.ref_ratio);
  EXPECT_EQ(found.step, level.step);
  for (size_t d = 0; d < static_cast<size_t>(h.dims); ++d) {
    EXPECT_EQ(found.dx[d], level.dx[d]) << "numbers keep every bit";
  }
  for (size_t i = 0; i < level.boxes.size(); ++i) {
    const Box& b = level.boxes[i];
    std::vector<T> values(static_cast<size_t>(3 * b.cells()));
    for (int c = 0; c < 3; ++c) {
      T* const of_component = values.data() + c * b.cells();
      ASSERT_TRUE(
          source.read_box(l, static_cast<int>(i), c, reinterpret_cast<std::byte*>(of_component)).ok());
    }
    size_t at = 0;
    for_each_value(b, [&](int64_t c, int64_t x, int64_t y, int64_t z) {
      ASSERT_EQ(values[at++], static_cast<T>(value_at(l, static_cast<int64_t>(i), c, x, y, z)));
    });
  }
}

template <class T>
void write_read(int dims, DType dtype) {
  const TempDir dir;
  const std::string path = dir / "plt";
  const Hierarchy h = small_hierarchy(dims, dtype);
  ASSERT_TRUE(check_hierarchy(h).ok()) << check_hierarchy(h).message();
  const auto places = plan_fabs(h, {{1, 0}, {0, 2, 0}});
  EXPECT_EQ(places[1][1].file, "Cell_D_00002");
  EXPECT_EQ(places[1][2].offset_bytes, fab_bytes(h, h.levels[1].boxes[0]))
      << "behind the first box of rank 0";
  for (int l = 0; l < 2; ++l) {
    ASSERT_NO_FATAL_FAILURE(write_level<T>(path, h, l, places[static_cast<size_t>(l)]));
  }
  test::write_file(path + "/Header", plotfile_header_text(h));

  auto opened = open_amrex_plotfile(path);
  ASSERT_TRUE(opened.ok()) << opened.status().message();
  const Hierarchy& r = (*opened)->hierarchy();
  EXPECT_EQ(r.dims, dims);
  EXPECT_EQ(r.dtype, dtype);
  EXPECT_EQ(r.components, h.components);
  EXPECT_EQ(r.time, h.time);
  EXPECT_EQ(r.coord_sys, 1);
  for (size_t d = 0; d < static_cast<size_t>(dims); ++d) EXPECT_EQ(r.prob_hi[d], h.prob_hi[d]);
  for (int l = 0; l < 2; ++l) ASSERT_NO_FATAL_FAILURE(expect_level<T>(**opened, h, l));
}

TEST(AmrexWriter, Writes1D) { write_read<double>(1, DType::f64); }
TEST(AmrexWriter, Writes2D) { write_read<double>(2, DType::f64); }
TEST(AmrexWriter, Writes2DSinglePrecision) { write_read<float>(2, DType::f32); }
TEST(AmrexWriter, Writes3DSinglePrecision) { write_read<float>(3, DType::f32); }

TEST(AmrexWriter, ExtremesPassOverNan) {
  Hierarchy h = small_hierarchy(1, DType::f64);
  h.components = {"a"};
  const Box box{{0, 0, 0}, {3, 0, 0}};
  const double nan = std::numeric_limits<double>::quiet_NaN();
  std::vector<double> values{nan, 3, -2, nan};
  BoxData data;
  data.data = values.data();
  data.component_stride = 4;
  data.stride = {1, 4, 4, 4};
  FabExtremes found = fab_extremes(h, box, data);
  EXPECT_EQ(found.min[0], -2);
  EXPECT_EQ(found.max[0], 3);
  values = {nan, nan, nan, nan};
  found = fab_extremes(h, box, data);
  EXPECT_TRUE(std::isnan(found.min[0]));
  EXPECT_TRUE(std::isnan(found.max[0]));
}

// As a walk through the values, one after another, finds them: the first of equal zeros stays.
TEST(AmrexWriter, ExtremesOfRunsAreThoseOfAWalk) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> kinds = {0.0, -0.0, 1.5, -2.5, nan, infinity, -infinity, 3.0};
  Hierarchy h;
  h.components = {"a"};
  uint64_t state = 1;
  for (int round = 0; round < 2000; ++round) {
    const size_t of_kinds = 1 + static_cast<size_t>(round) % kinds.size();
    const size_t first_kind = static_cast<size_t>(round / 8) % kinds.size();
    std::vector<double> values(1 + static_cast<size_t>(round) % 37);
    double min = nan, max = nan;
    for (double& value : values) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      value = kinds[(first_kind + (state >> 33) % of_kinds) % kinds.size()];
      if (std::isnan(value)) continue;
      if (!(value >= min)) min = value;
      if (!(value <= max)) max = value;
    }
    FabExtremes found;
    const uint64_t half = values.size() / 2;
    const auto* bytes = reinterpret_cast<const std::byte*>(values.data());
    merge_extremes(h, 0, half, bytes, found);
    merge_extremes(h, 0, values.size() - half, bytes + half * sizeof(double), found);
    EXPECT_EQ(std::memcmp(&found.min[0], &min, sizeof min), 0) << round << ": " << found.min[0] << " " << min;
    EXPECT_EQ(std::memcmp(&found.max[0], &max, sizeof max), 0) << round << ": " << found.max[0] << " " << max;
  }
}

TEST(AmrexWriter, WritesABoxLargerThanOnePiece) {
  Hierarchy h = small_hierarchy(3, DType::f64);
  h.components = {"a"};
  const Box box{{0, 0, 0}, {127, 127, 63}};
  std::vector<double> values(static_cast<size_t>(box.cells()));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i);
  BoxData data;
  data.data = values.data();
  data.component_stride = box.cells();
  data.stride = {1, 128, 128 * 128, box.cells()};
  const TempDir dir;
  const std::string path = dir / "fab";
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT, 0644);
  ASSERT_TRUE(write_fab(fd, path, 0, h, box, data).ok());
  ASSERT_EQ(fs::file_size(path), static_cast<uintmax_t>(fab_bytes(h, box)));
  std::vector<double> found(values.size());
  const auto header = static_cast<off_t>(fab_header_text(h, box).size());
  ASSERT_EQ(::pread(fd, found.data(), found.size() * 8, header), static_cast<ssize_t>(found.size() * 8));
  ::close(fd);
  EXPECT_EQ(found, values);
}

TEST(AmrexWriter, NamesTheFileItCannotWrite) {
  const Hierarchy h = small_hierarchy(1, DType::f64);
  const int fd = ::open("/dev/full", O_WRONLY);
  if (fd < 0) GTEST_SKIP() << "no /dev/full here";
  PaddedBox<double> box(h.levels[0].boxes[0], 3, 1);
  const Status status = write_fab(fd, "Cell_D_00000", 0, h, h.levels[0].boxes[0], box.data);
  ::close(fd);
  EXPECT_EQ(status.code(), Code::failure);
  EXPECT_NE(status.message().find("Cell_D_00000"), std::string::npos) << status.message();
  EXPECT_NE(status.message().find("No space left"), std::string::npos) << status.message();
}

TEST(AmrexWriter, RefusesSideFilesThatLeadAway) {
  EXPECT_TRUE(check_side_file_name("job_info").ok());
  EXPECT_TRUE(check_side_file_name("..notes").ok());
  for (const std::string name : {"", ".", "..", "../x", "a/b", "/etc/passwd", "Header", "Level_0"}) {
    EXPECT_EQ(check_side_file_name(name).code(), Code::usage) << name;
  }
  EXPECT_EQ(check_side_file_name(std::string("a\0b", 3)).code(), Code::usage);
}

}  // namespace
}  // namespace neve::plotfile
