// SPDX-License-Identifier: BSD-3-Clause
// Blocks of cells of several levels, finer where the noise is far from 0; a function of the options and the
// step alone.
#pragma once

#include <array>
#include <cstdint>
#include <set>
#include <vector>

#include "bench/harness/noise/noise.hpp"
#include "neve/hierarchy.hpp"
#include "neve/status.hpp"
#include "parallel/comm/agree.hpp"

namespace neve::amr_app {

struct MeshOptions {
  std::array<int, 3> blocks{8, 8, 8};  // of the coarsest level
  int block_cells = 8;                 // edge of a block, even
  int levels = 3;                      // at most
  double threshold = 0.4;              // a block is refined where |noise| is above in one of its cells
  double threshold_growth = 1.2;       // of the threshold from level to level
  double space_frequency = 6;          // noise cells across the longest edge
  double time_frequency = 0.15;        // noise cells a step
  int components = 2;
  uint64_t seed = 1;
};

class Mesh {
 public:
  // Collective: ranks look at different blocks. The mesh of a step: regridding is making another.
  static Result<Mesh> make(const mpi::Comm& comm, const MeshOptions& options, int step);

  const Hierarchy& hierarchy() const { return hierarchy_; }
  // The values of a box of the hierarchy, x fastest. Where a finer level lies above, the mean of its cells.
  void fill(int level, int box, int component, float* out) const;

 private:
  using Block = std::array<int, 3>;

  Mesh(const MeshOptions& options, int step);
  bool wants_refinement(int level, const Block& block) const;
  void noise_of(int level, const Block& block, int component, float* out) const;
  void fill_block(int level, const Block& block, int component, float* out) const;

  MeshOptions options_;
  int step_;
  std::vector<std::set<Block>> refined_;  // blocks of a level that have children
  Hierarchy hierarchy_;
};

}  // namespace neve::amr_app
