// SPDX-License-Identifier: BSD-3-Clause
#include "cli/array_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "mpi/temporary.hpp"
#include "plotfile/file.hpp"

namespace neve::cli {

Result<std::vector<std::byte>> read_file(const std::string& path) {
  NEVE_ASSIGN(const std::shared_ptr<plotfile::File> file, plotfile::File::open(path));
  std::vector<std::byte> bytes(static_cast<size_t>(file->size_bytes()));
  NEVE_TRY(file->read(0, bytes));
  return bytes;
}

Status write_file(const std::string& path, std::span<const std::byte> bytes) {
  NEVE_ASSIGN(mpi::Temporary temporary, mpi::Temporary::beside(path, mpi::Temporary::Kind::file));
  const int file = ::open(temporary.path().c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file < 0) return failure(fmt::format("cannot create {}: {}", temporary.path(), std::strerror(errno)));
  Status written = plotfile::write_fully(file, 0, bytes, path);
  if (::close(file) != 0 && written.ok()) {
    written = failure(fmt::format("cannot write {}: {}", path, std::strerror(errno)));
  }
  NEVE_TRY(written);
  return temporary.commit();
}

Result<plotfile::NpyArray> decode_array(const Frame& frame, int threads) {
  const FrameLayout& layout = frame.layout();
  if (layout.components != 1 || layout.boxes.size() > 1 || layout.is_split) {
    return usage_error(fmt::format("the frame holds {} boxes of {} components, not one array",
                                   layout.boxes.size(), layout.components));
  }
  plotfile::NpyArray array;
  array.dtype = frame.dtype();
  array.shape = layout.array_shape;
  array.values.resize(layout.element_count * dtype_bytes(array.dtype));
  NEVE_TRY(frame.decode(array.values.data(), array.values.size(), threads));
  return array;
}

}  // namespace neve::cli
