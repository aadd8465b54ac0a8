// SPDX-License-Identifier: BSD-3-Clause
// What the ranks of a communicator know of calls of one kind and size. All of them know the same, since they
// make the same calls in the same order: so that for most calls nobody asks anybody.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <tuple>

#include "preload/mpi/codec_speed.hpp"
#include "preload/mpi/kind.hpp"

namespace neve::pmpi {

enum class Verdict { unknown, left_to_mpi, compressed };

struct CallRecord {
  Verdict verdict = Verdict::unknown;
  uint64_t skips = 0;         // calls that are MPI's before the next look
  uint64_t next_skips = 100;  // after the next look; ten times as many each time
  uint64_t until_look = 0;    // compressed calls before MPI's own is measured again
  uint64_t fruitless = 0;     // skips after the last look that found nothing to compress
  int measured = 0;           // calls of this look
  double mpi_seconds = 0;     // of MPI's own call, the shortest of this look; a byte of a part
  double part_bytes = 0;      // of the last call that was agreed on, the largest
  double last_seconds = 0;    // of this rank's last compressed call; a byte of that
  int slower = 0;             // compressed calls, one after another, that took longer than MPI's
  bool is_warm = false;       // a large call has been made
  std::optional<CodecSpeeds> speeds;
};

// Not of counts: by the size of a part, in powers of two. Of counts: one, since ranks know different sizes.
using CallKey = std::tuple<Kind, bool, int>;
CallKey call_key(Kind kind, bool is_of_counts, uint64_t bytes);

struct CallRecords {
  std::mutex mutex;
  std::map<CallKey, CallRecord> records;
};

// Those of the communicator, which they end with; nothing where there are none yet.
CallRecords* find_records(MPI_Comm comm);
// Made where there are none; nothing where there is no memory for them.
CallRecords* records_of(MPI_Comm comm);

}  // namespace neve::pmpi
