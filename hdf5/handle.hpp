// SPDX-License-Identifier: BSD-3-Clause
// An HDF5 identifier that closes itself.
#pragma once

#include <hdf5.h>

#include <utility>

namespace neve::hdf5 {

class Handle {
 public:
  using Close = herr_t (*)(hid_t);

  Handle() = default;
  Handle(hid_t id, Close close) : id_(id), close_(close) {}
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Handle& operator=(Handle&& other) noexcept {
    if (this != &other) {
      reset();
      id_ = std::exchange(other.id_, -1);
      close_ = other.close_;
    }
    return *this;
  }
  ~Handle() { reset(); }

  bool valid() const { return id_ >= 0; }
  hid_t id() const { return id_; }

  // Closes now and tells whether HDF5 could: closing a file is what writes its last bytes.
  bool close() { return id_ < 0 || close_(std::exchange(id_, -1)) >= 0; }

 private:
  void reset() {
    if (id_ >= 0) close_(id_);
    id_ = -1;
  }

  hid_t id_ = -1;
  Close close_ = nullptr;
};

}  // namespace neve::hdf5
