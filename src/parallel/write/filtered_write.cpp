// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/write/filtered_write.hpp"

#include <hdf5.h>

#include <optional>
#include <vector>

#include "io/files/write.hpp"
#include "io/hdf5/errors.hpp"
#include "io/hdf5/filter.hpp"
#include "io/hdf5/handle.hpp"
#include "io/hdf5/layout_names.hpp"
#include "io/hdf5/level_dataset.hpp"
#include "io/hdf5/stand_in.hpp"
#include "parallel/comm/fault.hpp"
#include "parallel/comm/stopwatch.hpp"
#include "parallel/comm/turns.hpp"
#include "parallel/file/info.hpp"
#include "parallel/file/openable_path.hpp"

namespace neve::mpi {
namespace {

using hdf5::Handle;

Status hdf5_failed(const std::string& what) { return failure(what + ": " + hdf5::last_error()); }

struct LevelWrite {
  Handle dataset;
  std::optional<uint64_t> chunk;  // this rank's
  hdf5::PreparedFrame frame;
};

Handle file_access(const Comm& comm, const Info& info) {
  Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  H5Pset_fapl_mpio(access.id(), comm.get(), info.get());
  // As the skeleton: newer formats index many chunks slowly.
  H5Pset_libver_bounds(access.id(), H5F_LIBVER_EARLIEST, H5F_LIBVER_LATEST);
  return access;
}

// Collective; every rank makes all datasets, whatever failed before: each is an exchange.
Status create_datasets(hid_t file, const Hierarchy& hierarchy, const WritePlan& plan,
                       std::vector<LevelWrite>& levels) {
  const hdf5::StandIn placeholder(nullptr);  // 1.10 runs the filter over a new dataset's fill values
  Status status;
  for (size_t l = 0; l < levels.size(); ++l) {
    const std::string name = hdf5::level_name(l);
    const amr::LevelChunks& chunks = plan.levels[l].chunks;
    const Handle group(H5Gopen2(file, name.c_str(), H5P_DEFAULT), H5Gclose);
    Result<Handle> dataset = hdf5::create_level_dataset(group.id(), hdf5::data_name, hierarchy.dtype,
                                                        chunks.chunk_elements, chunks.chunks.size());
    if (dataset.ok()) {
      levels[l].dataset = std::move(*dataset);
    } else if (status.ok()) {
      status = dataset.status().in(name);
    }
  }
  return status;
}

// Collective. One element of this rank's chunk is selected: HDF5 then neither gathers nor copies a chunk, and
// the frame takes the place of what it made of that element.
Status write_level(LevelWrite& level, uint64_t chunk_elements, DType dtype) {
  const hsize_t one = 1;
  const hsize_t first = level.chunk ? *level.chunk * chunk_elements : 0;
  const Handle memory(H5Screate_simple(1, &one, nullptr), H5Sclose);
  const Handle selection(H5Dget_space(level.dataset.id()), H5Sclose);
  if (level.chunk) {
    H5Sselect_hyperslab(selection.id(), H5S_SELECT_SET, &first, nullptr, &one, nullptr);
  } else {
    H5Sselect_none(memory.id());
    H5Sselect_none(selection.id());
  }
  const Handle transfer(H5Pcreate(H5P_DATASET_XFER), H5Pclose);
  H5Pset_dxpl_mpio(transfer.id(), H5FD_MPIO_COLLECTIVE);
  const hid_t type = dtype == DType::f32 ? H5T_NATIVE_FLOAT : H5T_NATIVE_DOUBLE;
  const double never_stored = 0;
  const hdf5::StandIn stand_in(&level.frame);
  if (H5Dwrite(level.dataset.id(), type, memory.id(), selection.id(), transfer.id(), &never_stored) < 0) {
    return hdf5_failed("collective filtered write");
  }
  if (!level.chunk) return {};
  if (level.frame.memory != nullptr) return failure("HDF5 wrote a chunk without calling the filter");
  hsize_t stored_bytes = 0;
  if (H5Dget_chunk_storage_size(level.dataset.id(), &first, &stored_bytes) < 0 ||
      stored_bytes != level.frame.bytes) {
    return failure("HDF5 stored " + std::to_string(stored_bytes) + " bytes of a frame of " +
                   std::to_string(level.frame.bytes));
  }
  return {};
}

}  // namespace

Status check_filtered_is_built() { return {}; }

Result<FilteredTimes> write_filtered(const Comm& comm, const std::string& path, const Hints& hints,
                                     const Hierarchy& hierarchy, const WritePlan& plan,
                                     std::span<EncodedChunk> chunks) {
  NEVE_ASSIGN(const Hdf5FileTurn turn, take_hdf5_file_turn(comm.get()));
  const hdf5::QuietErrors quiet;  // and HDF5 for this thread alone, in which others wait for no rank
  FilteredTimes times;
  Stopwatch stopwatch;
  Handle file;  // outlives the datasets: HDF5 does not close a shared file under them
  std::vector<LevelWrite> levels;
  std::optional<Info> info;
  OpenablePath name;
  const Status prepared = guarded("place", [&]() -> Status {
    NEVE_ASSIGN(Info made, Info::from(hints));
    info.emplace(std::move(made));
    NEVE_ASSIGN(name, OpenablePath::of(path));
    NEVE_TRY(hdf5::register_filter());
    levels.resize(plan.levels.size());
    for (EncodedChunk& chunk : chunks) {
      LevelWrite& level = levels[chunk.level];
      NEVE_ASSIGN(level.frame, hdf5::PreparedFrame::copy_of(chunk.frame));
      level.chunk = chunk.chunk;
      chunk.frame = std::vector<std::byte>();  // `= {}` would keep its memory
    }
    return {};
  });
  NEVE_TRY(agree(comm, prepared));

  const Handle access = file_access(comm, *info);
  const hid_t opened = H5Fopen(name.c_str(), H5F_ACC_RDWR, access.id());
  // Where only some ranks could open the file it stays open on those: closing is collective.
  NEVE_TRY(agree(comm, opened >= 0 ? Status() : hdf5_failed(path + ": opening for the collective write")));
  file = Handle(opened, H5Fclose);
  NEVE_TRY(agree(comm, create_datasets(file.id(), hierarchy, plan, levels).in(path)));
  times.create_seconds = stopwatch.lap();

  NEVE_TRY(agree(comm, injected_fault(Phase::write, comm.rank())));
  Status status;
  for (size_t l = 0; l < levels.size(); ++l) {
    const Status written = write_level(levels[l], plan.levels[l].chunks.chunk_elements, hierarchy.dtype);
    if (status.ok()) status = written.in(path + ": " + hdf5::level_name(l));
    levels[l].dataset.close();
  }
  if (!file.close() && status.ok()) status = hdf5_failed(path + ": closing");
  times.pieces.write_seconds = stopwatch.lap();
  if (status.ok()) status = injected_fault(Phase::sync, comm.rank());
  if (status.ok()) status = files::sync_path(path);
  NEVE_TRY(agree(comm, status));
  times.pieces.sync_seconds = stopwatch.lap();
  return times;
}

}  // namespace neve::mpi
