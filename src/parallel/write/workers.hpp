// SPDX-License-Identifier: BSD-3-Clause
// Independent pieces of one rank's work, shared out over threads.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "neve/status.hpp"

namespace neve::mpi {

// Calls work(i) for each i below `count` on `threads` threads, the calling one among them; after each piece
// the calling thread finished it calls done(pieces finished by all), where `done` is given. Returns the error
// of the lowest failing i that ran; once one failed no new piece is begun. An exception counts as an error of
// `phase`.
Status run_workers(int threads, size_t count, const std::string& phase,
                   const std::function<Status(size_t)>& work,
                   const std::function<void(size_t)>& done = nullptr);

}  // namespace neve::mpi
