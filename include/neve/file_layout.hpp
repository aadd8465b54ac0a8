// SPDX-License-Identifier: BSD-3-Clause
// Layout of a file on a parallel file system, and how many processes write it. Neve turns this into hints for
// the MPI library.
#pragma once

#include <cstdint>

#include "neve/members.hpp"

#pragma GCC visibility push(default)
namespace neve {

// 0: the default of the file system or the MPI library.
struct FileLayout {
  int stripe_count = 0;       // storage targets that the file is striped over; set when the file is created
  uint64_t stripe_bytes = 0;  // stripe size; a multiple of 64 KiB, as Lustre requires
  int aggregators = 0;        // ranks that write for the others in a collective write
  uint64_t buffer_bytes = 0;  // buffer of an aggregator; best a multiple of stripe_bytes

  auto fields() const { return all_members<4>(*this); }
  bool operator==(const FileLayout& other) const { return fields() == other.fields(); }
  bool operator!=(const FileLayout& other) const { return !(*this == other); }
};

}  // namespace neve
#pragma GCC visibility pop
