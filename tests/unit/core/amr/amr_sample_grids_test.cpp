// SPDX-License-Identifier: BSD-3-Clause
#include "core/amr/sample_grids.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "core/amr/load_balance.hpp"

namespace neve::amr {
namespace {

// Every box of a finer level lies on cells that the coarser level has.
void expect_nested(const Hierarchy& h) {
  for (size_t l = 1; l < h.levels.size(); ++l) {
    const Level& coarse = h.levels[l - 1];
    for (const Box& fine : h.levels[l].boxes) {
      const Box below = coarsen(fine, coarse.ref_ratio);
      int64_t cells = 0;
      for (const Box& box : coarse.boxes) cells += intersect(box, below).cells();
      ASSERT_EQ(cells, below.cells()) << "level " << l;
    }
  }
}

TEST(SampleGrids, ChomboUnitsCountAsThePaperSays) {
  const struct {
    IntVect replicas;
    size_t boxes[3];
  } cases[] = {{{1, 1, 1}, {1, 32, 192}}, {{4, 4, 4}, {64, 2048, 12288}}, {{8, 8, 8}, {512, 16384, 98304}}};
  for (const auto& expected : cases) {
    ChomboGrid grid;
    grid.replicas = expected.replicas;
    const Result<Hierarchy> h = chombo_grid(grid);
    ASSERT_TRUE(h.ok());
    ASSERT_EQ(h->levels.size(), 3u);
    for (size_t l = 0; l < 3; ++l) {
      EXPECT_EQ(h->levels[l].boxes.size(), expected.boxes[l]);
      EXPECT_TRUE(std::is_sorted(h->levels[l].boxes.begin(), h->levels[l].boxes.end(),
                                 [](const Box& a, const Box& b) { return a.lo < b.lo; }));
    }
  }
}

TEST(SampleGrids, ChomboGridIsAValidNestedHierarchyAtAnyBoxSize) {
  for (int cells : {1, 4, 7, 64}) {
    for (const IntVect replicas : {IntVect{1, 1, 1}, IntVect{2, 1, 3}}) {
      ChomboGrid grid;
      grid.box_cells = cells;
      grid.replicas = replicas;
      grid.components = 3;
      const Result<Hierarchy> h = chombo_grid(grid);
      ASSERT_TRUE(h.ok());
      const Status status = check_hierarchy(*h);
      EXPECT_TRUE(status.ok()) << status.message();
      EXPECT_EQ(h->components.size(), 3u);
      expect_nested(*h);
    }
  }
}

TEST(SampleGrids, IceGridIsWhatThePaperSaysOfIts) {
  for (const IceFile file : {IceFile::plot, IceFile::checkpoint}) {
    IceGrid grid;
    grid.file = file;
    const Result<Hierarchy> h = ice_grid(grid);
    ASSERT_TRUE(h.ok());
    const Status status = check_hierarchy(*h);
    ASSERT_TRUE(status.ok()) << status.message();
    expect_nested(*h);
    ASSERT_EQ(h->levels.size(), 5u);
    EXPECT_EQ(h->levels[0].domain, (Box{{0, 0, 0}, {767, 767, 0}}));
    const std::vector<Box>& finest = h->levels[4].boxes;
    EXPECT_EQ(finest.size(), 896u);
    const auto [least, most] = std::minmax_element(
        finest.begin(), finest.end(), [](const Box& a, const Box& b) { return a.cells() < b.cells(); });
    EXPECT_EQ(least->cells(), 256);
    EXPECT_EQ(most->cells(), 4096);
    std::set<int64_t> sizes;
    for (const Box& box : finest) sizes.insert(box.cells());
    EXPECT_GE(sizes.size(), 5u) << "boxes of varying size";
    // At most 6 boxes of the finest level on one of 576 ranks; "1.56" a rank is 896 / 576.
    const Owners owners = share_boxes(*h, 576, cell_loads(*h), DistributionMethod::chombo);
    std::vector<int> of_rank(576, 0);
    for (int rank : owners[4]) ++of_rank[static_cast<size_t>(rank)];
    EXPECT_LE(*std::max_element(of_rank.begin(), of_rank.end()), 6);
  }
}

TEST(SampleGrids, CheckpointVariablesHaveAsManyComponentsAsAskedFor) {
  const int all = ice_components(IceFile::checkpoint);
  for (int components : {1, 2, 3, 15, 20, all}) {
    const auto variables = checkpoint_variables(components);
    ASSERT_TRUE(variables.ok());
    int found = 0;
    std::set<std::string> names;
    for (const SampleVariable& variable : *variables) {
      found += variable.components;
      names.insert(variable.name);
    }
    EXPECT_EQ(found, components);
    EXPECT_EQ(names.size(), variables->size());
  }
  EXPECT_EQ((*checkpoint_variables(2))[0].ghosts, 5);
  EXPECT_EQ((*checkpoint_variables(2))[1].ghosts, 4);
  EXPECT_EQ(checkpoint_variables(0).status().code(), Code::usage);
  EXPECT_EQ(checkpoint_variables(all + 1).status().code(), Code::usage);
}

TEST(SampleGrids, IceGridScalesWithItsTiles) {
  IceGrid grid;
  grid.tile_cells = 2;
  const Result<Hierarchy> h = ice_grid(grid), full = ice_grid({});
  ASSERT_TRUE(h.ok());
  EXPECT_TRUE(check_hierarchy(*h).ok());
  for (size_t l = 0; l < h->levels.size(); ++l) {
    ASSERT_EQ(h->levels[l].boxes.size(), full->levels[l].boxes.size());
    for (size_t b = 0; b < h->levels[l].boxes.size(); ++b) {
      EXPECT_EQ(h->levels[l].boxes[b].cells() * 64, full->levels[l].boxes[b].cells());
    }
  }
}

TEST(SampleGrids, RefusesWhatMakesNoGrid) {
  ChomboGrid none;
  none.box_cells = 0;
  EXPECT_EQ(chombo_grid(none).status().code(), Code::usage);
  ChomboGrid flat;
  flat.replicas = {1, 0, 1};
  EXPECT_EQ(chombo_grid(flat).status().code(), Code::usage);
  IceGrid ice;
  ice.components = 0;
  EXPECT_EQ(ice_grid(ice).status().code(), Code::usage);
}

}  // namespace
}  // namespace neve::amr
