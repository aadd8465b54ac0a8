// SPDX-License-Identifier: BSD-3-Clause
// What the bindings share: errors as Python exceptions, and Python's buffers as spans.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <exception>
#include <span>
#include <string>
#include <utility>

#include "neve/status.hpp"
#include "neve/types.hpp"

namespace neve::python {

namespace nb = nanobind;

// A Status on its way to become a neve.Error; module.cpp translates it.
class StatusError : public std::exception {
 public:
  explicit StatusError(Status status) : status_(std::move(status)) {}
  const char* what() const noexcept override { return status_.message().c_str(); }
  const Status& status() const { return status_; }

 private:
  Status status_;
};

inline void check(const Status& status) {
  if (!status.ok()) throw StatusError(status);
}

template <class T>
T unwrap(Result<T> result) {
  if (!result.ok()) throw StatusError(result.status());
  return std::move(*result);
}

// Memory of a Python object, kept alive and unmovable as long as this lives. The GIL must be held to
// make and to destroy it, not to use it.
class Buffer {
 public:
  enum class Access { read, write };
  // Of values with several indices: which of them is fastest in memory.
  enum class Order { any, first_index_fastest };

  Buffer(nb::handle object, Access access, Order order = Order::any) {
    const int flags = (order == Order::any ? PyBUF_ANY_CONTIGUOUS : PyBUF_F_CONTIGUOUS) |
                      (access == Access::write ? PyBUF_WRITABLE : PyBUF_SIMPLE);
    if (PyObject_GetBuffer(object.ptr(), &view_, flags) != 0) throw nb::python_error();
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() { PyBuffer_Release(&view_); }

  std::byte* data() const { return static_cast<std::byte*>(view_.buf); }
  size_t size_bytes() const { return static_cast<size_t>(view_.len); }
  std::span<const std::byte> bytes() const { return {data(), size_bytes()}; }

 private:
  Py_buffer view_{};
};

// As neve/_array.py names it.
DType dtype_of_name(const std::string& name);

void bind_array(nb::module_& module);
void bind_boxes(nb::module_& module);
void bind_files(nb::module_& module);
void bind_filter(nb::module_& module);
void bind_frame(nb::module_& module);
void bind_plotfile(nb::module_& module);
void bind_series(nb::module_& module);
void bind_stream(nb::module_& module);

}  // namespace neve::python
