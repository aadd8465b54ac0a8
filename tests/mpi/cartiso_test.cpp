// SPDX-License-Identifier: BSD-3-Clause
// The Cartesian mini-app: its field and surface are the same on any number of ranks, and come back.
#include "bench/apps/cartiso/benchmark.hpp"

#include <cmath>
#include <filesystem>
#include <map>
#include <numbers>
#include <utility>

#include "bench/apps/cartiso/isosurface.hpp"
#include "tests/mpi/generated.hpp"

namespace neve::cartiso {
namespace {

using test::world_rank;

class Cartiso : public testing::Test {
 protected:
  Cartiso() : directory_(test::make_directory("cartiso")) {}
  ~Cartiso() override { test::remove_directory(directory_); }

  Case small_case(const std::vector<std::string>& outputs) const {
    Case c;
    c.shape.points = {26, 24, 22};
    c.chunk = {16, 16, 16};
    c.chunk_rows = 500;
    c.store = {directory_, true, false};
    for (const std::string& name : outputs) c.outputs.push_back(*apps::parse_output(name));
    return c;
  }

  std::string directory_;
};

std::vector<std::string> all_but_szip() {
  // Points and numbers of triangles do not shrink by szip, which neither HDF5 1.10 nor ADIOS can note.
  std::vector<std::string> names = apps::output_names();
  std::erase_if(names, [](const std::string& name) { return name.ends_with("szip"); });
  return names;
}

// A sphere: known area and volume, no holes, turned outwards.
TEST(Isosurface, OfASphereIsClosedAndFacesOut) {
  if (world_rank() != 0) return;
  constexpr int n = 20;
  constexpr double radius = 0.35;
  const apps::GridBox cubes = {{0, 0, 0}, {n - 1, n - 1, n - 1}};
  std::vector<float> values;
  for (int z = -1; z <= n; ++z) {
    for (int y = -1; y <= n; ++y) {
      for (int x = -1; x <= n; ++x) {
        const double r2 =
            std::pow(x / 19.0 - 0.5, 2) + std::pow(y / 19.0 - 0.5, 2) + std::pow(z / 19.0 - 0.5, 2);
        values.push_back(static_cast<float>(radius * radius - r2));
      }
    }
  }
  const Surface s = isosurface(cubes, values, 0, {1 / 19.0, 1 / 19.0, 1 / 19.0});
  ASSERT_GT(s.triangles.size(), 500u);
  std::map<std::pair<int, int>, int> edges;
  double area = 0, volume = 0;
  for (const auto& t : s.triangles) {
    double p[3][3];
    for (size_t c = 0; c < 3; ++c) {
      ++edges[{t[c], t[(c + 1) % 3]}];
      for (size_t d = 0; d < 3; ++d)
        p[c][d] = static_cast<double>(s.points[static_cast<size_t>(t[c])][d]) - 0.5;
    }
    double u[3], v[3];
    for (int d = 0; d < 3; ++d) {
      u[d] = p[1][d] - p[0][d];
      v[d] = p[2][d] - p[0][d];
    }
    const double normal[3] = {u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2],
                              u[0] * v[1] - u[1] * v[0]};
    area += std::hypot(normal[0], normal[1], normal[2]) / 2;
    volume += (normal[0] * p[0][0] + normal[1] * p[0][1] + normal[2] * p[0][2]) / 6;
  }
  EXPECT_NEAR(area, 4 * std::numbers::pi * radius * radius, 0.02);
  EXPECT_NEAR(volume, 4.0 / 3 * std::numbers::pi * std::pow(radius, 3), 0.004);
  for (const auto& [edge, count] : edges) {
    ASSERT_EQ(count, 1);
    ASSERT_TRUE(edges.contains({edge.second, edge.first})) << "a hole";
  }
  const auto corners = static_cast<int64_t>(s.points.size()),
             faces = static_cast<int64_t>(s.triangles.size());
  EXPECT_EQ(corners - static_cast<int64_t>(edges.size()) / 2 + faces, 2) << "Euler";
  for (size_t i = 0; i < s.points.size(); ++i) {
    double along = 0;
    for (size_t d = 0; d < 3; ++d) along += (static_cast<double>(s.points[i][d]) - 0.5) * s.normals[i][d];
    ASSERT_NEAR(along, radius, 0.01);
  }
}

TEST_F(Cartiso, DoesNotDependOnTheRanks) {
  for (const Change change : {Change::gaussmove, Change::sin2gauss, Change::gaussresize}) {
    Case c = small_case({"raw"});
    c.shape.change = change;
    c.steps = 2;
    const auto together = run_benchmark(MPI_COMM_WORLD, c);
    ASSERT_TRUE(together.ok()) << together.status().message();
    c.store.folder = directory_ + "/" + std::to_string(world_rank());
    std::filesystem::create_directories(c.store.folder);
    const auto alone = run_benchmark(MPI_COMM_SELF, c);
    ASSERT_TRUE(alone.ok()) << alone.status().message();
    EXPECT_EQ(together->field_checksum, alone->field_checksum);
    EXPECT_EQ(together->triangles, alone->triangles);
    EXPECT_GT(alone->triangles, 0u);
    EXPECT_NEAR(together->area, alone->area, 1e-9);
    EXPECT_NEAR(together->volume, alone->volume, 1e-9);
    // Points between ranks are there for each.
    EXPECT_GE(together->points, alone->points);
  }
}

TEST_F(Cartiso, EveryOutputBringsBackWhatWasWritten) {
  const auto result = run_benchmark(MPI_COMM_WORLD, small_case(all_but_szip()));
  ASSERT_TRUE(result.ok()) << result.status().message();
  for (const auto* outputs : {&result->grid, &result->surface}) {
    EXPECT_TRUE(apps::check_stored(*outputs).ok()) << apps::check_stored(*outputs).message();
    for (const apps::StoreResult& output : *outputs) {
      const uint64_t values =
          outputs == &result->grid ? 26 * 24 * 22 : 7 * result->points + 3 * result->triangles;
      EXPECT_EQ(output.verified_values, values) << output.name;
      EXPECT_EQ(output.max_abs_error > 0, apps::parse_output(output.name)->lossy) << output.name;
    }
  }
  EXPECT_EQ(result->surface.size() + 3, result->grid.size()) << "plot files hold no triangles";
}

TEST_F(Cartiso, RefusesSzipOfASurfaceThatItCannotShrink) {
  for (const std::string name : {"hdf5-szip", "adios-mpi-szip"}) {
    if (!apps::parse_output(name).ok()) continue;
    const Status status = run_benchmark(MPI_COMM_WORLD, small_case({name})).status();
    EXPECT_EQ(status.code(), Code::failure);
    EXPECT_NE(status.message().find("szip cannot make"), std::string::npos) << status.message();
    MPI_Barrier(MPI_COMM_WORLD);  // rank 0 removes what the write left after all know of the failure
    EXPECT_TRUE(test::list_directory(directory_).empty());
  }
}

TEST_F(Cartiso, SzipOfAGridWithoutNoise) {
  Case c = small_case({"hdf5-szip"});
  c.shape.noise = 0;
  c.shape.wave = 0;
  c.chunk = c.shape.points;
  c.level = 50;
  const auto result = run_benchmark(MPI_COMM_WORLD, c);
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_TRUE(apps::check_stored(result->grid).ok()) << apps::check_stored(result->grid).message();
  EXPECT_GT(result->grid.front().ratio(), 1);
}

TEST_F(Cartiso, WithoutASurfaceFilesAreEmptyButThere) {
  Case c = small_case({"raw", "hdf5", "hdf5-neve"});
  if (apps::parse_output("adios-mpi-zlib").ok()) c.outputs.push_back(*apps::parse_output("adios-mpi-zlib"));
  c.level = 50;
  const auto result = run_benchmark(MPI_COMM_WORLD, c);
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_EQ(result->triangles, 0u);
  EXPECT_TRUE(apps::check_stored(result->grid).ok()) << apps::check_stored(result->grid).message();
  EXPECT_TRUE(apps::check_stored(result->surface).ok()) << apps::check_stored(result->surface).message();
}

}  // namespace
}  // namespace neve::cartiso
