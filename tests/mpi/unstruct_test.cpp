// SPDX-License-Identifier: BSD-3-Clause
// The unstructured mini-app: shells that fill what they should, the same on any number of ranks, read back.
#include <cmath>
#include <map>
#include <numbers>

#include "bench/apps/unstruct/benchmark.hpp"
#include "tests/mpi/generated.hpp"

namespace neve::unstruct {
namespace {

using test::world_rank;

std::array<double, 3> minus(const std::array<float, 3>& a, const std::array<float, 3>& b) {
  std::array<double, 3> difference;
  for (size_t d = 0; d < 3; ++d) difference[d] = static_cast<double>(a[d]) - b[d];
  return difference;
}

double triple(const std::array<double, 3>& u, const std::array<double, 3>& v,
              const std::array<double, 3>& w) {
  return (u[1] * v[2] - u[2] * v[1]) * w[0] + (u[2] * v[0] - u[0] * v[2]) * w[1] +
         (u[0] * v[1] - u[1] * v[0]) * w[2];
}

TEST(Shells, FillABallWithoutItsInside) {
  if (world_rank() != 0) return;
  ShellOptions options;
  const ShellGrid grid = shell_grid(30000);
  EXPECT_NEAR(static_cast<double>(grid.points()), 30000, 6000);
  const Shells s = make_shells(options, grid, 0, 0, 0, 1);
  ASSERT_EQ(s.points.size(), grid.points());
  double volume = 0;
  for (const auto& wedge : s.wedges) {
    const auto point = [&](size_t c) { return s.points[static_cast<size_t>(wedge[c])]; };
    // Three tetrahedra; each must be right side out.
    for (const auto& t : {std::array<size_t, 4>{3, 4, 5, 0}, {4, 5, 0, 1}, {5, 0, 1, 2}}) {
      const double six = triple(minus(point(t[1]), point(t[0])), minus(point(t[2]), point(t[0])),
                                minus(point(t[3]), point(t[0])));
      volume += std::abs(six) / 6;
    }
    ASSERT_GT(triple(minus(point(1), point(0)), minus(point(2), point(0)), minus(point(3), point(0))), 0)
        << "the first triangle faces the second";
  }
  EXPECT_NEAR(volume, 4.0 / 3 * std::numbers::pi * (1 - std::pow(options.inner, 3)), 0.05);
  std::map<std::pair<int, int>, int> edges;
  for (const auto& t : s.triangles) {
    for (size_t c = 0; c < 3; ++c) ++edges[{t[c], t[(c + 1) % 3]}];
  }
  for (const auto& [edge, count] : edges) {
    ASSERT_EQ(count, 1);
    ASSERT_TRUE(edges.contains({edge.second, edge.first})) << "a hole in the outermost layer";
  }
}

TEST(Shells, DoNotDependOnTheRanks) {
  if (world_rank() != 0) return;
  ShellOptions options;
  options.change_roundness = true;
  const ShellGrid grid = shell_grid(3000);
  const Shells alone = make_shells(options, grid, 0.6, 3, 0, 1);
  for (const int ranks : {2, 7, 50}) {
    Shells together;
    for (int rank = 0; rank < ranks; ++rank) {
      const Shells part = make_shells(options, grid, 0.6, 3, rank, ranks);
      const auto append = [](auto& to, const auto& from) { to.insert(to.end(), from.begin(), from.end()); };
      append(together.points, part.points);
      append(together.noise, part.noise);
      append(together.wedges, part.wedges);
      append(together.triangles, part.triangles);
    }
    EXPECT_EQ(together.points, alone.points);
    EXPECT_EQ(together.noise, alone.noise);
    EXPECT_EQ(together.wedges, alone.wedges);
    EXPECT_EQ(together.triangles, alone.triangles);
  }
}

TEST(Unstruct, EveryOutputBringsBackWhatWasWritten) {
  const std::string directory = test::make_directory("unstruct");
  Case c;
  c.shells.points = 3000;
  c.chunk_rows = 700;
  c.steps = 2;
  c.store = {directory, true, false};
  for (const std::string& name : apps::output_names()) {
    const apps::Output output = *apps::parse_output(name);
    // Numbers of points do not shrink by szip, which neither HDF5 1.10 nor ADIOS can note.
    if (output.container != apps::Output::Container::plotfile && !name.ends_with("szip"))
      c.outputs.push_back(output);
  }
  const auto result = run_benchmark(MPI_COMM_WORLD, c);
  ASSERT_TRUE(result.ok()) << result.status().message();
  for (size_t o = 0; o < c.outputs.size(); ++o) {
    const apps::StoreResult &values = result->values[o], &cells = result->connectivity[o];
    EXPECT_EQ(values.wrong_values + cells.wrong_values, 0u) << values.name;
    EXPECT_EQ(values.verified_values, 2 * 4 * result->points) << values.name;
    EXPECT_EQ(cells.verified_values, 2 * (6 * result->wedges + 3 * result->triangles)) << values.name;
    EXPECT_EQ(values.max_abs_error > 0, c.outputs[o].lossy) << values.name;
    EXPECT_EQ(cells.max_abs_error, 0) << cells.name;
  }
  c.outputs = {*apps::parse_output("hdf5-szip")};
  EXPECT_EQ(run_benchmark(MPI_COMM_WORLD, c).status().code(), Code::failure);
  c.outputs = {*apps::parse_output("neve")};
  EXPECT_EQ(run_benchmark(MPI_COMM_WORLD, c).status().code(), Code::usage);
  test::remove_directory(directory);
}

}  // namespace
}  // namespace neve::unstruct
