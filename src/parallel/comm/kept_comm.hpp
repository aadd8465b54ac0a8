// SPDX-License-Identifier: BSD-3-Clause
// One private copy of each communicator that files are written on again and again, and what is kept with it
// from one write to the next. Duplicating it for every file would be two waits of all ranks each time.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "neve/status.hpp"
#include "parallel/comm/agree.hpp"
#include "parallel/comm/exchange.hpp"

namespace neve::mpi {

// What stays with a communicator when its copy is forgotten, until that communicator is freed or MPI is
// finalized.
class Lasting {
 public:
  virtual ~Lasting() = default;
  // Whether there is something to finish; the same on all ranks.
  virtual bool has_work() const noexcept = 0;
  // Collective over `comm`, a copy: what has to be done while MPI still works.
  virtual void finish(const Comm& comm) noexcept = 0;
};

class KeptComm : public std::enable_shared_from_this<KeptComm> {
 public:
  // Collective. The copy that belongs to `comm`, with the error handler that `comm` has now; made where there
  // is none. It lives until `comm` is freed or MPI is finalized, or until forget().
  static Result<std::shared_ptr<KeptComm>> of(MPI_Comm comm);
  // Not collective, but to be called on all ranks: the next of() makes a new copy. For after an error, which
  // may have left messages behind that nobody received.
  static void forget(MPI_Comm comm);

  KeptComm() : spare_(0, 0, first_words) {}  // empty; of() makes those that are not
  KeptComm(const KeptComm&) = delete;

  const Comm& comm() const { return *comm_; }
  // Whether this rank runs on rank 0's machine, in one kernel: what rank 0 makes durable of a file is then
  // also what this rank has written into it.
  bool is_beside_root() const { return is_beside_root_; }
  // Words that first exchanges send, the same on all ranks (Exchange::run_first).
  size_t& agreed_words() { return agreed_words_; }
  // Whatever a write keeps for the next one.
  std::shared_ptr<const void>& attached() { return attached_; }
  // The same, and kept when this copy is forgotten.
  std::shared_ptr<Lasting>& lasting() { return *lasting_; }
  // For a rank that has no memory for an exchange of its own.
  Exchange& spare() { return spare_; }
  // Not collective. To be called before the next first exchange, where there was one.
  Status fit_spare() {
    if (spare_.words() < agreed_words_) spare_ = Exchange(0, 0, agreed_words_);
    return {};
  }

 private:
  static constexpr size_t first_words = 1024;

  // Collective. Whether rank 0 is on this machine, and the communicator's number.
  Status hear_root(uint64_t& number);

  std::optional<Comm> comm_;
  bool is_beside_root_ = false;
  size_t agreed_words_ = first_words;
  Exchange spare_;
  std::shared_ptr<const void> attached_;
  std::shared_ptr<std::shared_ptr<Lasting>> lasting_;
};

// Collective. What `work(kept copy of comm)` says; an exception is an error of `path`. After an error the
// copy is forgotten.
template <class Work>
auto with_kept_comm(MPI_Comm comm, const std::string& path, const Work& work)
    -> decltype(work(std::declval<KeptComm&>())) {
  return guarded(path, [&]() -> decltype(work(std::declval<KeptComm&>())) {
    NEVE_ASSIGN(const std::shared_ptr<KeptComm> kept, KeptComm::of(comm));
    auto result = guarded(path, [&] { return work(*kept); });
    if (!result.ok()) KeptComm::forget(comm);
    return result;
  });
}

}  // namespace neve::mpi
