// SPDX-License-Identifier: BSD-3-Clause
// Files as the rest of Neve writes them: whole or not at all.
#include <span>
#include <string>

#include "binding.hpp"
#include "io/files/temporary_file.hpp"

namespace neve::python {

namespace {

void write_file(const nb::bytes& path, const nb::bytes& content) {
  const std::string name(path.c_str(), path.size());
  const auto bytes = std::as_bytes(std::span(content.c_str(), content.size()));
  Status status;
  {
    const nb::gil_scoped_release release;
    status = files::write_file(name, bytes);
  }
  check(status);
}

}  // namespace

void bind_files(nb::module_& module) { module.def("write_file", &write_file); }

}  // namespace neve::python
