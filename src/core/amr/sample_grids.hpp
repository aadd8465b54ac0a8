// SPDX-License-Identifier: BSD-3-Clause
// The grids of Devendran et al., "Collective I/O Optimizations for Adaptive Mesh Refinement Data Writes on
// Lustre File System": what their figures and tables say of them, made anew and the same on every machine.
#pragma once

#include "neve/hierarchy.hpp"
#include "neve/status.hpp"

namespace neve::amr {

// The Chombo I/O benchmark. One unit is a cube of 1 box, refined by 4 twice: 4x4x2 boxes of level 1 lie in it
// and 8x8x3 of level 2, all of box_cells^3. replicas says how often the unit stands along x, y, z. With boxes
// of 64^3, one layer of ghosts and 2 components of 8 bytes (4,599,936 bytes a box) 4x4x4, 8x8x8 and 16x8x8
// units are the paper's files of 61, 494 and 987 GB. Boxes in Chombo's order.
struct ChomboGrid {
  IntVect replicas{1, 1, 1};
  int box_cells = 64;
  int components = 2;
  DType dtype = DType::f64;
};
// Layers around the boxes of such a grid, as plans and benchmarks take them.
inline constexpr int max_sample_ghosts = 64;

inline constexpr int chombo_boxes_per_unit = 225;
inline constexpr int chombo_ghosts = 1;
Result<Hierarchy> chombo_grid(const ChomboGrid& grid);

// A grid like that of the BISICLES Antarctica benchmark: 2D, 48 x 48 tiles on the coarsest of 5 levels (768^2
// cells of tiles of 16^2), ratio 2, boxes of 1 to 16 tiles, refined towards a grounding line that winds
// around the middle; 896 boxes on the finest level. The paper's sizes of writes are boxes of 16, 32, 48 and
// 64 cells a side with 15 components and one layer of ghosts (plot files: 18 x 34 x 15 x 8 = 73,440 bytes) or
// one component and 4 or 5 layers (checkpoints: 26 x 42 x 8 = 8736 bytes). Boxes in Chombo's order.
struct IceGrid {
  int tile_cells = 16;
  int components = 15;
  DType dtype = DType::f64;
};
inline constexpr int ice_finest_boxes = 896;
inline constexpr int ice_plot_ghosts = 1;
Result<Hierarchy> ice_grid(const IceGrid& grid);

}  // namespace neve::amr
