// SPDX-License-Identifier: BSD-3-Clause
#include "bench/apps/layouts/dataset_file.hpp"

#include <hdf5.h>
#include <mpi.h>

#include "bench/harness/held_write_errors.hpp"
#include "io/files/write.hpp"
#include "io/hdf5/errors.hpp"
#include "io/hdf5/handle.hpp"
#include "io/hdf5/layout_names.hpp"
#include "io/hdf5/level_dataset.hpp"
#include "parallel/comm/fault.hpp"
#include "parallel/comm/stopwatch.hpp"
#include "parallel/file/openable_path.hpp"

namespace neve::layouts {
namespace {

using hdf5::Handle;

Status hdf5_failed(const std::string& what) { return failure(what + ": " + hdf5::last_error()); }

Handle file_access(const mpi::Comm& comm) {
  Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  H5Pset_fapl_mpio(access.id(), comm.get(), MPI_INFO_NULL);
  // As all of Neve's files: newer formats index many chunks slowly.
  H5Pset_libver_bounds(access.id(), H5F_LIBVER_EARLIEST, H5F_LIBVER_LATEST);
  return access;
}

// Without a filter.
Result<Handle> create_contiguous(hid_t group, const std::string& name, hid_t type,
                                 const std::vector<hsize_t>& shape) {
  const Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  H5Pset_fill_time(creation.id(), H5D_FILL_TIME_NEVER);
  H5Pset_obj_track_times(creation.id(), false);
  const Handle space(H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr), H5Sclose);
  Handle dataset(H5Dcreate2(group, name.c_str(), type, space.id(), H5P_DEFAULT, creation.id(), H5P_DEFAULT),
                 H5Dclose);
  if (!dataset.valid()) return hdf5_failed(name);
  return dataset;
}

// A small table: rank 0 has its values.
Status write_table(const mpi::Comm& comm, hid_t group, const std::string& name, hid_t on_disk,
                   hid_t in_memory, const std::vector<hsize_t>& shape, const void* values) {
  NEVE_ASSIGN(const Handle dataset, create_contiguous(group, name, on_disk, shape));
  if (comm.rank() != 0) return {};
  if (H5Dwrite(dataset.id(), in_memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0) return hdf5_failed(name);
  return {};
}

Status write_box_table(const mpi::Comm& comm, hid_t group, const Level& level, const BoxTable& table) {
  std::vector<int32_t> corners;
  for (const Box& box : level.boxes) {
    corners.insert(corners.end(), box.lo.begin(), box.lo.end());
    corners.insert(corners.end(), box.hi.begin(), box.hi.end());
  }
  const hsize_t boxes = level.boxes.size();
  const Status status = write_table(comm, group, hdf5::boxes_name, H5T_STD_I32LE, H5T_NATIVE_INT32,
                                    {boxes, 2 * max_dims}, corners.data());
  const Status second = write_table(comm, group, hdf5::offsets_name, H5T_STD_I64LE, H5T_NATIVE_INT64, {boxes},
                                    table.first_element.data());
  return status.ok() ? second : status;
}

hid_t type_on_disk(DType dtype) { return dtype == DType::f32 ? H5T_IEEE_F32LE : H5T_IEEE_F64LE; }
hid_t type_in_memory(DType dtype) { return dtype == DType::f32 ? H5T_NATIVE_FLOAT : H5T_NATIVE_DOUBLE; }

Result<Handle> create_dataset(hid_t group, DType dtype, const DatasetWrite& of) {
  if (of.chunk_elements == 0) return create_contiguous(group, of.name, type_on_disk(dtype), {of.elements});
  return hdf5::create_level_dataset(group, of.name, dtype, of.chunk_elements,
                                    of.elements / of.chunk_elements);
}

// Collective: every rank takes part, whatever it has, and whatever failed before.
Status write_dataset(hid_t dataset, DType dtype, const DatasetWrite& of, ChunkFilter& filter) {
  const hsize_t first = of.first, count = of.count > 0 ? of.count : 1;
  const Handle memory(H5Screate_simple(1, &count, nullptr), H5Sclose);
  const Handle selection(H5Dget_space(dataset), H5Sclose);
  if (of.count > 0) {
    H5Sselect_hyperslab(selection.id(), H5S_SELECT_SET, &first, nullptr, &count, nullptr);
  } else {
    H5Sselect_none(memory.id());
    H5Sselect_none(selection.id());
  }
  const Handle transfer(H5Pcreate(H5P_DATASET_XFER), H5Pclose);
  H5Pset_dxpl_mpio(transfer.id(), H5FD_MPIO_COLLECTIVE);
  const double none = 0;
  const void* const values = of.values != nullptr ? of.values : &none;
  filter.set(of.encode ? &of.encode : nullptr);
  const herr_t written =
      H5Dwrite(dataset, type_in_memory(dtype), memory.id(), selection.id(), transfer.id(), values);
  filter.set(nullptr);
  return written < 0 ? hdf5_failed(of.name + ": collective write") : Status();
}

// Keeps the first error, and goes on: the ranks have to make the same calls.
void note(const Status& status, Status& first) {
  if (first.ok()) first = status;
}

// Collective.
Status create_all(const mpi::Comm& comm, hid_t file, const Input& input, const std::vector<BoxTable>& tables,
                  const std::vector<DatasetWrite>& datasets, std::vector<Handle>& made) {
  Status status;
  std::vector<Handle> groups;
  for (size_t level = 0; level < tables.size(); ++level) {
    const std::string name = hdf5::level_name(level);
    groups.emplace_back(H5Gcreate2(file, name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose);
    if (!groups.back().valid()) note(hdf5_failed(name), status);
    note(write_box_table(comm, groups.back().id(), input.hierarchy.levels[level], tables[level]), status);
  }
  for (const DatasetWrite& of : datasets) {
    Result<Handle> dataset = create_dataset(groups[of.level].id(), input.hierarchy.dtype, of);
    note(dataset.status(), status);
    made.push_back(dataset.ok() ? std::move(*dataset) : Handle());
  }
  return status;
}

}  // namespace

Result<FileSeconds> write_datasets(const mpi::Comm& comm, const std::string& path, const Input& input,
                                   const std::vector<BoxTable>& tables,
                                   const std::vector<DatasetWrite>& datasets) {
  const hdf5::QuietErrors quiet;
  ChunkFilter filter;
  mpi::OpenablePath name;
  NEVE_TRY(mpi::agree(comm, mpi::guarded("open", [&]() -> Status {
                        NEVE_ASSIGN(name, mpi::OpenablePath::of(path));
                        return filter.status();
                      })));
  const apps::HeldWriteErrors held(path);
  const Handle access = file_access(comm);
  const hid_t opened = H5Fcreate(name.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.id());
  // Where only some ranks could open the file it stays open on those: closing is collective.
  NEVE_TRY(mpi::agree(comm, opened >= 0 ? Status() : hdf5_failed(path + ": creating")));
  Handle file(opened, H5Fclose);
  std::vector<Handle> made;
  NEVE_TRY(mpi::agree(comm, create_all(comm, file.id(), input, tables, datasets, made).in(path)));

  NEVE_TRY(mpi::agree(comm, mpi::injected_fault(mpi::Phase::write, comm.rank())));
  Status status;
  for (size_t d = 0; d < datasets.size(); ++d) {
    note(write_dataset(made[d].id(), input.hierarchy.dtype, datasets[d], filter).in(path), status);
    made[d].close();
  }
  if (!file.close()) note(hdf5_failed(path + ": closing"), status);
  note(held.status(), status);
  if (!filter.status().ok()) status = filter.status();
  mpi::Stopwatch stopwatch;
  note(mpi::injected_fault(mpi::Phase::sync, comm.rank()), status);
  if (status.ok()) status = files::sync_path(path);
  FileSeconds seconds{filter.encode_seconds(), stopwatch.lap(), filter.calls()};
  NEVE_TRY(mpi::agree(comm, status));
  return seconds;
}

}  // namespace neve::layouts
