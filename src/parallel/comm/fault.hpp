// SPDX-License-Identifier: BSD-3-Clause
// Failures on demand, for tests only: NEVE_FAULT="phase:rank" makes that phase fail on that rank,
// NEVE_FAULT="phase:rank:kill" kills the process there with SIGKILL, and NEVE_FAULT="phase:rank:slow" makes
// it take 0.3 s longer.
#pragma once

#include <string_view>

#include "neve/status.hpp"

namespace neve::mpi {

// stage: a frame goes there, where a failure is no room; drain: all leave it.
enum class Phase { range, plan, encode, place, skeleton, write, send, sync, rename, stage, drain };
std::string_view phase_name(Phase phase);

// ok unless NEVE_FAULT names this phase and rank. A NEVE_FAULT that cannot be understood is a usage
// error in every phase: a test that misspells it must not pass.
Status injected_fault(Phase phase, int rank);

}  // namespace neve::mpi
