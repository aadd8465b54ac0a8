// SPDX-License-Identifier: BSD-3-Clause
// One rank's error becomes every rank's, before any goes on and waits for the others.
#pragma once

#include <AMReX.H>
#include <AMReX_ParallelDescriptor.H>

#include <exception>
#include <string>
#include <utility>

#include "neve/plotfile_writer.hpp"
#include "neve/status.hpp"

#ifndef AMREX_USE_MPI
#error "neve/amrex.hpp needs an AMReX that was built with MPI (AMReX_MPI=ON, USE_MPI=TRUE)"
#endif

namespace neve::amrex::detail {

inline MPI_Comm communicator() { return ::amrex::ParallelDescriptor::Communicator(); }

// Collective. Every rank gets the code and message of the lowest rank that passes an error. An MPI error is
// left to the communicator's error handler, as in AMReX.
inline Status agree(const Status& mine) {
  const int ranks = ::amrex::ParallelDescriptor::NProcs();
  int failing = mine.ok() ? ranks : ::amrex::ParallelDescriptor::MyProc();
  MPI_Allreduce(MPI_IN_PLACE, &failing, 1, MPI_INT, MPI_MIN, communicator());
  if (failing == ranks) return {};
  std::string message = mine.message();
  int code_and_length[2] = {static_cast<int>(mine.code()), static_cast<int>(message.size())};
  MPI_Bcast(code_and_length, 2, MPI_INT, failing, communicator());
  message.resize(static_cast<size_t>(code_and_length[1]));
  MPI_Bcast(message.data(), code_and_length[1], MPI_CHAR, failing, communicator());
  if (ranks > 1) message = "rank " + std::to_string(failing) + ": " + message;
  return {static_cast<Code>(code_and_length[0]), message};
}

// What `work` returned, a Status. An exception, out of memory above all, counts as an error: a rank that left
// with it would leave the others waiting.
template <class Work>
Status caught(Work&& work) {
  try {
    return std::forward<Work>(work)();
  } catch (const std::exception& e) {
    return failure(e.what());
  }
}

// Collective. Runs `work`, which must not communicate, and agrees on what it returned.
template <class Work>
Status agreed(Work&& work) {
  return agree(caught(std::forward<Work>(work)));
}

// Two errors as one: of files that are written behind and are lost, and of a call's own work.
inline Status both(const Status& earlier, const Status& own) {
  if (earlier.ok()) return own;
  if (own.ok()) return earlier;
  return {own.code(), earlier.message() + "; " + own.message()};
}
template <class T>
Result<T> with_earlier(const Status& earlier, Result<T> own) {
  NEVE_TRY(both(earlier, own.status()));
  return own;
}

// Collective; what is under way behind the run's back arrives before.
[[noreturn]] inline void abort_run(const std::string& where, const Status& status) {
  const Status told = both(wait_for_writes(communicator()), status);
  ::amrex::Abort("neve::amrex::" + where + ": " + told.message());
  std::terminate();  // amrex::Abort does not return, but is not declared so
}

template <class T>
T value_or_abort(const std::string& where, Result<T> result) {
  if (!result.ok()) abort_run(where, result.status());
  return std::move(*result);
}

}  // namespace neve::amrex::detail
