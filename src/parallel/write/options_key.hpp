// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "neve/write_options.hpp"
#include "parallel/comm/agree.hpp"

namespace neve::mpi {

// What of the options must not differ between ranks, for check_same_everywhere: every member, but for those
// that are a rank's own.
std::string options_key(const WriteOptions& options);

// Collective. Usage error where they differ, naming one that does.
Status check_same_options(const Comm& comm, const WriteOptions& options);

}  // namespace neve::mpi
