// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

#include "neve/write_options.hpp"
#include "parallel/comm/agree.hpp"

namespace neve::mpi {

// What of the options must not differ between ranks: every member, but for those that are a rank's own.
std::string options_key(const WriteOptions& options);
inline constexpr std::string_view options_argument = "the write options";

// Collective: a usage error where they differ, which names one that does.
Status check_same_options(const Comm& comm, const WriteOptions& options);
// Collective, where they differ: `disagreement`, with the name of one that does.
Status name_differing_option(const Comm& comm, const WriteOptions& options, const Status& disagreement);

}  // namespace neve::mpi
