// SPDX-License-Identifier: BSD-3-Clause
// What the ranks of a file agree on before they go on together.
#pragma once

#include "preload/mpi/files.hpp"
#include "preload/mpi/open_file.hpp"
#include "preload/mpi/write_plan.hpp"

namespace neve::pmpi {

// Of one rank: what stands against frames, and what speaks for them.
struct Proposal {
  Reason objection = Reason::none;
  uint64_t value_bytes = 0;                  // of what it writes, where that are values of one type
  Elements values = {nullptr, 0, MPI_BYTE};  // these, to take samples from
  DType dtype = DType::f32;
};

// What this rank proposes, in a call that writes this, or nothing.
Proposal propose(const OpenFile& file, const WritePlan& plan = {},
                 const Elements& values = {nullptr, 0, MPI_BYTE});

// Collective. Afterwards the file is plain where some rank objects to frames; framed where one has values for
// them, and all that single ranks have written is among the frames then; else undecided. The file pointers of
// a plain file are still to be handed over.
Status meet(OpenFile& file, const Proposal& mine);

// Collective, in any other call of all ranks: the same, and a plain file has its pointers.
Status meet(OpenFile& file);

// Bytes of the view that lie before where a call reads or writes. Moves the shared pointer on. Collective
// where the call is ordered.
Result<uint64_t> place_of(OpenFile& file, const Access& access);

}  // namespace neve::pmpi
