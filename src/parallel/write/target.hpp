// SPDX-License-Identifier: BSD-3-Clause
// The file that a collective write makes: under a temporary name from its beginning, under its own at its
// end.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "io/files/temporary_file.hpp"
#include "neve/plotfile_writer.hpp"
#include "parallel/comm/agree.hpp"
#include "parallel/comm/exchange.hpp"
#include "parallel/file/hints.hpp"

namespace neve::mpi {

class Target {
 public:
  // Collective: prepare(), and all ranks know the name.
  static Result<Target> begin(const Comm& comm, const std::string& path, const WriteOptions& options);
  // Not collective. To be asked for before the work, so that a target that cannot be written costs no
  // encoding. Rank 0 chooses the temporary name; the others have to be told.
  Status prepare(int rank, const std::string& path, const WriteOptions& options);

  const std::string& temporary_path() const { return temporary_path_; }
  void set_temporary_path(std::string path) { temporary_path_ = std::move(path); }
  const Hints& hints() const { return hints_; }

  // Collective: one broadcast. Gives the file, which all ranks have agreed is whole, its name. The
  // result is the same on all ranks.
  struct Finished {
    uint64_t bytes = 0;  // of the file
    double seconds = 0;  // of rank 0's work
  };
  Result<Finished> finish(const Comm& comm);
  // Not collective, rank 0: the same. The others have nothing to do.
  Status commit() { return temporary_->commit(); }

 private:
  std::optional<files::TemporaryFile> temporary_;  // rank 0
  std::string temporary_path_;
  Hints hints_;
};

// Collective, after the put: one exchange in which all ranks agree that the file is whole, and one broadcast
// when it has its name. `mine`: of this rank's work since the ranks met last. The report gets the slowest
// rank's times, the sum of the ranks' calls and bytes, and the file's size. `exchange`: make_closing().
Exchange make_closing();
Status close_write(const Comm& comm, Target& target, const Status& mine, Exchange& exchange,
                   WriteReport& report);

}  // namespace neve::mpi
