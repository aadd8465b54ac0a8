// SPDX-License-Identifier: BSD-3-Clause
// How long it takes to read a file back.
#pragma once

#include <string>

#include "bench/apps/chombo/contents.hpp"
#include "bench/apps/chombo/way.hpp"
#include "bench/apps/chombo/write_way.hpp"
#include "parallel/comm/agree.hpp"

namespace neve::chombo {

// Collective. Seconds of the slowest rank to open the file and read all values of its own boxes through
// Neve's reader. The file was just written: it comes out of memory unless that was too small.
Result<double> read_back(const mpi::Comm& comm, const Contents& contents, const Way& way,
                         const WriteCase& how, const std::string& path);

}  // namespace neve::chombo
