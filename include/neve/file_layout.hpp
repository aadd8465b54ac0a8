// SPDX-License-Identifier: BSD-3-Clause
// How a file lies on a parallel file system and through how many processes it gets there, in plain words.
// Neve turns it into the hints that the MPI library at hand obeys.
#pragma once

#include <cstdint>
#include <tuple>

#pragma GCC visibility push(default)
namespace neve {

// 0: as the file system and the MPI library have it.
struct FileLayout {
  int stripe_count = 0;       // storage targets the file is spread over; settled when the file is created
  uint64_t stripe_bytes = 0;  // length of a stripe; a multiple of 64 KiB, as Lustre demands
  int aggregators = 0;        // ranks that write for the others in a collective write
  uint64_t buffer_bytes = 0;  // of an aggregator; best a multiple of stripe_bytes

  auto fields() const {  // all of them, or this does not compile
    const auto& [a, b, c, d] = *this;
    return std::tie(a, b, c, d);
  }
  bool operator==(const FileLayout& other) const { return fields() == other.fields(); }
  bool operator!=(const FileLayout& other) const { return !(*this == other); }
};

}  // namespace neve
#pragma GCC visibility pop
