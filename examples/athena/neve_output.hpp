// SPDX-License-Identifier: BSD-3-Clause
// The mesh blocks of Athena++ as a Neve plotfile. A problem's file includes it and calls WriteNeve from
// Mesh::UserWorkInLoop; docs/block-codes.md has the lines. For meshes of uniform cells.
#pragma once

#include <neve/options.hpp>
#include <neve/plotfile_writer.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "../athena.hpp"
#include "../athena_arrays.hpp"
#include "../field/field.hpp"
#include "../hydro/hydro.hpp"
#include "../mesh/mesh.hpp"

namespace neve_output {

// Level and place of each block of the mesh, four numbers a block; the same on every rank.
inline std::vector<std::int64_t> places_of_blocks(Mesh* pm) {
  std::vector<std::int64_t> places(4 * size_t(pm->nbtotal), 0);
  for (int i = 0; i < pm->nblocal; ++i) {
    const MeshBlock& b = *pm->my_blocks(i);
    const std::int64_t place[4] = {b.loc.level, b.loc.lx1, b.loc.lx2, b.loc.lx3};
    std::copy(place, place + 4, &places[4 * size_t(b.gid)]);
  }
  MPI_Allreduce(MPI_IN_PLACE, places.data(), int(places.size()), MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  return places;
}

// A level holds the blocks that are not refined further. The first level is the coarsest that has any.
// number[b]: which box of its level block b is.
inline neve::Hierarchy hierarchy_of(Mesh* pm, double time, const std::vector<std::int64_t>& places,
                                    std::vector<int>& number) {
  std::int64_t coarsest = places[0], finest = places[0];
  for (size_t b = 0; b < size_t(pm->nbtotal); ++b) {
    coarsest = std::min(coarsest, places[4 * b]);
    finest = std::max(finest, places[4 * b]);
  }
  const RegionSize &all = pm->mesh_size, &one = pm->my_blocks(0)->block_size;
  const double lo[] = {all.x1min, all.x2min, all.x3min}, hi[] = {all.x1max, all.x2max, all.x3max};
  const double width_of_one[] = {one.x1max - one.x1min, one.x2max - one.x2min, one.x3max - one.x3min};
  const int block_cells[] = {one.nx1, one.nx2, one.nx3};
  neve::Hierarchy h;
  h.dims = pm->ndim;
  h.dtype = sizeof(Real) == 4 ? neve::DType::f32 : neve::DType::f64;
  h.time = time;
  for (std::int64_t l = coarsest; l <= finest; ++l) {
    neve::Level& level = h.levels.emplace_back();
    level.step = pm->ncycle;
    level.time = time;
    for (int d = 0; d < h.dims; ++d) {
      h.prob_lo[d] = lo[d];
      h.prob_hi[d] = hi[d];
      const double width = std::ldexp(width_of_one[d], pm->my_blocks(0)->loc.level - int(l));
      level.domain.hi[d] = block_cells[d] * int(std::lround((hi[d] - lo[d]) / width)) - 1;
      level.dx[d] = (hi[d] - lo[d]) / (level.domain.hi[d] + 1);
      if (l < finest) level.ref_ratio[d] = 2;
    }
  }
  for (size_t b = 0; b < size_t(pm->nbtotal); ++b) {
    neve::Level& level = h.levels[size_t(places[4 * b] - coarsest)];
    neve::Box box;
    for (int d = 0; d < h.dims; ++d) {
      box.lo[d] = block_cells[d] * int(places[4 * b + 1 + size_t(d)]);
      box.hi[d] = box.lo[d] + block_cells[d] - 1;
    }
    number.push_back(int(level.boxes.size()));
    level.boxes.push_back(box);
  }
  return h;
}

}  // namespace neve_output

// Collective. Primitive variables, and the magnetic field of cells, which is another array: Neve reads both
// where they lie. `options`: "rel=1e-3;effort=balanced;behind=encode".
inline neve::Result<neve::WriteReport> WriteNeve(Mesh* pm, double time, const std::string& path,
                                                 const std::string& options) {
  const std::vector<std::int64_t> places = neve_output::places_of_blocks(pm);
  std::vector<int> number;
  neve::Hierarchy h = neve_output::hierarchy_of(pm, time, places, number);
  h.components = {"rho", "vel1", "vel2", "vel3"};
  if (NON_BAROTROPIC_EOS) h.components.push_back("press");
  if (MAGNETIC_FIELDS_ENABLED) h.components.insert(h.components.end(), {"Bcc1", "Bcc2", "Bcc3"});

  std::int64_t coarsest = places[0];
  for (size_t b = 0; b < places.size(); b += 4) coarsest = std::min(coarsest, places[b]);
  std::vector<std::vector<int64_t>> offsets;
  std::vector<neve::LocalBox> mine;
  const neve::Result<neve::WriteOptions> parsed = neve::parse_write_options(options);
  neve::Status given = parsed.status();
  for (int i = 0; i < pm->nblocal && given.ok(); ++i) {
    MeshBlock& b = *pm->my_blocks(i);
    AthenaArray<Real>& w = b.phydro->w;
    std::vector<const void*> begins;
    for (int n = 0; n < NHYDRO; ++n) begins.push_back(&w(n, b.ks, b.js, b.is));
    for (int n = 0; n < (MAGNETIC_FIELDS_ENABLED ? 3 : 0); ++n)
      begins.push_back(&b.pfield->bcc(n, b.ks, b.js, b.is));
    auto found = neve::component_offsets(h.dtype, begins);
    given = found.status();
    if (!found.ok()) break;
    offsets.push_back(std::move(*found));
    neve::LocalBox box;
    box.level = int(b.loc.level - coarsest);
    box.box = number[size_t(b.gid)];
    box.data.data = begins[0];
    box.data.stride = {1, w.GetDim1(), int64_t{w.GetDim1()} * w.GetDim2(), 0};
    box.data.component_offsets = offsets.back().data();
    box.ghosts = {b.is, b.js, b.ks};
    mine.push_back(box);
  }
  // `given`: an error of one rank becomes every rank's, and none waits for another.
  return neve::write_plotfile_if(MPI_COMM_WORLD, given, path, h, mine,
                                 parsed.ok() ? *parsed : neve::WriteOptions());
}
