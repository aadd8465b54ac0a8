// SPDX-License-Identifier: BSD-3-Clause
// MultiFabs whose every value is known, on two levels, in the dimension AMReX was built for.
#pragma once

#include <AMReX_Geometry.H>
#include <AMReX_MultiFab.H>
#include <AMReX_Vector.H>

#include <string>

#include "neve/status.hpp"

namespace neve::test {

// 32 cells a side in boxes of 8 or 16, and a refined middle: some boxes for several ranks.
struct Mesh {
  int nlevels = 2;
  amrex::Vector<amrex::Geometry> geom;
  amrex::Vector<amrex::BoxArray> boxes;
  amrex::Vector<amrex::DistributionMapping> owners;
  amrex::Vector<int> steps{7, 14};
  amrex::Vector<amrex::IntVect> ref_ratio{amrex::IntVect(2)};
  amrex::Real time = amrex::Real(0.625);
};
Mesh make_mesh();

// The box's own cells hold a smooth function of place, level and component; ghost cells hold 1e30, so that
// one that gets into a file cannot pass for a value. On nodes, `box_matters` makes boxes differ where they
// touch.
amrex::MultiFab make_field(const Mesh& mesh, int level, const amrex::IndexType& centring, int components,
                           int ghosts, bool box_matters = false);
amrex::MultiFab make_field(const Mesh& mesh, int level, const amrex::IndexType& centring, int components,
                           const amrex::IntVect& ghosts, bool box_matters = false);
amrex::Real field_value(const Mesh& mesh, int level, int component, const amrex::IntVect& cell);
inline constexpr amrex::Real ghost_value = amrex::Real(1e30);

amrex::Vector<const amrex::MultiFab*> const_pointers(const amrex::Vector<amrex::MultiFab>& levels);
amrex::Vector<amrex::MultiFab*> pointers(amrex::Vector<amrex::MultiFab>& levels);

// Bits of the box's own values, and of `ghosts` layers around.
bool same_bits(const amrex::MultiFab& a, const amrex::MultiFab& b, int ghosts = 0);

// A directory of this test, the same on all ranks, empty at first, removed with the object.
class Directory {
 public:
  Directory();
  Directory(const Directory&) = delete;
  Directory& operator=(const Directory&) = delete;
  ~Directory();
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  // Sorted.
  std::vector<std::string> list() const;

 private:
  std::string path_;
};

// Whether all ranks have the same code and message.
bool same_everywhere(const Status& status);

// A device's memory, or memory shared with it; where AMReX has none, memory that says it is such.
amrex::Arena& device_arena(bool is_shared);

// The same values in other memory.
amrex::Vector<amrex::MultiFab> in_arena(const amrex::Vector<amrex::MultiFab>& levels, amrex::Arena& arena);
// And back, of any memory.
amrex::Vector<amrex::MultiFab> on_host(const amrex::Vector<amrex::MultiFab>& levels);

}  // namespace neve::test
