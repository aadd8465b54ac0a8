// SPDX-License-Identifier: BSD-3-Clause
// Values of a plotfile against those of a MultiFab.
#pragma once

#include <AMReX_MultiFab.H>

#include "neve/plotfile_reader.hpp"

namespace neve::test {

// The largest difference of any rank's values, of component `c` of a level of the file and component `of_mf`
// of `mf`; 0 where all have the same bits, infinite where one that is not finite has others.
double largest_distance(PlotfileSource& file, int level, int c, const ::amrex::MultiFab& mf, int of_mf);

}  // namespace neve::test
