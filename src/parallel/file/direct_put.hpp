// SPDX-License-Identifier: BSD-3-Clause
// A rank's pieces into a file by plain positioned writes, without MPI-IO: where each rank has few regions of
// its own, nobody has to wait for anybody, and nothing between them is read.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "neve/status.hpp"
#include "parallel/file/call_types.hpp"
#include "parallel/file/load_ahead.hpp"

namespace neve::mpi {

// Not collective. Into the existing file `path`; its space is taken first where the file system can do that,
// so that a full disk is found before anything is written. `pieces`: each one run; those that follow each
// other without a gap become one region. `load`: for those that are not in memory. `is_synced`: durable when
// this returns. `regions`: as many were written.
Status put_directly(const std::string& path, std::span<const Piece> pieces, const LoadBytes& load,
                    bool is_synced, uint64_t& regions);

}  // namespace neve::mpi
