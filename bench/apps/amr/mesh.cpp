// SPDX-License-Identifier: BSD-3-Clause
#include "bench/apps/amr/mesh.hpp"

#include <algorithm>
#include <cmath>
#include <string>

namespace neve::amr_app {
namespace {

constexpr int ratio = 2;
constexpr size_t children = 8;

}  // namespace

Mesh::Mesh(const MeshOptions& options, int step) : options_(options), step_(step) {
  hierarchy_.dims = 3;
  hierarchy_.dtype = DType::f32;
  hierarchy_.time = step;
  for (int c = 0; c < options.components; ++c) {
    hierarchy_.components.push_back(c == 0 ? std::string("noise") : "noise" + std::to_string(c));
  }
  const int longest = *std::max_element(options.blocks.begin(), options.blocks.end());
  for (size_t d = 0; d < 3; ++d) hierarchy_.prob_hi[d] = static_cast<double>(options.blocks[d]) / longest;
}

// Cell centres, on an edge of at most 1.
void Mesh::noise_of(int level, const Block& block, int component, float* out) const {
  const int longest = *std::max_element(options_.blocks.begin(), options_.blocks.end());
  const double h =
      options_.space_frequency / (static_cast<double>(longest) * options_.block_cells * (1 << level));
  const apps::Noise noise(options_.seed + static_cast<uint64_t>(component));
  const int n = options_.block_cells;
  for (int z = 0; z < n; ++z) {
    for (int y = 0; y < n; ++y, out += n) {
      noise.row({{0.5 * h, (block[1] * n + y + 0.5) * h, (block[2] * n + z + 0.5) * h,
                  step_ * options_.time_frequency},
                 {h, 0, 0, 0}},
                int64_t{block[0]} * n, static_cast<size_t>(n), out);
    }
  }
}

bool Mesh::wants_refinement(int level, const Block& block) const {
  std::vector<float> values(
      static_cast<size_t>(options_.block_cells * options_.block_cells * options_.block_cells));
  noise_of(level, block, 0, values.data());
  const double threshold = options_.threshold * std::pow(options_.threshold_growth, level);
  return std::any_of(values.begin(), values.end(),
                     [&](float v) { return std::abs(static_cast<double>(v)) > threshold; });
}

Result<Mesh> Mesh::make(const mpi::Comm& comm, const MeshOptions& options, int step) {
  Mesh mesh(options, step);
  std::vector<Block> blocks;
  for (int z = 0; z < options.blocks[2]; ++z) {
    for (int y = 0; y < options.blocks[1]; ++y) {
      for (int x = 0; x < options.blocks[0]; ++x) blocks.push_back({x, y, z});
    }
  }
  const int n = options.block_cells;
  for (int level = 0; !blocks.empty(); ++level) {
    Level& made = mesh.hierarchy_.levels.emplace_back();
    made.step = step;
    made.time = step;
    for (size_t d = 0; d < 3; ++d) {
      const int cells = options.blocks[d] * n << level;
      made.domain.hi[d] = cells - 1;
      made.dx[d] = mesh.hierarchy_.prob_hi[d] / cells;
    }
    for (const Block& block : blocks) {
      Box box;
      for (size_t d = 0; d < 3; ++d) {
        box.lo[d] = block[d] * n;
        box.hi[d] = box.lo[d] + n - 1;
      }
      made.boxes.push_back(box);
    }
    std::set<Block>& refined = mesh.refined_.emplace_back();
    if (level + 1 == options.levels) break;
    std::vector<uint8_t> wanted(blocks.size(), 0);
    const auto ranks = static_cast<size_t>(comm.size());
    for (size_t b = static_cast<size_t>(comm.rank()); b < blocks.size(); b += ranks) {
      wanted[b] = mesh.wants_refinement(level, blocks[b]) ? 1 : 0;
    }
    NEVE_TRY(mpi::mpi_status(MPI_Allreduce(MPI_IN_PLACE, wanted.data(), static_cast<int>(wanted.size()),
                                           MPI_UINT8_T, MPI_MAX, comm.get()),
                             "merging of what is refined"));
    std::vector<Block> finer;
    for (size_t b = 0; b < blocks.size(); ++b) {
      if (wanted[b] == 0) continue;
      refined.insert(blocks[b]);
      for (size_t child = 0; child < children; ++child) {
        Block block;
        for (size_t d = 0; d < 3; ++d) block[d] = ratio * blocks[b][d] + static_cast<int>(child >> d & 1);
        finer.push_back(block);
      }
    }
    if (!finer.empty()) made.ref_ratio = {ratio, ratio, ratio};
    blocks = std::move(finer);
  }
  NEVE_TRY(mpi::agree(comm, check_hierarchy(mesh.hierarchy_)));
  return mesh;
}

void Mesh::fill_block(int level, const Block& block, int component, float* out) const {
  if (!refined_[static_cast<size_t>(level)].contains(block)) return noise_of(level, block, component, out);
  const int n = options_.block_cells, half = n / 2;
  std::vector<float> fine(static_cast<size_t>(n * n * n));
  for (size_t child = 0; child < children; ++child) {
    Block below;
    std::array<int, 3> first;
    for (size_t d = 0; d < 3; ++d) {
      const int side = static_cast<int>(child >> d & 1);
      below[d] = ratio * block[d] + side;
      first[d] = side * half;
    }
    fill_block(level + 1, below, component, fine.data());
    for (int z = 0; z < half; ++z) {
      for (int y = 0; y < half; ++y) {
        for (int x = 0; x < half; ++x) {
          double sum = 0;
          for (int k = 0; k < ratio; ++k) {
            for (int j = 0; j < ratio; ++j) {
              for (int i = 0; i < ratio; ++i) {
                sum += static_cast<double>(
                    fine[static_cast<size_t>(ratio * x + i + n * (ratio * y + j + n * (ratio * z + k)))]);
              }
            }
          }
          out[first[0] + x + n * (first[1] + y + n * (first[2] + z))] = static_cast<float>(sum / children);
        }
      }
    }
  }
}

void Mesh::fill(int level, int box, int component, float* out) const {
  const Box& b = hierarchy_.levels[static_cast<size_t>(level)].boxes[static_cast<size_t>(box)];
  const int n = options_.block_cells;
  fill_block(level, {b.lo[0] / n, b.lo[1] / n, b.lo[2] / n}, component, out);
}

}  // namespace neve::amr_app
