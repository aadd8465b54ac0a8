// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "neve/hierarchy.hpp"

namespace neve {
namespace {

Hierarchy two_levels() {
  Hierarchy h;
  h.components = {"density", "Temp"};
  h.levels.resize(2);
  h.levels[0].domain = {{0, 0, 0}, {15, 15, 15}};
  h.levels[0].boxes = {{{0, 0, 0}, {7, 15, 15}}, {{8, 0, 0}, {15, 15, 15}}};
  h.levels[0].ref_ratio = {2, 2, 2};
  h.levels[1].domain = {{0, 0, 0}, {31, 31, 31}};
  h.levels[1].boxes = {{{8, 8, 8}, {15, 15, 15}}};
  return h;
}

TEST(CheckHierarchy, AcceptsTwoLevels) { EXPECT_TRUE(check_hierarchy(two_levels()).ok()); }

struct Fault {
  const char* name;
  std::function<void(Hierarchy&)> plant;
  const char* words;  // of the message
};

class CheckHierarchyFault : public testing::TestWithParam<Fault> {};

TEST_P(CheckHierarchyFault, IsRefusedByName) {
  Hierarchy h = two_levels();
  GetParam().plant(h);
  const Status status = check_hierarchy(h);
  EXPECT_EQ(status.code(), Code::usage);
  EXPECT_NE(status.message().find(GetParam().words), std::string::npos) << status.message();
}

INSTANTIATE_TEST_SUITE_P(
    Faults, CheckHierarchyFault,
    testing::Values(
        Fault{"dims", [](Hierarchy& h) { h.dims = 4; }, "hierarchy has 4 dimensions; 1 to 3"},
        Fault{"no_levels", [](Hierarchy& h) { h.levels.clear(); }, "no levels"},
        Fault{"no_components", [](Hierarchy& h) { h.components.clear(); }, "0 components"},
        Fault{"empty_name", [](Hierarchy& h) { h.components[1] = ""; }, "component 1 has an empty name"},
        Fault{"same_name", [](Hierarchy& h) { h.components[1] = "density"; }, "'density'"},
        Fault{"line_break", [](Hierarchy& h) { h.components[1] = "a\nb"; }, "component 1 holds a line break"},
        Fault{"inverted", [](Hierarchy& h) { h.levels[1].boxes[0].hi[1] = 3; },
              "box 0 of level 1 is ((8,8,8) (15,3,15) (0,0,0)): hi below lo"},
        Fault{"outside", [](Hierarchy& h) { h.levels[0].boxes[1].hi[0] = 16; },
              "box 1 of level 0 is ((8,0,0) (16,15,15) (0,0,0)), outside"},
        Fault{"overlap", [](Hierarchy& h) { h.levels[0].boxes[1].lo[0] = 7; },
              "boxes 0 and 1 of level 0 overlap"},
        Fault{"no_boxes", [](Hierarchy& h) { h.levels[1].boxes.clear(); }, "level 1 has no boxes"},
        Fault{"ratio_zero", [](Hierarchy& h) { h.levels[0].ref_ratio[2] = 0; },
              "ref_ratio of level 0 in direction 2 is 0"},
        Fault{"ratio_on_finest", [](Hierarchy& h) { h.levels[1].ref_ratio[0] = 2; }, "finest"},
        Fault{"ratio_disagrees", [](Hierarchy& h) { h.levels[0].ref_ratio[1] = 4; },
              "domain of level 1 spans 0..31 in direction 1; level 0 refined by 4 spans 0..63"},
        Fault{"flat_direction", [](Hierarchy& h) { h.dims = 2; }, "direction 2; with 2 dimensions"},
        Fault{"dx", [](Hierarchy& h) { h.levels[1].dx[0] = 0; }, "dx of level 1 in direction 0 is 0"},
        Fault{"prob", [](Hierarchy& h) { h.prob_hi[1] = std::nan(""); }, "direction 1"},
        Fault{"far_index", [](Hierarchy& h) { h.levels[1].domain.hi[0] = 2147483647; }, "indices must lie"},
        Fault{"too_many_cells",
              [](Hierarchy& h) {
                h.levels.resize(1);
                h.levels[0].ref_ratio = {1, 1, 1};
                h.levels[0].domain = {{0, 0, 0}, {1 << 29, 1 << 29, 1 << 29}};
                h.levels[0].boxes = {h.levels[0].domain};
              },
              "level 0 has more than"}),
    [](const testing::TestParamInfo<Fault>& i) { return std::string(i.param.name); });

TEST(CheckHierarchy, CopesWithManyBoxes) {
  Hierarchy h;
  h.components = {"a"};
  h.levels.resize(1);
  h.levels[0].domain = {{0, 0, 0}, {399, 399, 399}};
  for (int z = 0; z < 50; ++z) {
    for (int y = 0; y < 50; ++y) {
      for (int x = 0; x < 50; ++x) {
        h.levels[0].boxes.push_back({{8 * x, 8 * y, 8 * z}, {8 * x + 7, 8 * y + 7, 8 * z + 7}});
      }
    }
  }
  EXPECT_TRUE(check_hierarchy(h).ok());
  h.levels[0].boxes.push_back({{399, 399, 399}, {399, 399, 399}});
  EXPECT_NE(check_hierarchy(h).message().find("boxes 124999 and 125000 of level 0 overlap"),
            std::string::npos)
      << check_hierarchy(h).message();
}

// One outlier among tiny boxes puts them all in one cell of any even grid.
TEST(CheckHierarchy, CopesWithManyClusteredBoxes) {
  Hierarchy h;
  h.dims = 2;
  h.components = {"a"};
  h.levels.resize(1);
  h.levels[0].domain = {{0, 0, 0}, {1 << 20, 1 << 20, 0}};
  for (int y = 0; y < 320; ++y) {
    for (int x = 0; x < 320; ++x) h.levels[0].boxes.push_back({{x, y, 0}, {x, y, 0}});
  }
  h.levels[0].boxes.push_back({{1000, 1000, 0}, {1 << 20, 1 << 20, 0}});
  EXPECT_TRUE(check_hierarchy(h).ok());
}

}  // namespace
}  // namespace neve
