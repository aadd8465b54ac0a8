// SPDX-License-Identifier: BSD-3-Clause
// HDF5's error stack as text, and silence while we look at it.
#pragma once

#include <hdf5.h>

#include <string>

#include "io/hdf5/library_lock.hpp"

namespace neve::hdf5 {

// While one lives, HDF5 prints no error, and is this thread's alone (LibraryLock), because the stack of
// errors is the library's; the host's handler comes back.
class QuietErrors {
 public:
  QuietErrors() {
    H5Eget_auto2(H5E_DEFAULT, &handler_, &client_data_);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  }
  ~QuietErrors() { H5Eset_auto2(H5E_DEFAULT, handler_, client_data_); }
  QuietErrors(const QuietErrors&) = delete;
  QuietErrors& operator=(const QuietErrors&) = delete;

 private:
  LibraryLock lock_;
  H5E_auto2_t handler_ = nullptr;
  void* client_data_ = nullptr;
};

// What the last failed HDF5 call says: the root cause first. Never empty.
std::string last_error();

}  // namespace neve::hdf5
