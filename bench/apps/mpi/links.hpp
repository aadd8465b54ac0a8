// SPDX-License-Identifier: BSD-3-Clause
// Gathers and writes through imitated links: of values, and of frames.
#pragma once

#include <string>
#include <vector>

#include "bench/apps/mpi/calls.hpp"
#include "parallel/comm/agree.hpp"

namespace neve::mpibench {

// Medians over the repeats; seconds of the slowest rank.
struct ThroughLink {
  double encode = 0;  // bytes of values a second, of all ranks that encode in such a call together
  double link = 0;    // bytes a second, into root or into the file
  double plain_seconds = 0, seconds = 0;
  double factor = 0;  // how many times as fast frames were, of calls one after the other
};

struct LinkPoint {
  double slowness = 0;  // encode / link
  ThroughLink gather, write;
};

struct LinkCase {
  std::vector<double> slowness;
  int repeats = 3;
  std::string folder;  // for the files
};

// Collective, on 2 ranks or more. In each repeat the ranks that would encode do so once, for the speed that
// day and hour; a link that is `slowness` times slower is imitated, and carries both calls. `all`: root's
// room for the values of all ranks.
Result<std::vector<LinkPoint>> measure_links(const mpi::Comm& comm, const Field& field,
                                             const CallOptions& options, const LinkCase& links, Bytes& all);

// Collective.
Status remove_together(const mpi::Comm& comm, const std::string& path);

}  // namespace neve::mpibench
