// SPDX-License-Identifier: BSD-3-Clause
// MPI-IO hints as MPI wants them. A key or value that MPI does not take is an error of MPI_COMM_WORLD's
// handler, which ends the program: it is refused before.
#pragma once

#include <mpi.h>

#include <utility>

#include "parallel/comm/agree.hpp"
#include "parallel/file/write_pieces.hpp"

namespace neve::mpi {

class Info {
 public:
  static Result<Info> from(const Hints& hints) {
    Info info;
    if (hints.empty()) return info;
    NEVE_TRY(check_hints(hints));
    NEVE_TRY(mpi_status(MPI_Info_create(&info.info_), "MPI_Info_create"));
    for (const auto& [key, value] : hints) {
      NEVE_TRY(
          mpi_status(MPI_Info_set(info.info_, key.c_str(), value.c_str()), "MPI hint " + key + "=" + value));
    }
    return info;
  }
  Info(Info&& other) noexcept : info_(std::exchange(other.info_, MPI_INFO_NULL)) {}
  Info& operator=(Info&&) = delete;
  ~Info() {
    if (info_ != MPI_INFO_NULL) MPI_Info_free(&info_);
  }
  MPI_Info get() const { return info_; }

 private:
  Info() = default;
  MPI_Info info_ = MPI_INFO_NULL;
};

}  // namespace neve::mpi
