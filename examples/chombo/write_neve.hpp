// SPDX-License-Identifier: BSD-3-Clause
// Chombo's LevelData as a Neve plotfile, with the arguments of WriteAMRHierarchyHDF5. docs/block-codes.md
// says how to build it.
#pragma once

#include <AMRIO.H>
#include <LevelData.H>
#include <neve/plotfile_writer.hpp>

#include <map>
#include <string>
#include <vector>

inline neve::Box to_neve(const Box& box) {
  neve::Box r;
  for (int d = 0; d < CH_SPACEDIM; ++d) {
    r.lo[d] = box.smallEnd(d);
    r.hi[d] = box.bigEnd(d);
  }
  return r;
}

// Collective. The arguments of WriteAMRHierarchyHDF5, without dt, then the options.
inline neve::Result<neve::WriteReport> WriteNeve(const std::string& path,
                                                 const Vector<DisjointBoxLayout>& grids,
                                                 const Vector<LevelData<FArrayBox>*>& data,
                                                 const Vector<std::string>& names, const Box& domain, Real dx,
                                                 Real time, const Vector<int>& ratios, int levels,
                                                 const neve::WriteOptions& options) {
  neve::Hierarchy h;
  h.dims = CH_SPACEDIM;
  h.dtype = sizeof(Real) == 4 ? neve::DType::f32 : neve::DType::f64;
  for (size_t c = 0; c < names.size(); ++c) h.components.push_back(names[c]);
  h.time = time;
  for (int d = 0; d < CH_SPACEDIM; ++d) {
    h.prob_lo[d] = dx * domain.smallEnd(d);
    h.prob_hi[d] = dx * (domain.bigEnd(d) + 1);
  }
  Box of_level = domain;
  std::vector<neve::LocalBox> mine;
  for (int l = 0; l < levels; ++l) {
    neve::Level& level = h.levels.emplace_back();
    level.domain = to_neve(of_level);
    level.time = time;
    for (int d = 0; d < CH_SPACEDIM; ++d) {
      level.dx[d] = dx;
      if (l + 1 < levels) level.ref_ratio[d] = ratios[l];
    }
    // LayoutIterator goes through the boxes of all ranks.
    std::map<unsigned, int> number;
    for (LayoutIterator box = grids[l].layoutIterator(); box.ok(); ++box) {
      number[grids[l].index(box())] = int(level.boxes.size());
      level.boxes.push_back(to_neve(grids[l][box()]));
    }
    for (DataIterator box = data[l]->dataIterator(); box.ok(); ++box) {
      const FArrayBox& fab = (*data[l])[box()];
      const Box& all = fab.box();
      const Box& own = grids[l][box()];
      neve::LocalBox local{l, number[grids[l].index(box())], {}};
      int64_t first = 0, stride = 1;
      for (int d = 0; d < CH_SPACEDIM; ++d) {
        local.data.stride[d] = stride;
        first += stride * (own.smallEnd(d) - all.smallEnd(d));
        local.ghosts[d] = own.smallEnd(d) - all.smallEnd(d);
        stride *= all.size(d);
      }
      local.data.component_stride = stride;
      local.data.data = fab.dataPtr() + first;
      mine.push_back(local);
    }
    if (l + 1 == levels) break;
    dx /= ratios[l];
    of_level.refine(ratios[l]);
  }
  return neve::write_plotfile(Chombo_MPI::comm, path, h, mine, options);
}
