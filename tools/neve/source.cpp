// SPDX-License-Identifier: BSD-3-Clause
#include "tools/neve/source.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "io/hdf5/checkpoint_source.hpp"
#include "io/plotfile/open.hpp"
#include "neve/plotfile_reader.hpp"

namespace neve::cli {
namespace fs = std::filesystem;

Result<InputKind> input_kind(const std::string& path) {
  NEVE_ASSIGN(const plotfile::FileKind kind, plotfile::detect_kind(path));
  switch (kind) {
    case plotfile::FileKind::amrex_plotfile:
      return InputKind::plotfile_directory;
    case plotfile::FileKind::npy:
      return InputKind::npy;
    case plotfile::FileKind::hdf5:
      return hdf5::is_checkpoint(path) ? InputKind::checkpoint : InputKind::hdf5;
    case plotfile::FileKind::netcdf_classic:
      return InputKind::netcdf_classic;
    case plotfile::FileKind::unknown:
      break;
  }
  return InputKind::frame_or_unknown;
}

Result<std::unique_ptr<PlotfileSource>> open_source(const std::string& path, const OpenOptions& options) {
  NEVE_ASSIGN(const InputKind kind, input_kind(path));
  if (kind != InputKind::frame_or_unknown) return neve::open_plotfile(path, options);
  return usage_error(fmt::format(
      "{} is not a plotfile; allowed: an AMReX plotfile directory, a Chombo, AMReX or Neve HDF5 "
      "plotfile, a .npy array (`neve decompress` makes one of a compressed array); of `convert` and "
      "`verify` also netCDF and other HDF5 files",
      path));
}

Status naming_file(const Status& status, const std::string& path) {
  return status.message().find(path) == std::string::npos ? status.in(path) : status;
}

Result<uint64_t> stored_bytes(const std::string& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) {
    const uintmax_t bytes = fs::file_size(path, error);
    if (error) return failure(fmt::format("cannot measure {}: {}", path, error.message()));
    return uint64_t{bytes};
  }
  uint64_t total = 0;
  for (fs::recursive_directory_iterator it(path, error), end; !error && it != end; it.increment(error)) {
    if (it->is_regular_file(error)) total += it->file_size(error);
  }
  if (error) return failure(fmt::format("cannot measure {}: {}", path, error.message()));
  return total;
}

}  // namespace neve::cli
