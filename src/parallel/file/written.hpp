// SPDX-License-Identifier: BSD-3-Clause
// Whether MPI wrote what it was asked to. Open MPI's calls succeed on a full disk: only what a call says that
// it has written shows that.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>

#include "parallel/comm/agree.hpp"

namespace neve::mpi {

Status check_written(const MPI_Status& written, uint64_t wanted_bytes, const std::string& path);

// Not collective. Writes bytes at a place of the file `path`, opened as `file`, whose view is one of bytes.
// The error says why the system does not take them, where it can be asked.
Status write_bytes(MPI_File file, const std::string& path, uint64_t at, const std::byte* bytes,
                   uint64_t count);

}  // namespace neve::mpi
