// SPDX-License-Identifier: BSD-3-Clause
// The AMR mini-app: its mesh is the same on any number of ranks, moves, and comes back by every strategy.
#include <algorithm>
#include <cmath>

#include "bench/apps/amr/benchmark.hpp"
#include "tests/mpi/generated.hpp"

namespace neve::amr_app {
namespace {

class AmrApp : public testing::Test {
 protected:
  AmrApp() : directory_(test::make_directory("amr_app")) {}
  ~AmrApp() override { test::remove_directory(directory_); }

  Case small_case(const std::vector<std::string>& methods) const {
    Case c;
    c.mesh.blocks = {3, 2, 2};
    c.mesh.block_cells = 4;
    c.mesh.space_frequency = 3;
    c.mesh.threshold = 0.2;
    c.store = {directory_, true, false};
    for (const std::string& name : methods) c.methods.push_back(*parse_method(name));
    return c;
  }

  std::string directory_;
};

TEST_F(AmrApp, TheMeshDoesNotDependOnTheRanksAndMoves) {
  const Case c = small_case({"skeleton"});
  const mpi::Comm world = std::move(*mpi::Comm::duplicate(MPI_COMM_WORLD));
  const mpi::Comm self = std::move(*mpi::Comm::duplicate(MPI_COMM_SELF));
  std::vector<std::vector<Box>> finest;
  for (const int step : {0, 5}) {
    const auto together = Mesh::make(world, c.mesh, step), alone = Mesh::make(self, c.mesh, step);
    ASSERT_TRUE(together.ok() && alone.ok());
    const Hierarchy& h = together->hierarchy();
    ASSERT_EQ(h.levels.size(), 3u);
    for (size_t l = 0; l < 3; ++l) EXPECT_EQ(h.levels[l].boxes, alone->hierarchy().levels[l].boxes);
    EXPECT_EQ(h.levels[0].boxes.size(), 12u);
    EXPECT_LT(h.levels[2].boxes.size(), 12u * 64) << "not refined everywhere";
    finest.push_back(h.levels[2].boxes);
  }
  EXPECT_NE(finest[0], finest[1]);
}

// A covered coarse cell is the mean of its eight finer ones.
TEST_F(AmrApp, CoarseCellsAreTheMeansOfFinerOnes) {
  const Case c = small_case({"skeleton"});
  const mpi::Comm self = std::move(*mpi::Comm::duplicate(MPI_COMM_SELF));
  const auto mesh = Mesh::make(self, c.mesh, 0);
  ASSERT_TRUE(mesh.ok());
  const Hierarchy& h = mesh->hierarchy();
  const Box& fine_box = h.levels[1].boxes.front();
  std::vector<float> fine(64), coarse(64);
  mesh->fill(1, 0, 1, fine.data());
  const Box within = coarsen(fine_box, {2, 2, 2});
  const auto& boxes = h.levels[0].boxes;
  const auto parent =
      std::find_if(boxes.begin(), boxes.end(), [&](const Box& b) { return b.contains(within); });
  ASSERT_NE(parent, boxes.end());
  mesh->fill(0, static_cast<int>(parent - boxes.begin()), 1, coarse.data());
  double sum = 0;
  for (size_t i : {0, 1, 4, 5, 16, 17, 20, 21}) sum += static_cast<double>(fine[i]);
  const auto at =
      static_cast<size_t>((within.lo[0] - parent->lo[0]) +
                          4 * ((within.lo[1] - parent->lo[1]) + 4 * (within.lo[2] - parent->lo[2])));
  EXPECT_NEAR(static_cast<double>(coarse[at]), sum / 8, 1e-7);
}

TEST_F(AmrApp, EveryMethodBringsBackWhatWasWritten) {
  const auto result = run_benchmark(
      MPI_COMM_WORLD,
      small_case({"skeleton", "aggregated", "collective", "independent", "skeleton:auto",
                  "aggregated:context", "filtered:dual_quant", "amrex-1d:auto", "skeleton:lossless"}));
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_TRUE(apps::check_stored(result->methods).ok()) << apps::check_stored(result->methods).message();
  uint64_t cells = 0;
  for (const StepResult& step : result->steps) {
    for (const uint64_t blocks : step.blocks) cells += blocks * 64;
  }
  for (const apps::StoreResult& method : result->methods) {
    const Method parsed = *parse_method(method.name);
    EXPECT_EQ(method.verified_values, cells * 2) << method.name;
    EXPECT_EQ(method.max_abs_error > 0, parsed.compress && parsed.codec != Codec::lossless) << method.name;
  }
  EXPECT_GT(result->steps[1].changed, 0);
  EXPECT_TRUE(test::list_directory(directory_).empty());
}

TEST_F(AmrApp, RefusesWhatMakesNoSense) {
  EXPECT_EQ(parse_method("striped").status().code(), Code::usage);
  EXPECT_EQ(parse_method("skeleton:jpeg").status().code(), Code::usage);
  Case odd = small_case({"skeleton"});
  odd.mesh.block_cells = 5;
  EXPECT_EQ(run_benchmark(MPI_COMM_WORLD, odd).status().code(), Code::usage);
  EXPECT_EQ(run_benchmark(MPI_COMM_WORLD, small_case({})).status().code(), Code::usage);
  // A strategy for frames alone.
  EXPECT_EQ(run_benchmark(MPI_COMM_WORLD, small_case({"filtered"})).status().code(), Code::usage);
}

}  // namespace
}  // namespace neve::amr_app
