// SPDX-License-Identifier: BSD-3-Clause
// Triangles where a field has a value, by marching tetrahedra (Doi and Koide 1991): a cube of grid points is
// six tetrahedra around its diagonal, alike in all cubes, so surfaces of neighbours fit without tables or
// ambiguities.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "bench/harness/boxes.hpp"

namespace neve::cartiso {

struct Surface {
  std::vector<std::array<float, 3>> points, normals;  // normals point to smaller values
  std::vector<std::array<int32_t, 3>> triangles;      // counterclockwise seen from where normals point
};

// Layers of points that `values` has around a box, so that gradients are the same in every decomposition.
inline constexpr int surface_halo = 1;

// Of the cubes whose lowest points lie in the box. `values` holds the box grown by surface_halo below and
// surface_halo + 1 above in each direction, x fastest; points are at number * spacing.
Surface isosurface(const apps::GridBox& box, const std::vector<float>& values, float level,
                   const std::array<double, 3>& spacing);

}  // namespace neve::cartiso
