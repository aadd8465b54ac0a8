// SPDX-License-Identifier: BSD-3-Clause
#include "bench/apps/chombo/hdf5_write.hpp"

#include <hdf5.h>
#include <mpi.h>

#include <optional>
#include <utility>
#include <vector>

#include "bench/apps/chombo/box_calls.hpp"
#include "bench/harness/held_write_errors.hpp"
#include "io/files/write.hpp"
#include "io/hdf5/errors.hpp"
#include "io/hdf5/handle.hpp"
#include "io/hdf5/skeleton_objects.hpp"
#include "parallel/comm/fault.hpp"
#include "parallel/comm/stopwatch.hpp"
#include "parallel/file/hints.hpp"
#include "parallel/file/info.hpp"
#include "parallel/file/openable_path.hpp"
#include "parallel/file/space.hpp"

namespace neve::chombo {
namespace {

using hdf5::Handle;
using mpi::Comm;

// More than the structure of a file of so many boxes takes.
constexpr uint64_t structure_bytes_of_file = uint64_t{1} << 20;
constexpr uint64_t structure_bytes_of_box = 64;  // its corners, owner and offset

Status hdf5_failed(const std::string& what) { return failure(what + ": " + hdf5::last_error()); }

// Keeps the first error, and goes on: the ranks have to make the same calls.
void note(const Status& status, Status& first) {
  if (first.ok()) first = status;
}

Handle file_access(const Comm& comm, const mpi::Info& info) {
  Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  H5Pset_fapl_mpio(access.id(), comm.get(), info.get());
  // As all of Neve's files, so that they differ in nothing but the way in which they were written.
  H5Pset_libver_bounds(access.id(), H5F_LIBVER_EARLIEST, H5F_LIBVER_LATEST);
  return access;
}

class Hdf5Write {
 public:
  Hdf5Write(const Comm& comm, const std::string& path, const mpi::Hints& hints, const Way& way,
            const Contents& contents, WayReport& report)
      : comm_(comm),
        path_(path),
        hints_(hints),
        way_(way),
        contents_(contents),
        report_(report),
        held_(path) {}

  // Collective.
  Status run() {
    NEVE_TRY(agree(comm_, mpi::guarded("plan", [&] { return prepare(); })));
    if (way_.is_collective) NEVE_TRY(calls_->make_even(comm_));
    report_.write.plan_seconds = stopwatch_.lap();
    NEVE_TRY(create());
    report_.write.place_seconds = stopwatch_.lap();
    NEVE_TRY(agree(comm_, mpi::injected_fault(mpi::Phase::write, comm_.rank())));
    Status status = write_values();
    datasets_.clear();
    if (!file_.close()) note(hdf5_failed(path_ + ": closing"), status);
    note(held_.status(), status);
    report_.write.write_seconds = stopwatch_.lap();
    note(mpi::injected_fault(mpi::Phase::sync, comm_.rank()), status);
    if (status.ok()) status = files::sync_path(path_);
    NEVE_TRY(agree(comm_, status));
    report_.write.sync_seconds = stopwatch_.lap();
    return {};
  }

 private:
  Status prepare() {
    NEVE_ASSIGN(mpi::Info made, mpi::Info::from(hints_));
    info_.emplace(std::move(made));
    NEVE_ASSIGN(name_, mpi::OpenablePath::of(path_));
    all_ = contents_.datasets();
    calls_.emplace(all_, way_.aggregate_boxes);
    calls_->make_buffer();
    report_.peak_buffer_bytes = calls_->buffer_bytes();
    datasets_.reserve(all_.size());
    return mpi::injected_fault(mpi::Phase::place, comm_.rank());
  }

  // Collective.
  Status create() {
    const Handle access = file_access(comm_, *info_);
    const hid_t opened = H5Fcreate(name_.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.id());
    // Where only some ranks could open the file it stays open on those: closing is collective.
    NEVE_TRY(agree(comm_, opened >= 0 ? Status() : hdf5_failed(path_ + ": creating")));
    file_ = Handle(opened, H5Fclose);
    NEVE_TRY(agree(comm_, mpi::guarded("place", [&] { return reserve(); })));
    NEVE_TRY(agree(comm_, mpi::guarded("place", [&] { return make_objects().in(path_); })));
    NEVE_TRY(agree(comm_, held_.status()));
    NEVE_TRY(agree(comm_, mpi::guarded("place", [&] { return open_datasets(); })));
    void* file = nullptr;
    NEVE_TRY(agree(comm_, H5Fget_vfd_handle(file_.id(), H5P_DEFAULT, &file) >= 0
                              ? Status()
                              : hdf5_failed(path_ + ": asking for its MPI file")));
    NEVE_ASSIGN(report_.write.hints, mpi::hints_of(comm_, *static_cast<MPI_File*>(file)));
    return {};
  }

  // HDF5 cuts off what it did not need when it closes the file.
  Status reserve() const {
    if (comm_.rank() != 0) return {};
    uint64_t bytes = structure_bytes_of_file;
    for (const ValueDataset& dataset : all_) bytes += dataset.bytes;
    for (const Level& level : contents_.hierarchy().levels)
      bytes += level.boxes.size() * structure_bytes_of_box * contents_.groups().size();
    return mpi::reserve_space(path_, bytes);
  }

  Status make_objects() {
    const hdf5::ObjectsIn in{file_.id(), nullptr, comm_.rank() == 0};
    if (contents_.file() == FileKind::plot) {
      return hdf5::make_plotfile_objects(in, contents_.hierarchy(), contents_.plotfile_placements(false))
          .status();
    }
    return hdf5::make_checkpoint_objects(in, contents_.hierarchy(), contents_.checkpoint_placements(false))
        .status();
  }

  Status open_datasets() {
    for (const ValueDataset& dataset : all_) {
      datasets_.emplace_back(H5Dopen2(file_.id(), dataset.path.c_str(), H5P_DEFAULT), H5Dclose);
      if (!datasets_.back().valid()) return hdf5_failed(path_ + ": " + dataset.path);
    }
    return {};
  }

  // Collective where the way is: every rank makes as many calls, whatever has failed before.
  Status write_values() {
    const Handle transfer(H5Pcreate(H5P_DATASET_XFER), H5Pclose);
    H5Pset_dxpl_mpio(transfer.id(), way_.is_collective ? H5FD_MPIO_COLLECTIVE : H5FD_MPIO_INDEPENDENT);
    Status status;
    for (size_t d = 0; d < all_.size(); ++d) {
      for (size_t call = 0; call < calls_->count(d); ++call) {
        note(write_call(d, calls_->pieces(d, call), transfer.id()), status);
        if (!status.ok() && !way_.is_collective) return status;  // nobody waits
      }
    }
    return status;
  }

  // One H5Dwrite, of the union of the pieces' places.
  Status write_call(size_t d, Pieces pieces, hid_t transfer) {
    constexpr uint64_t value_bytes = sizeof(double);
    const uint64_t bytes = bytes_of(pieces);
    const hsize_t extent = pieces.empty() ? 1 : bytes / value_bytes;
    const Handle memory(H5Screate_simple(1, &extent, nullptr), H5Sclose);
    const Handle places(H5Dget_space(datasets_[d].id()), H5Sclose);
    herr_t selected = 0;
    if (pieces.empty()) {
      selected |= H5Sselect_none(memory.id());
      selected |= H5Sselect_none(places.id());
    }
    H5S_seloper_t join = H5S_SELECT_SET;
    for (const mpi::Piece& piece : pieces) {
      const hsize_t first = piece.address / value_bytes, count = piece.rows.bytes() / value_bytes;
      selected |= H5Sselect_hyperslab(places.id(), join, &first, nullptr, &count, nullptr);
      join = H5S_SELECT_OR;
    }
    const std::byte* const values = calls_->copy(pieces);
    const double none = 0;
    const herr_t written = H5Dwrite(datasets_[d].id(), H5T_NATIVE_DOUBLE, memory.id(), places.id(), transfer,
                                    pieces.empty() ? static_cast<const void*>(&none) : values);
    report_.write.mpi_writes += way_.is_collective ? 1 : runs_of(pieces);
    report_.write.data_bytes += bytes;
    if (selected < 0 || written < 0) return hdf5_failed(path_ + ": " + all_[d].path + ": H5Dwrite");
    return held_.status();
  }

  const Comm& comm_;
  const std::string& path_;
  const mpi::Hints& hints_;
  const Way& way_;
  const Contents& contents_;
  WayReport& report_;

  const hdf5::QuietErrors quiet_;
  mpi::Stopwatch stopwatch_;
  std::optional<mpi::Info> info_;
  mpi::OpenablePath name_;
  std::vector<ValueDataset> all_;
  std::optional<BoxCalls> calls_;
  apps::HeldWriteErrors held_;  // outlives the file
  Handle file_;
  std::vector<Handle> datasets_;  // closed before the file
};

}  // namespace

Status write_by_hdf5(const Comm& comm, const std::string& path, const mpi::Hints& hints, const Way& way,
                     const Contents& contents, WayReport& report) {
  return Hdf5Write(comm, path, hints, way, contents, report).run();
}

}  // namespace neve::chombo
