// SPDX-License-Identifier: BSD-3-Clause
// Tells a user, once a process, that yt by itself shows a domain in another place than it has.
#pragma once

#include "neve/hierarchy.hpp"

namespace neve::mpi {

// yt reads plotfiles as Chombo's: cell 0 lies at the origin and cells are cubes.
bool yt_places_it_rightly(const Hierarchy& hierarchy);

// On stderr, where it does not.
void say_where_yt_places_it(const Hierarchy& hierarchy);

}  // namespace neve::mpi
