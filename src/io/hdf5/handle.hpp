// SPDX-License-Identifier: BSD-3-Clause
// An HDF5 identifier that closes itself, from whichever thread and without a word, also where HDF5 has ended
// before it.
#pragma once

#include <hdf5.h>

#include <utility>

#include "io/hdf5/errors.hpp"

namespace neve::hdf5 {

class Handle {
 public:
  using Close = herr_t (*)(hid_t);

  Handle() = default;
  Handle(hid_t id, Close close) : id_(id), close_(close) {}
  Handle(Handle&& other) noexcept
      : id_(std::exchange(other.id_, -1)), close_(other.close_), is_after_mpi_(other.is_after_mpi_) {}
  Handle& operator=(Handle&& other) noexcept {
    if (this != &other) {
      reset();
      id_ = std::exchange(other.id_, -1);
      close_ = other.close_;
      is_after_mpi_ = other.is_after_mpi_;
    }
    return *this;
  }
  ~Handle() { reset(); }

  bool valid() const { return id_ >= 0; }
  // False once MPI_Finalize has closed it.
  bool is_alive() const { return valid() && is_after_mpi_ == is_after_mpi(); }
  hid_t id() const { return id_; }

  // Closes now and tells whether HDF5 could: closing a file is what writes its last bytes.
  bool close() {
    if (!is_alive()) return !valid();
    const QuietErrors quiet;
    return close_(std::exchange(id_, -1)) >= 0;
  }

 private:
  void reset() {
    if (valid()) close();
    id_ = -1;
  }

  hid_t id_ = -1;
  Close close_ = nullptr;
  bool is_after_mpi_ = is_after_mpi();
};

}  // namespace neve::hdf5
