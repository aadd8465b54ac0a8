// SPDX-License-Identifier: BSD-3-Clause
// What calls of neve/transfer.h have in common.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>

#include "neve/transfer.h"
#include "parallel/transfer/ending.hpp"

namespace neve::mpi {

// The caller's options as a library of this version knows them.
struct CallOptions {
  Transfer transfer;
  neve_mpi_report* report = nullptr;
  neve_mpi_reached* reached = nullptr;
};
// Gathers and writes into files take a ratio. What calls have reached is told where they are collective.
enum class CallKind { gather, collective, collective_write, write, other };
Result<CallOptions> read_call(CallKind kind, MPI_Datatype type, const char* bound,
                              const neve_mpi_options* options);

// "root is 7; allowed are 0 to 3", of the ranks of the call.
Status check_root(int root, int ranks);
// "`name` is NULL for `count` values".
Status check_values(const char* name, const void* values, uint64_t count);

// Fills the report, where one is wanted.
void report_moved(const CallOptions& options, uint64_t values, const Moved& moved);
// Fills what was reached, where it is wanted.
void report_reached(const CallOptions& options, const Reached& reached);

// Collective: a usage error on all ranks, where one of the numbers is not the same on all of them.
struct Common {
  const char* name;
  int64_t number;
};
Status check_same(const Comm& comm, std::initializer_list<Common> numbers);
// The numbers that make a transfer one, for check_same.
Status check_same_transfer(const Comm& comm, const Transfer& transfer, Common another);

}  // namespace neve::mpi
