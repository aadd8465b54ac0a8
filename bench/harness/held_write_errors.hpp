// SPDX-License-Identifier: BSD-3-Clause
// Parallel HDF5 on a device that fails. A rank whose MPI write failed leaves HDF5's call early, above all
// H5Fclose, and the others wait for it in that call's collective steps.
#pragma once

#include <string>
#include <utility>

#include "neve/status.hpp"

namespace neve::apps {

// While one lives, HDF5 on this thread takes each of its writes of a file for a whole one, so that all ranks
// come to the end of every call. What became of them is asked for here: a file with an error is worth
// nothing. To be made before the file is, and to go after it has been closed.
class HeldWriteErrors {
 public:
  explicit HeldWriteErrors(std::string path);
  ~HeldWriteErrors();
  HeldWriteErrors(const HeldWriteErrors&) = delete;
  HeldWriteErrors& operator=(const HeldWriteErrors&) = delete;

  // The first error of this rank.
  const Status& status() const { return status_; }

  const std::string& path() const { return path_; }
  void note(Status status) noexcept {
    if (status_.ok()) status_ = std::move(status);
  }

 private:
  std::string path_;
  Status status_;
};

}  // namespace neve::apps
