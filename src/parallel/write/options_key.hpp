// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "neve/write_options.hpp"

namespace neve::mpi {

// What of the options must not differ between ranks, for check_same_everywhere: every member, but for those
// that are a rank's own.
std::string options_key(const WriteOptions& options);

}  // namespace neve::mpi
