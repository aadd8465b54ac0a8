// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "core/catalog/names.hpp"
#include "neve/distribution.hpp"

namespace neve::amr {

inline constexpr Named<DistributionMethod> distribution_names[] = {
    {DistributionMethod::even_runs, "even-runs"},
    {DistributionMethod::greedy, "greedy"},
    {DistributionMethod::chombo, "chombo"}};

}  // namespace neve::amr
