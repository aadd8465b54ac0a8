// SPDX-License-Identifier: BSD-3-Clause
// Error agreement: ranks fail together. No rank acts on an error, or goes on without one, before all have
// agreed.
#pragma once

#include <mpi.h>

#include <exception>
#include <new>
#include <string>
#include <utility>

#include "neve/status.hpp"

namespace neve::mpi {

// A private copy of the caller's communicator, so that Neve's messages never meet the caller's. It keeps
// the caller's error handler: whether a broken communicator aborts is not a library's choice.
class Comm {
 public:
  static Result<Comm> duplicate(MPI_Comm comm);
  Comm(Comm&& other) noexcept
      : comm_(std::exchange(other.comm_, MPI_COMM_NULL)), rank_(other.rank_), size_(other.size_) {}
  Comm& operator=(Comm&&) = delete;
  ~Comm();

  MPI_Comm get() const { return comm_; }
  int rank() const { return rank_; }
  int size() const { return size_; }

 private:
  Comm() = default;
  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0;
  int size_ = 1;
};

// What an MPI call returned, as a Status: "`what`: MPI's own words".
Status mpi_status(int return_code, const std::string& what);

// Collective. ok where every rank passes ok, which costs one allreduce of eight bytes; otherwise
// every rank gets the code and message of the lowest failing rank, "rank 2: ..." where there are several.
Status agree(const Comm& comm, const Status& mine);

// Runs `work`, which returns a Status, and makes an exception (out of memory above all) a Status too:
// a rank that unwound past an agreement would leave the others waiting in it.
template <class Work>
Status guarded(const std::string& phase, Work&& work) {
  try {
    return std::forward<Work>(work)();
  } catch (const std::bad_alloc&) {
    return failure(phase + ": out of memory");
  } catch (const std::exception& e) {
    return failure(phase + ": " + e.what());
  }
}

}  // namespace neve::mpi
