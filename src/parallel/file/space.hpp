// SPDX-License-Identifier: BSD-3-Clause
// Space for a file, taken before its bytes are there: a full disk is then found where it can be told.
#pragma once

#include <cstdint>
#include <string>

#include "neve/status.hpp"

namespace neve::mpi {

// Takes the space of the whole file now, so that a full disk is found by one rank before all are inside a
// collective write, from which MPI libraries do not return well. Leaves the file at least size_bytes long.
Status reserve_space(const std::string& path, uint64_t size_bytes);

// The same of the bytes [begin, end) of an open file, which others may be writing at other places: its length
// is left alone where no space can be taken.
Status take_range(int file, const std::string& path, uint64_t begin, uint64_t end);

// Whether a full disk may only be found by the writes themselves, and collective ones do not find it: Open
// MPI's lose what does not fit, or wait for ever.
bool needs_single_writes(const std::string& path);

}  // namespace neve::mpi
