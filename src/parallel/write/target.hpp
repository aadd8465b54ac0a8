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
#include "parallel/file/hints.hpp"

namespace neve::mpi {

class Target {
 public:
  // Collective. To be asked for before the work, so that a target that cannot be written costs no encoding.
  static Result<Target> begin(const Comm& comm, const std::string& path, const WriteOptions& options);

  const std::string& temporary_path() const { return temporary_path_; }
  const Hints& hints() const { return hints_; }

  // Collective. Gives the whole, synced file its name. Its bytes, on every rank.
  Result<uint64_t> finish(const Comm& comm);

 private:
  Target() = default;
  std::optional<files::TemporaryFile> temporary_;  // rank 0
  std::string temporary_path_;
  Hints hints_;
};

// Collective. The times of the slowest rank.
Status keep_slowest(const Comm& comm, WriteReport& report);

}  // namespace neve::mpi
