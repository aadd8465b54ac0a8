// SPDX-License-Identifier: BSD-3-Clause
#include "compare.hpp"

#include <AMReX_ParallelDescriptor.H>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

namespace neve::test {

using ::amrex::Real;

namespace {

double distance(Real a, Real b) {
  if (std::memcmp(&a, &b, sizeof a) == 0) return 0;
  if (!std::isfinite(a) || !std::isfinite(b)) return std::numeric_limits<double>::infinity();
  return std::abs(double{a} - double{b});
}

}  // namespace

double largest_distance(PlotfileSource& file, int level, int c, const ::amrex::MultiFab& mf, int of_mf) {
  double largest = 0;
  for (const int b : mf.IndexArray()) {
    const ::amrex::Box box = mf.box(b);
    std::vector<Real> values(static_cast<size_t>(box.numPts()));
    const Status read = file.read_box(level, b, c, reinterpret_cast<std::byte*>(values.data()));
    EXPECT_TRUE(read.ok()) << read.message();
    for (::amrex::Long i = 0; i < box.numPts(); ++i)
      largest = std::max(largest, distance(values[static_cast<size_t>(i)], mf[b](box.atOffset(i), of_mf)));
  }
  MPI_Allreduce(MPI_IN_PLACE, &largest, 1, MPI_DOUBLE, MPI_MAX, ::amrex::ParallelDescriptor::Communicator());
  return largest;
}

}  // namespace neve::test
