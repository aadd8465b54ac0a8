// SPDX-License-Identifier: BSD-3-Clause
// Neve for AMReX codes: plotfiles and checkpoints, compressed within an error bound, written directly from
// MultiFabs. Header only; needs AMReX with MPI, C++17, and the libraries of neve::mpi.
// docs/amrex.md shows the use.
//
// Everything is collective over AMReX's communicator. Each function comes in two forms: one that ends the run
// through amrex::Abort as AMReX's own does, and one called Try..., which returns the error, the same on every
// rank.
//
// Namespace neve::amrex hides ::amrex from code that says `using namespace neve`; do not say that.
#pragma once

#include "neve/amrex/checkpoint.hpp"
#include "neve/amrex/plotfile.hpp"
#ifdef AMREX_USE_EB
#include "neve/amrex/eb_plotfile.hpp"
#endif
