// SPDX-License-Identifier: BSD-3-Clause
// Files as the rest of Neve writes them: whole or not at all.
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

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

// A file that is written part by part under a path of its own until it is whole.
class GrowingFile {
 public:
  explicit GrowingFile(const nb::bytes& target)
      : file_(unwrap(files::TemporaryFile::beside(std::string(target.c_str(), target.size())))) {}

  nb::bytes path() {
    const std::string& made = held().path();
    return nb::bytes(made.data(), made.size());
  }

  void commit() {
    files::TemporaryFile file = std::move(held());
    file_.reset();
    Status status;
    {
      const nb::gil_scoped_release release;
      status = file.commit();
    }
    check(status);
  }

  void discard() { file_.reset(); }

 private:
  files::TemporaryFile& held() {
    if (!file_) throw std::logic_error("the file was committed or discarded before");
    return *file_;
  }

  std::optional<files::TemporaryFile> file_;
};

}  // namespace

void bind_files(nb::module_& module) {
  module.def("write_file", &write_file);
  nb::class_<GrowingFile>(module, "GrowingFile")
      .def(nb::init<const nb::bytes&>(), nb::arg("target"))
      .def_prop_ro("path", &GrowingFile::path)
      .def("commit", &GrowingFile::commit)
      .def("discard", &GrowingFile::discard);
}

}  // namespace neve::python
