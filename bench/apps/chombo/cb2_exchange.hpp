// SPDX-License-Identifier: BSD-3-Clause
// A collective write in two phases, by the rules of Cray's CB2 on Lustre: ranks send what they have of a
// stripe to the rank that owns it, which joins what adjoins, whoever sent it, and writes it, never past the
// end of a stripe and never what nobody sent. So nothing is ever read back.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "bench/apps/chombo/box_calls.hpp"
#include "neve/file_layout.hpp"
#include "neve/status.hpp"
#include "parallel/comm/agree.hpp"

namespace neve::chombo {

// Stripe i belongs to rank i mod aggregators, which takes stripes_a_round of its stripes at a time.
struct Cb2Layout {
  uint64_t stripe_bytes = 0;
  uint64_t aggregators = 0;
  uint64_t stripes_a_round = 0;

  // As many aggregators as stripes, at most all ranks, and a buffer of one stripe, unless others are asked
  // for. Of a file whose stripes are not told: of 1 MiB, and as many as ranks.
  static Cb2Layout of(const FileLayout& layout, int ranks);
  uint64_t buffer_bytes() const { return stripes_a_round * stripe_bytes; }
  int owner(uint64_t stripe) const { return static_cast<int>(stripe % aggregators); }
  uint64_t round(uint64_t stripe) const { return stripe / (aggregators * stripes_a_round); }
};

// Usage error where the buffer is no multiple of the stripe.
Status check_cb2_layout(const FileLayout& layout);

class Cb2Exchange {
 public:
  // `file`: open for writing on ranks that are aggregators; `most_bytes`: no call is of more in all. Throws.
  Cb2Exchange(const mpi::Comm& comm, const Cb2Layout& layout, uint64_t most_bytes);

  // Collective. Writes the pieces of all ranks, which do not overlap; `values`: this rank's, one after
  // another; `address`: where the dataset begins that the pieces' addresses count from. Errors of this rank:
  // the others may have none.
  Status write(int file, const std::string& path, Pieces pieces, const std::byte* values, uint64_t address);

  // Of the buffers for what is received and for what is written.
  uint64_t buffer_bytes() const { return received_.size() + joined_.size(); }

 private:
  // Bytes of a piece that lie in one stripe.
  struct Part {
    uint64_t address = 0, bytes = 0;
  };
  struct Arrival {
    Part part;
    const std::byte* values = nullptr;
  };

  uint64_t stripe(const Part& part) const { return part.address / layout_.stripe_bytes; }
  uint64_t round(const Part& part) const { return layout_.round(stripe(part)); }
  bool is_aggregator() const { return static_cast<uint64_t>(comm_.rank()) < layout_.aggregators; }

  void cut(Pieces pieces, uint64_t address);
  Status announce(const Status& mine);
  uint64_t next_round() const;
  void send(uint64_t round, const std::byte*& values);
  void receive(uint64_t round);
  Status write_arrivals(int file, const std::string& path);

  const mpi::Comm& comm_;
  Cb2Layout layout_;
  std::vector<std::byte> received_, joined_;
  // Of a call.
  std::vector<Part> parts_;                                                 // this rank's, by address
  std::vector<Part> parts_to_send_, parts_to_come_;                         // by rank, then address
  std::vector<int> sent_words_, sent_begin_, coming_words_, coming_begin_;  // of those, by rank
  size_t next_to_send_ = 0;                                                 // of parts_
  std::vector<size_t> next_to_come_;                                        // of parts_to_come_, by rank
  std::vector<MPI_Request> requests_;
  std::vector<Arrival> arrivals_;  // of a round
};

}  // namespace neve::chombo
