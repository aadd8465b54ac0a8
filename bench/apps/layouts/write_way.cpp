// SPDX-License-Identifier: BSD-3-Clause
#include "bench/apps/layouts/write_way.hpp"

#include <mpi.h>

#include <array>
#include <utility>

#include "io/hdf5/layout_names.hpp"
#include "neve/plotfile_writer.hpp"
#include "parallel/comm/stopwatch.hpp"

namespace neve::layouts {
namespace {

using mpi::Comm;

WriteOptions plotfile_options(const Way& way, const WriteCase& how) {
  WriteOptions options;
  options.strategy = way.layout == Layout::filtered ? "filtered" : "skeleton";
  options.codec = way.codec;
  options.bound = how.bound;
  options.covered = Covered::drop;
  options.detect_fill = false;
  options.encode.effort = way.effort;
  if (way.is_behind) options.behind = Behind::encode;
  if (way.layout == Layout::filtered) {
    options.tuning.arrangement =
        way.codec == Codec::interpolation ? Arrangement::cluster : Arrangement::linear;
    options.tuning.unit_cells = how.unit_cells;
  }
  return options;
}

// By Neve's own writer.
Result<Written> write_as_plotfile(const Comm& comm, const Way& way, const Input& input, const WriteCase& how,
                                  const std::string& path) {
  mpi::Stopwatch stopwatch;
  NEVE_ASSIGN(const WriteReport report,
              write_plotfile(comm.get(), path, input.hierarchy, input.boxes, plotfile_options(way, how)));
  Written written;
  written.seconds = {report.plan_seconds, report.encode_seconds, report.sync_seconds, stopwatch.lap()};
  if (way.is_behind) NEVE_TRY(wait_for_writes(comm.get()));
  written.is_plotfile = true;
  for (const LevelReport& level : report.levels) {
    written.datasets.push_back(hdf5::level_name(written.datasets.size()) + "/" + hdf5::data_name);
    // Neve's frames go into the file without HDF5, but for strategy filtered, where each takes one call.
    if (way.layout == Layout::filtered) written.filter_calls += level.chunks;
    std::vector<double>& bounds = written.bounds.emplace_back();
    for (const FieldReport& field : level.fields) bounds.push_back(field.bound_abs);
  }
  return written;
}

Result<Prepared> prepare(const Comm& comm, const Way& way, const Input& input, const WriteCase& how) {
  if (way.layout == Layout::values || way.layout == Layout::chunks_1d) {
    return prepare_values(comm, way, input, how.bound);
  }
  return prepare_frames(comm, way, input, how.bound, how.unit_cells);
}

// By HDF5, as its users write.
Result<Written> write_as_datasets(const Comm& comm, const Way& way, const Input& input, const WriteCase& how,
                                  const std::string& path) {
  mpi::Stopwatch stopwatch, whole;
  NEVE_ASSIGN(Prepared prepared, prepare(comm, way, input, how));
  const double prepare_seconds = stopwatch.lap();
  NEVE_ASSIGN(FileSeconds file, write_datasets(comm, path, input, prepared.tables, prepared.datasets));
  std::array<double, 4> seconds = {prepare_seconds, file.encode, file.sync, whole.lap()};
  NEVE_TRY(mpi::mpi_status(MPI_Allreduce(MPI_IN_PLACE, seconds.data(), static_cast<int>(seconds.size()),
                                         MPI_DOUBLE, MPI_MAX, comm.get()),
                           "merging of times"));
  NEVE_TRY(
      mpi::mpi_status(MPI_Allreduce(MPI_IN_PLACE, &file.filter_calls, 1, MPI_UINT64_T, MPI_SUM, comm.get()),
                      "merging of calls"));
  Written written;
  written.seconds = {seconds[0], seconds[1], seconds[2], seconds[3]};
  for (const DatasetWrite& dataset : prepared.datasets) {
    written.datasets.push_back(hdf5::level_name(dataset.level) + "/" + dataset.name);
  }
  written.filter_calls = file.filter_calls;
  written.bounds = std::move(prepared.bounds);
  written.runs = std::move(prepared.runs);
  return written;
}

}  // namespace

Result<Written> write_way(const Comm& comm, const Way& way, const Input& input, const WriteCase& how,
                          const std::string& path) {
  return way.is_written_by_hdf5() ? write_as_datasets(comm, way, input, how, path)
                                  : write_as_plotfile(comm, way, input, how, path);
}

}  // namespace neve::layouts
