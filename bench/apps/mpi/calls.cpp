// SPDX-License-Identifier: BSD-3-Clause
#include "bench/apps/mpi/calls.hpp"

#include "parallel/file/openable_path.hpp"
#include "parallel/file/written.hpp"

namespace neve::mpibench {
namespace {

Status of_code(int code) {
  return code == NEVE_OK ? Status() : Status(static_cast<Code>(code), neve_last_error());
}

}  // namespace

Calls::Calls(const mpi::Comm& comm, const Field& field, const CallOptions& options)
    : comm_(comm), field_(field), bound_(to_string(options.bound)), layer_(field.layer()) {
  values_.threads = options.threads;
  call_.values = &values_;
  call_.block_bytes = options.block_bytes;
  call_.layer_ndim = static_cast<int>(layer_.size());
  call_.layer_shape = layer_.data();
}

Status Calls::gather_values(std::byte* all) const {
  const int count = static_cast<int>(field_.count());
  return mpi::mpi_status(
      MPI_Gather(field_.values.data(), count, field_.type(), all, count, field_.type(), 0, comm_.get()),
      "MPI_Gather");
}

Status Calls::gather_frames(std::byte* all) const {
  return of_code(neve_mpi_gather(field_.values.data(), field_.count(), field_.type(), all, 0, comm_.get(),
                                 bound_.c_str(), &call_));
}

Status Calls::write_values(const std::string& path) const {
  MPI_File file = MPI_FILE_NULL;
  mpi::OpenablePath name;
  NEVE_TRY(mpi::open_file(comm_, path, MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_WRONLY, MPI_INFO_NULL, name,
                          file));
  const auto at = static_cast<MPI_Offset>(static_cast<size_t>(comm_.rank()) * field_.values.size());
  MPI_Status moved;
  Status written =
      mpi::mpi_status(MPI_File_write_at_all(file, at, field_.values.data(), static_cast<int>(field_.count()),
                                            field_.type(), &moved),
                      path);
  if (written.ok()) written = mpi::check_written(moved, field_.values.size(), path);
  const Status synced = mpi::mpi_status(MPI_File_sync(file), path);
  const Status closed = mpi::mpi_status(MPI_File_close(&file), path);
  NEVE_TRY(written);
  NEVE_TRY(synced);
  return closed;
}

Status Calls::write_frames(const std::string& path) const {
  neve_mpi_file* file = nullptr;
  NEVE_TRY(of_code(neve_mpi_file_open(comm_.get(), path.c_str(), NEVE_MPI_FILE_CREATE, &file)));
  const uint64_t first = static_cast<uint64_t>(comm_.rank()) * field_.count();
  const Status written = of_code(neve_mpi_file_write_at_all(file, first, field_.values.data(), field_.count(),
                                                            field_.type(), bound_.c_str(), &call_));
  const Status closed = of_code(neve_mpi_file_close(&file));
  NEVE_TRY(written);
  return closed;
}

Result<Bytes> Calls::read_frames(const std::string& path) const {
  neve_mpi_file* file = nullptr;
  NEVE_TRY(of_code(neve_mpi_file_open(comm_.get(), path.c_str(), NEVE_MPI_FILE_READ, &file)));
  Bytes got(field_.values.size());
  const auto rank = static_cast<uint64_t>((comm_.rank() + 1) % comm_.size());
  const Status read = of_code(neve_mpi_file_read_at_all(file, rank * field_.count(), got.data(),
                                                        field_.count(), field_.type(), nullptr));
  const Status closed = of_code(neve_mpi_file_close(&file));
  NEVE_TRY(read);
  NEVE_TRY(closed);
  return got;
}

}  // namespace neve::mpibench
