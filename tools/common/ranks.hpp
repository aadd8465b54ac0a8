// SPDX-License-Identifier: BSD-3-Clause
// The ranks a command runs on: one when started alone.
#pragma once

#include <mpi.h>

#include "neve/status.hpp"
#include "parallel/comm/agree.hpp"
#include "tools/common/session_folder.hpp"

namespace neve::cli {

#ifdef NEVE_MPI_ALONE
inline constexpr bool has_mpi = false;
#else
inline constexpr bool has_mpi = true;
#endif

// Before anything else. Usage error where a launcher has started this process beside others and the build has
// no MPI: each of them would do all of the work, and write the same files.
Status check_launch();

// Before MPI_Init: this process's rank as the launcher says, 0 when there is no launcher. What needs no
// MPI (help, usage errors, commands that only look at this machine) speaks on rank 0 all the same.
int launcher_rank();
// Whether the launcher itself started this process. One that a rank's script or program starts finds the same
// variables, but MPI is not its own: the ranks beside it know nothing of it.
bool is_rank_itself();

// From MPI_Init_thread to MPI_Finalize; quick where no launcher has started this process.
class MpiSession {
 public:
  MpiSession();
  // Not ok: MPI was not started, since there is no place for its own files.
  const Status& status() const { return status_; }
  ~MpiSession();
  MpiSession(const MpiSession&) = delete;
  MpiSession& operator=(const MpiSession&) = delete;

 private:
  SessionFolder own_folder_;  // of MPI's own files
  Status status_;
};

class Ranks {
 public:
  static Result<Ranks> of_world();

  MPI_Comm comm() const { return comm_.get(); }
  int rank() const { return comm_.rank(); }
  int size() const { return comm_.size(); }
  bool first() const { return rank() == 0; }

  // Collective: ok where all ranks pass ok, else the same error everywhere.
  Status agree(const Status& mine) const { return mpi::agree(comm_, mine); }

  // Collective: ok where all ranks have the arguments and the working folder of rank 0. A rank with others
  // would go another way, or find other files, and leave the rest waiting for it.
  Status check_same_arguments(int argc, const char* const* argv) const;

  // Collective: ok where all ranks find a file of one size at `path`, or a folder with a file Header of one
  // size, or nothing. Ranks that have other files of that name, each on its own machine, would wait for each
  // other.
  Status check_same_file(const std::string& path) const;

  // Collective. What `work` (which is not collective) comes to, where it comes to it on all ranks. It reads
  // the arguments that all have, so that an error of theirs is every rank's, and names none; a file or memory
  // that one rank lacks is that rank's.
  template <class Work>
  auto settle(const char* phase, Work&& work) const -> decltype(work()) {
    auto mine = mpi::guarded(phase, work);
    const Status status = status_of(mine);
    const Status agreed = agree(status);
    if (agreed.ok() || is_same_everywhere(status)) return mine;
    return agreed;
  }

  // Collective: runs `work` (which returns a Status and is not collective) on rank 0 only.
  template <class Work>
  Status on_first(const char* phase, Work&& work) const {
    return agree(first() ? mpi::guarded(phase, work) : Status());
  }

 private:
  explicit Ranks(mpi::Comm comm) : comm_(std::move(comm)) {}
  static const Status& status_of(const Status& status) { return status; }
  template <class T>
  static const Status& status_of(const Result<T>& result) {
    return result.status();
  }
  Status check_same(const std::string& what, const std::string& mine) const;
  bool is_same_everywhere(const Status& status) const;  // collective

  mpi::Comm comm_;
};

}  // namespace neve::cli
