// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "neve/hierarchy.hpp"

namespace neve::layouts {

// The side of AMRIC's unit blocks: the largest that Neve has which leaves nothing over in any box nor beside
// any covered cells, as a code's blocking factor is; 8, the smallest, where none does.
int fitting_unit(const Hierarchy& hierarchy);

}  // namespace neve::layouts
