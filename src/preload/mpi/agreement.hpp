// SPDX-License-Identifier: BSD-3-Clause
// What the ranks of a file agree on before they go on together.
#pragma once

#include "preload/mpi/files.hpp"
#include "preload/mpi/open_file.hpp"

namespace neve::pmpi {

// Of one rank: what it would write, and what stands against frames.
struct Proposal {
  Reason objection = Reason::none;
  uint64_t bytes = 0;
  std::optional<DType> dtype;
};

// What this rank proposes for a collective write.
Proposal propose(OpenFile& file, const Access& access);

// Why frames of the file cannot hold what is written at a byte of it.
Reason unsuitable(const Access& access, uint64_t first_byte);

// Collective: of all ranks; the largest of their writes, and the type where it is one.
Result<Proposal> agree(OpenFile& file, const Proposal& mine);

// Collective. The file is plain where some rank objects to frames; else, where one writes, framed.
Status settle(OpenFile& file, const Proposal& agreed);

// Collective, of a file that is synced or closed: what single ranks have done since becomes everybody's.
Status settle_for_good(OpenFile& file);

// Bytes that a call asks to be read or written.
uint64_t asked_bytes(const Access& access);

// Bytes of the view that lie before where a call reads or writes. Moves the shared pointer on.
Result<uint64_t> place_of(OpenFile& file, const Access& access);

}  // namespace neve::pmpi
