// SPDX-License-Identifier: BSD-3-Clause
// Where one run of a mini-app writes: a folder of its own, so that it meets nothing that an earlier run kept.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "bench/harness/signal_end.hpp"
#include "io/files/temporary_folder.hpp"
#include "neve/status.hpp"
#include "parallel/comm/agree.hpp"

namespace neve::apps {

class Workplace {
 public:
  // Collective. Makes the folder in `folder`, which must exist. `names` are what the names of the run's files
  // begin with. With `keep`, a usage error where something of such a name is in `folder` already: it
  // stays.
  static Result<Workplace> begin(const mpi::Comm& comm, const std::string& folder, bool keep,
                                 std::span<const std::string> names);

  // The same on all ranks; goes, with all that is in it, when this object does, and where SIGTERM, SIGINT or
  // SIGHUP ends rank 0.
  const std::string& path() const { return path_; }

  // Collective. With `keep`, moves what is there to `folder`, or nothing where a name has been taken
  // meanwhile.
  Status finish(const mpi::Comm& comm);

 private:
  Workplace() = default;
  std::optional<files::ScratchFolder> scratch_;  // rank 0, as the next one
  std::unique_ptr<SignalEnd> signal_end_;
  std::string folder_, path_;
  bool keep_ = false;
};

// Collective. What `work(path)` returns, which writes where `path` says; kept, if so asked, only where it
// went well.
template <class Work>
auto in_own_folder(const mpi::Comm& comm, const std::string& folder, bool keep,
                   std::span<const std::string> names, Work&& work) -> decltype(work(folder)) {
  auto result = [&]() -> decltype(work(folder)) {
    NEVE_ASSIGN(Workplace place, Workplace::begin(comm, folder, keep, names));
    auto worked = work(place.path());
    if (worked.ok()) NEVE_TRY(place.finish(comm));
    return worked;
  }();
  // Rank 0 has cleared away when any rank goes on.
  MPI_Barrier(comm.get());
  return result;
}

// Collective. A run of a mini-app in a folder of its own: `Benchmark(Comm, const Case&).run()`, where
// `store_of` gives of a case the part whose `folder` and `keep` say where it writes. `names`:
// Workplace::begin.
template <class Benchmark, class Case, class StoreOf>
auto run_in_own_folder(MPI_Comm comm, const Case& options, std::span<const std::string> names,
                       StoreOf&& store_of) -> decltype(std::declval<Benchmark&>().run()) {
  NEVE_ASSIGN(const mpi::Comm all, mpi::Comm::duplicate(comm));
  Case placed = options;
  auto& store = store_of(placed);
  const std::string folder = store.folder;
  return in_own_folder(all, folder, store.keep, names,
                       [&](const std::string& path) -> decltype(std::declval<Benchmark&>().run()) {
                         store.folder = path;
                         NEVE_ASSIGN(mpi::Comm own, mpi::Comm::duplicate(comm));
                         return Benchmark(std::move(own), placed).run();
                       });
}

}  // namespace neve::apps
