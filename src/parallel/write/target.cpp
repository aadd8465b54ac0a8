// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/write/target.hpp"

#include <array>
#include <filesystem>

#include "parallel/comm/broadcast.hpp"
#include "parallel/comm/fault.hpp"

namespace neve::mpi {

Result<Target> Target::begin(const Comm& comm, const std::string& path, const WriteOptions& options) {
  Target target;
  const Status opened = guarded("open", [&]() -> Status {
    NEVE_ASSIGN(target.hints_, hints_for(options.layout, options.mpi_hints));
    if (comm.rank() != 0) return {};
    NEVE_ASSIGN(files::TemporaryFile beside, files::TemporaryFile::beside(path));
    target.temporary_path_ = beside.path();
    target.temporary_.emplace(std::move(beside));
    return {};
  });
  NEVE_TRY(agree(comm, opened));
  NEVE_TRY(broadcast(comm, target.temporary_path_));
  return target;
}

Result<uint64_t> Target::finish(const Comm& comm) {
  NEVE_TRY(agree(comm, injected_fault(Phase::rename, comm.rank())));
  uint64_t bytes = 0;
  const Status renamed = guarded("rename", [&]() -> Status {
    if (comm.rank() != 0) return {};
    std::error_code error;
    bytes = std::filesystem::file_size(temporary_path_, error);
    if (error) return failure(temporary_path_ + ": " + error.message());
    return temporary_->commit();
  });
  NEVE_TRY(agree(comm, renamed));
  NEVE_TRY(mpi_status(MPI_Bcast(&bytes, 1, MPI_UINT64_T, 0, comm.get()), "broadcast of the file size"));
  return bytes;
}

Status keep_slowest(const Comm& comm, WriteReport& report) {
  std::array<double, 5> seconds = {report.plan_seconds, report.encode_seconds, report.place_seconds,
                                   report.write_seconds, report.sync_seconds};
  NEVE_TRY(mpi_status(MPI_Allreduce(MPI_IN_PLACE, seconds.data(), static_cast<int>(seconds.size()),
                                    MPI_DOUBLE, MPI_MAX, comm.get()),
                      "merging of times"));
  report.plan_seconds = seconds[0];
  report.encode_seconds = seconds[1];
  report.place_seconds = seconds[2];
  report.write_seconds = seconds[3];
  report.sync_seconds = seconds[4];
  return {};
}

}  // namespace neve::mpi
