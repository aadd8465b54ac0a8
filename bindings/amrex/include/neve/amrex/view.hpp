// SPDX-License-Identifier: BSD-3-Clause
// MultiFabs as Neve sees them: a Hierarchy, and boxes whose values stay where they are. Independent, not
// collective. For more than plotfile.hpp offers (side files, another communicator), pass the two from here to
// neve::write_plotfile.
#pragma once

#include <AMReX_Geometry.H>
#include <AMReX_GpuDevice.H>
#include <AMReX_MultiFab.H>
#include <AMReX_OpenMP.H>
#include <AMReX_Vector.H>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "neve/hierarchy.hpp"
#include "neve/plotfile_writer.hpp"

namespace neve::amrex {

inline constexpr DType real_dtype = std::is_same_v<::amrex::Real, float> ? DType::f32 : DType::f64;

// Directions beyond AMREX_SPACEDIM are `rest`.
inline IntVect to_neve(const ::amrex::IntVect& v, int rest) {
  IntVect r{rest, rest, rest};
  for (int d = 0; d < AMREX_SPACEDIM; ++d) r[static_cast<size_t>(d)] = v[d];
  return r;
}

inline Box to_neve(const ::amrex::Box& box) { return {to_neve(box.smallEnd(), 0), to_neve(box.bigEnd(), 0)}; }

inline ::amrex::Box to_amrex(const Box& box) {
  ::amrex::Box r;
  for (int d = 0; d < AMREX_SPACEDIM; ++d) {
    r.setSmall(d, box.lo[static_cast<size_t>(d)]);
    r.setBig(d, box.hi[static_cast<size_t>(d)]);
  }
  return r;
}

// The values of `box`, which lies inside the fab's own box (the rest are ghost cells).
inline BoxData values_in_place(const ::amrex::FArrayBox& fab, const ::amrex::Box& box) {
  BoxData values;
  int64_t first = 0;
  int64_t stride = 1;
  for (int d = 0; d < AMREX_SPACEDIM; ++d) {
    values.stride[static_cast<size_t>(d)] = stride;
    first += stride * (box.smallEnd(d) - fab.box().smallEnd(d));
    stride *= fab.box().length(d);
  }
  values.component_stride = stride;
  values.data = fab.dataPtr() + first;
  return values;
}

// Whether a processor reaches values in this memory slowly or not at all: a device's own, and memory that a
// device and the host share, which moves when it is touched.
inline bool is_of_device(const ::amrex::Arena& arena) {
  return !arena.isHostAccessible() || arena.isManaged();
}

// Values between a device's memory and the host's, both held alike; streamSynchronize() waits for them.
inline void copy_from_device(::amrex::FArrayBox& host, const ::amrex::FArrayBox& device) {
#ifdef AMREX_USE_GPU
  ::amrex::Gpu::dtoh_memcpy_async(host.dataPtr(), device.dataPtr(), device.nBytes());
#else
  std::memcpy(host.dataPtr(), device.dataPtr(), device.nBytes());
#endif
}
inline void copy_to_device(::amrex::FArrayBox& device, const ::amrex::FArrayBox& host) {
#ifdef AMREX_USE_GPU
  ::amrex::Gpu::htod_memcpy_async(device.dataPtr(), host.dataPtr(), device.nBytes());
#else
  std::memcpy(device.dataPtr(), host.dataPtr(), device.nBytes());
#endif
}

// Copies of boxes that lie in a device's memory, in pinned memory of the host.
class HostValues {
 public:
  // Begins to copy the values of a box. The copy stays where it is, and is whole after streamSynchronize().
  const ::amrex::FArrayBox& copy(const ::amrex::FArrayBox& fab) {
    copies_.push_back(
        std::make_unique<::amrex::FArrayBox>(fab.box(), fab.nComp(), ::amrex::The_Pinned_Arena()));
    copy_from_device(*copies_.back(), fab);
    return *copies_.back();
  }

 private:
  std::vector<std::unique_ptr<::amrex::FArrayBox>> copies_;
};

// Usage error where this rank's values lie in memory that only a GPU reaches.
inline Status check_host_memory(const ::amrex::MultiFab& mf, const std::string& name) {
  for (const int box : mf.IndexArray()) {
    if (mf[box].arena()->isHostAccessible()) continue;
    return usage_error(name + " box " + std::to_string(box) +
                       " is in device memory; copy the MultiFab to one in amrex::The_Pinned_Arena() first");
  }
  ::amrex::Gpu::streamSynchronize();
  return {};
}

// Adds this rank's boxes of a level, each with its innermost `ghosts` layers of ghost cells as part of the
// box; the layers around those are its ghosts. The MultiFab must outlive what was added.
inline Status add_owned(const ::amrex::MultiFab& mf, int level, const ::amrex::IntVect& ghosts,
                        std::vector<LocalBox>& owned) {
  NEVE_TRY(check_host_memory(mf, "level " + std::to_string(level)));
  for (const int box : mf.IndexArray()) {
    owned.push_back({level, box, values_in_place(mf[box], ::amrex::grow(mf.box(box), ghosts)),
                     to_neve(mf.nGrowVect() - ghosts, 0)});
  }
  return {};
}

// The same of a MultiFab anywhere: boxes in a device's memory are copied to `host`, which must outlive what
// was added as well.
inline Status add_owned(const ::amrex::MultiFab& mf, int level, const ::amrex::IntVect& ghosts,
                        std::vector<LocalBox>& owned, HostValues& host) {
  for (const int box : mf.IndexArray()) {
    const ::amrex::FArrayBox& fab = mf[box];
    const ::amrex::FArrayBox& values = is_of_device(*fab.arena()) ? host.copy(fab) : fab;
    owned.push_back({level, box, values_in_place(values, ::amrex::grow(mf.box(box), ghosts)),
                     to_neve(mf.nGrowVect() - ghosts, 0)});
  }
  ::amrex::Gpu::streamSynchronize();
  return {};
}

// Where the options leave it at one thread, those that the run has beside: OpenMP's, which wait meanwhile.
inline WriteOptions with_threads_of_run(WriteOptions options) {
  if (options.encode.threads == 1)
    options.encode.threads = std::clamp(::amrex::OpenMP::get_max_threads(), 1, max_threads);
  return options;
}

// Sizes of AMReX's argument lists, which it checks in debug builds only.
template <class T>
Status check_count(const ::amrex::Vector<T>& list, const std::string& name, int needed) {
  if (list.size() >= needed) return {};
  return usage_error(name + " has " + std::to_string(list.size()) + " entries; " + std::to_string(needed) +
                     " are needed");
}

// Everything of a Hierarchy but its components and boxes.
inline Result<Hierarchy> describe_levels(int nlevels, const ::amrex::Vector<::amrex::Geometry>& geom,
                                         ::amrex::Real time, const ::amrex::Vector<int>& level_steps,
                                         const ::amrex::Vector<::amrex::IntVect>& ref_ratio) {
  if (nlevels < 1) return usage_error("nlevels is " + std::to_string(nlevels) + "; at least 1 is needed");
  NEVE_TRY(check_count(geom, "geom", nlevels));
  NEVE_TRY(check_count(level_steps, "level_steps", nlevels));
  NEVE_TRY(check_count(ref_ratio, "ref_ratio", nlevels - 1));
  Hierarchy h;
  h.dims = AMREX_SPACEDIM;
  h.dtype = real_dtype;
  h.time = time;
  h.coord_sys = static_cast<int>(geom[0].Coord());
  h.levels.resize(static_cast<size_t>(nlevels));
  for (int d = 0; d < AMREX_SPACEDIM; ++d) {
    h.prob_lo[static_cast<size_t>(d)] = geom[0].ProbLo(d);
    h.prob_hi[static_cast<size_t>(d)] = geom[0].ProbHi(d);
  }
  for (int l = 0; l < nlevels; ++l) {
    Level& level = h.levels[static_cast<size_t>(l)];
    level.domain = to_neve(geom[l].Domain());
    if (l + 1 < nlevels) level.ref_ratio = to_neve(ref_ratio[l], 1);
    for (int d = 0; d < AMREX_SPACEDIM; ++d) level.dx[static_cast<size_t>(d)] = geom[l].CellSize(d);
    level.step = level_steps[l];
    level.time = time;
  }
  return h;
}

inline Status check_levels(int nlevels, const ::amrex::Vector<const ::amrex::MultiFab*>& mf,
                           const std::string& name) {
  NEVE_TRY(check_count(mf, name, nlevels));
  for (int l = 0; l < nlevels; ++l) {
    const std::string level = "level " + std::to_string(l) + " of " + name;
    if (mf[l] == nullptr) return usage_error(level + " is a null pointer");
    if (mf[l]->boxArray().empty()) return usage_error(level + " has no boxes");
    if (mf[l]->nComp() != mf[0]->nComp()) {
      return usage_error(level + " has " + std::to_string(mf[l]->nComp()) + " components, level 0 " +
                         std::to_string(mf[0]->nComp()));
    }
    if (mf[l]->ixType() != mf[0]->ixType()) return usage_error(level + " has another centring than level 0");
  }
  return {};
}

// The arguments of AMReX's WriteMultiLevelPlotfile as a Hierarchy. Usage error that names what is wrong.
inline Result<Hierarchy> describe_plotfile(int nlevels, const ::amrex::Vector<const ::amrex::MultiFab*>& mf,
                                           const ::amrex::Vector<std::string>& varnames,
                                           const ::amrex::Vector<::amrex::Geometry>& geom, ::amrex::Real time,
                                           const ::amrex::Vector<int>& level_steps,
                                           const ::amrex::Vector<::amrex::IntVect>& ref_ratio) {
  NEVE_ASSIGN(Hierarchy h, describe_levels(nlevels, geom, time, level_steps, ref_ratio));
  NEVE_TRY(check_levels(nlevels, mf, "mf"));
  if (!mf[0]->ixType().cellCentered()) {
    return usage_error(
        "mf is not cell-centred; a plotfile holds cells. Average to cells, or write a checkpoint");
  }
  if (mf[0]->nComp() != varnames.size()) {
    return usage_error("mf has " + std::to_string(mf[0]->nComp()) + " components, varnames " +
                       std::to_string(varnames.size()) + " names");
  }
  h.components.assign(varnames.begin(), varnames.end());
  for (int l = 0; l < nlevels; ++l) {
    const ::amrex::BoxArray& boxes = mf[l]->boxArray();
    for (int b = 0; b < boxes.size(); ++b)
      h.levels[static_cast<size_t>(l)].boxes.push_back(to_neve(boxes[b]));
  }
  return h;
}

}  // namespace neve::amrex
