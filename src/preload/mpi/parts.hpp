// SPDX-License-Identifier: BSD-3-Clause
// The parts of a rank in a collective call, and where their values lie.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "neve/status.hpp"
#include "preload/mpi/collectives.hpp"
#include "preload/mpi/value_type.hpp"

namespace neve::pmpi {

// This rank in the call's communicator.
struct Place {
  int rank = 0, ranks = 1;
};

// Parts that a rank sends, and that it receives: none, one, or one of each rank.
int parts_sent(const Collective& call, const Place& place);
int parts_received(const Collective& call, const Place& place);
// What it sends lies where it receives (root of a gather; each rank); what it receives stays where it is sent
// from (root of a scatter).
bool sends_in_place(const Collective& call, const Place& place);
bool receives_in_place(const Collective& call, const Place& place);

// Instances of the side's type: how many, and of how many the first lies behind the beginning.
struct Part {
  int64_t count = 0, displ = 0;
};
// Nothing where the arguments are not beyond doubt: MPI has to judge them.
std::optional<std::vector<Part>> read_parts(const Side& side, int parts);

// Values one behind another or, where the type is dense, where the program has them.
class Values {
 public:
  // `type`: none where no part has values. Packed, there is room for all of them. Throws std::bad_alloc.
  Values(const Side& side, std::vector<Part> parts, const std::optional<ValueType>& type, bool is_packed);

  Status pack_all();
  // Part `i` back to where the program has it.
  Status unpack(size_t i) const;
  size_t size() const { return parts_.size(); }
  bool is_packed() const { return is_packed_; }

  void* data() { return is_packed_ ? static_cast<void*>(room_.data()) : side_->data; }
  const uint64_t* counts() const { return counts_.data(); }
  const uint64_t* displs() const { return displs_.data(); }

 private:
  Elements elements(size_t i) const;

  const Side* side_;
  std::vector<Part> parts_;
  int64_t extent_ = 0;
  size_t value_bytes_ = 0;
  bool is_packed_;
  std::vector<uint64_t> counts_, displs_;  // in values
  std::vector<std::byte> room_;
};

}  // namespace neve::pmpi
