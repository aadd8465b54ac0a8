// SPDX-License-Identifier: BSD-3-Clause
// What a file system takes from all ranks at once: the bandwidth that compressed writes are held against.
#pragma once

#include <cstdint>
#include <string>

#include "bench/harness/timed.hpp"
#include "neve/status.hpp"
#include "parallel/comm/agree.hpp"

namespace neve::apps {

// Collective: every rank writes a file of its own of `bytes` that no compression makes smaller, makes it
// durable, and removes it afterwards.
Result<Seconds> write_to_disk(const mpi::Comm& comm, const std::string& folder, uint64_t bytes, int repeats);

}  // namespace neve::apps
