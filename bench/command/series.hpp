// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "tools/common/command.hpp"

namespace neve::cli {

Command add_bench_series(CLI::App& bench);

}  // namespace neve::cli
