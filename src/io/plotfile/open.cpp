// SPDX-License-Identifier: BSD-3-Clause
#include "io/plotfile/open.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "io/plotfile/amrex_reader.hpp"
#include "io/plotfile/file.hpp"
#include "io/plotfile/npy.hpp"

namespace neve::plotfile {
namespace {

constexpr std::string_view npy_magic("\x93NUMPY", 6);
constexpr std::string_view netcdf_magic("CDF", 3);  // then 1, 2 or 5
constexpr std::string_view hdf5_magic("\x89HDF\r\n\x1a\n", 8);
// HDF5 allows a block of the user's own before the superblock, of 512 bytes or a power of two times that.
constexpr int64_t first_user_block_bytes = 512;

bool holds_at(const File& file, int64_t offset, std::string_view magic) {
  std::array<std::byte, 8> found{};
  const auto start = std::span(found).first(magic.size());
  return file.read(offset, start).ok() && std::memcmp(start.data(), magic.data(), magic.size()) == 0;
}

}  // namespace

Result<FileKind> detect_kind(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0)
    return failure(fmt::format("cannot open {}: {}", path, std::strerror(errno)));
  if (S_ISDIR(info.st_mode)) {
    if (::stat((path + "/Header").c_str(), &info) == 0) return FileKind::amrex_plotfile;
    return no_amrex_header(path);
  }
  NEVE_ASSIGN(const std::shared_ptr<File> file, File::open(path));
  if (holds_at(*file, 0, npy_magic)) return FileKind::npy;
  if (holds_at(*file, 0, hdf5_magic)) return FileKind::hdf5;
  if (holds_at(*file, 0, netcdf_magic)) return FileKind::netcdf_classic;
  for (int64_t at = first_user_block_bytes; at < file->size_bytes(); at *= 2) {
    if (holds_at(*file, at, hdf5_magic)) return FileKind::hdf5;
  }
  return FileKind::unknown;
}

Result<std::unique_ptr<PlotfileSource>> open_plotfile(const std::string& path, const OpenOptions& options) {
  NEVE_ASSIGN(const FileKind kind, detect_kind(path));
  switch (kind) {
    case FileKind::amrex_plotfile:
      return open_amrex_plotfile(path, options);
    case FileKind::npy:
      return open_npy_plotfile(path);
    case FileKind::hdf5:
      return usage_error(
          fmt::format("{} is an HDF5 file; AMReX plotfiles and .npy files are read here", path));
    case FileKind::netcdf_classic:
    case FileKind::unknown:
      break;
  }
  return usage_error(
      fmt::format("{} is neither an AMReX plotfile directory nor a .npy nor an HDF5 file", path));
}

}  // namespace neve::plotfile
