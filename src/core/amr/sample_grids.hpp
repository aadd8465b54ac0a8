// SPDX-License-Identifier: BSD-3-Clause
// The grids of Devendran et al., "Collective I/O Optimizations for Adaptive Mesh Refinement Data Writes on
// Lustre File System": what their figures and tables say of them, made anew and the same on every machine.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "neve/hierarchy.hpp"
#include "neve/status.hpp"

namespace neve::amr {

// The Chombo I/O benchmark. One unit is a cube of 1 box, refined by 4 twice: 4x4x2 boxes of level 1 lie in it
// and 8x12x2 of level 2, all of box_cells^3; where they lie is fitted to Table I (docs/io-model.md). replicas
// says how often the unit stands along x, y, z. With boxes of 64^3, one layer of ghosts and 2 components of 8
// bytes (4,599,936 bytes a box) 4x4x4, 8x8x8 and 16x8x8 units are the paper's files of 61, 494 and 987 GB.
// Boxes in Chombo's order.
struct ChomboGrid {
  IntVect replicas{1, 1, 1};
  int box_cells = 64;
  int components = 2;
  DType dtype = DType::f64;
};
// Layers around the boxes of such a grid, as plans and benchmarks take them.
inline constexpr int max_sample_ghosts = 64;
// Of a box or tile, and of values in each cell.
inline constexpr int max_sample_box_cells = 1024, max_sample_components = 1024;

inline constexpr int chombo_boxes_per_unit = 225;
inline constexpr int chombo_ghosts = 1;
// Writes of such a file that are not data: Table I has 115,268 MPI-IO writes for 115,200 boxes.
inline constexpr int chombo_metadata_writes = 68;
Result<Hierarchy> chombo_grid(const ChomboGrid& grid);

// BISICLES writes plot files at other moments than checkpoints: the grid has moved on.
enum class IceFile : uint8_t { plot, checkpoint };

// A grid like that of the BISICLES Antarctica benchmark: 2D, 48 x 48 tiles on the coarsest of 5 levels (768^2
// cells of tiles of 16^2), ratio 2, boxes of 1 to 16 tiles, refined towards a grounding line that winds
// around the middle; 896 boxes on the finest level. How wide the levels are and how they are clustered is
// fitted to Tables II and III: as many boxes of each shape as there are writes of its size. Boxes in Chombo's
// order.
struct IceGrid {
  IceFile file = IceFile::plot;
  int tile_cells = 16;
  int components = 15;
  DType dtype = DType::f64;
};
inline constexpr int ice_finest_boxes = 896;
Result<Hierarchy> ice_grid(const IceGrid& grid);

// What a dataset of such a file holds on each level.
struct SampleVariable {
  std::string name;
  int components = 1;
  int ghosts = 0;  // layers around every box
};
inline constexpr int ice_plot_ghosts = 1;
// Writes of a file that are not data: of aggregated files those of which Tables II and III tell the size, 69
// + 51 + 40 in a checkpoint and 23 + 13 + 9 in three plot files. There are more.
int ice_metadata_writes(IceFile file);
// Of a plot file's 15 components in one dataset, of a checkpoint's variables together.
int ice_components(IceFile file);

// The variables of a checkpoint: the first of BISICLES' that have `components` together, the last of them cut
// where it has more. The paper's sizes of writes are boxes of 16, 32, 48 and 64 cells a side with 15
// components and one layer of ghosts (plot files: 18 x 34 x 15 x 8 = 73,440 bytes) or one component and 4 or
// 5 layers (checkpoints: 26 x 42 x 8 = 8736 bytes). How many variables have 4 and 5 layers is fitted to Table
// II, the layered ones to the size of the file: 477 stripes of 4 MiB. Usage error unless there are 1 to
// ice_components(IceFile::checkpoint).
Result<std::vector<SampleVariable>> checkpoint_variables(int components);

}  // namespace neve::amr
