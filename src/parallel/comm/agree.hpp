// SPDX-License-Identifier: BSD-3-Clause
// Error agreement: ranks fail together. No rank acts on an error, or goes on without one, before all have
// agreed.
#pragma once

#include <mpi.h>

#include <string>
#include <string_view>
#include <utility>

#include "core/status/guarded.hpp"
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
// The text is made only for an error: to make it for a call that comes after it might fail for want of
// memory, and leave the other ranks in that call alone.
Status mpi_status(int return_code, std::string_view what);
// The same of a file: "`path`: `doing`: MPI's own words".
Status mpi_status(int return_code, std::string_view path, std::string_view doing);

// Collective. ok where every rank passes ok, which costs one allreduce of eight bytes; otherwise
// every rank gets the code and message of the lowest failing rank, "rank 2: ..." where there are several.
Status agree(const Comm& comm, const Status& mine);

// An agreement in two parts, for reductions that carry more: the least of the keys of all ranks tells of the
// lowest failing one.
uint64_t agreement_key(const Comm& comm, const Status& mine);
bool all_agree(uint64_t lowest_key);
// Collective, where not all agree: what agree() returns then.
Status lowest_failure(const Comm& comm, uint64_t lowest_key, const Status& mine);

// A rank that unwound past an agreement would leave the others waiting in it.
using neve::guarded;

// Collective. For work that comes to the same on all ranks but for memory, which may end on one of them
// alone. Other errors are every rank's own, and named without a rank.
template <class Work>
Status guarded_alike(const Comm& comm, std::string_view phase, Work&& work) {
  const Status mine = guarded(phase, std::forward<Work>(work));
  NEVE_TRY(agree(comm, mine.code() == Code::failure ? mine : Status()));
  return mine;
}

}  // namespace neve::mpi
