// SPDX-License-Identifier: BSD-3-Clause
// The benchmark's file by two-phase writes (cb2_exchange.hpp), its structure by rank 0.
#pragma once

#include <string>

#include "bench/apps/chombo/contents.hpp"
#include "bench/apps/chombo/way.hpp"
#include "bench/apps/chombo/write_way.hpp"
#include "neve/file_layout.hpp"
#include "parallel/comm/agree.hpp"
#include "parallel/file/write_pieces.hpp"

namespace neve::chombo {

// Collective; all ranks return the same error. As write_by_hdf5. mpi_writes counts what would be collective
// MPI-IO calls.
Status write_by_cb2(const mpi::Comm& comm, const std::string& path, const mpi::Hints& hints, const Way& way,
                    const Contents& contents, const FileLayout& layout, WayReport& report);

}  // namespace neve::chombo
