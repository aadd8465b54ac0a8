// SPDX-License-Identifier: BSD-3-Clause
// The program's MPI library, found while the program runs: this library links none, so that it can lie in
// programs without MPI. Its types and constants are those of the MPI it was built with.
#pragma once

#include <mpi.h>

#include <atomic>

namespace neve::trace {

// A function of the program's MPI library, however that was loaded; nullptr when it has none of this name.
void* mpi_function(const char* name);

// Ends the process, saying why, when the program's MPI is not the one this library was built with: handles
// have another size there, and to go on would be to hand garbage to it.
void require_same_mpi();

// A file's path as MPI_File_open takes it, without the driver's name: ROMIO takes "ufs:/path" and its like.
const char* without_driver(const char* name);

MPI_Comm world();
MPI_Datatype byte_type();
MPI_Info null_info();

}  // namespace neve::trace

// The MPI function of this name behind the wrapper: its profiling name.
#define NEVE_PMPI(name)                                      \
  ([]() -> decltype(&::MPI_##name) {                         \
    static std::atomic<void*> slot{};                        \
    void* found = slot.load(std::memory_order_acquire);      \
    if (found == nullptr) {                                  \
      found = ::neve::trace::mpi_function("PMPI_" #name);    \
      slot.store(found, std::memory_order_release);          \
    }                                                        \
    return reinterpret_cast<decltype(&::MPI_##name)>(found); \
  }())
