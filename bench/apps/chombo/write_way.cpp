// SPDX-License-Identifier: BSD-3-Clause
#include "bench/apps/chombo/write_way.hpp"

#include <mpi.h>

#include <vector>

#include "bench/apps/chombo/cb2_write.hpp"
#include "bench/apps/chombo/hdf5_write.hpp"
#include "neve/checkpoint.hpp"
#include "parallel/comm/exchange.hpp"
#include "parallel/file/hints.hpp"
#include "parallel/write/target.hpp"

namespace neve::chombo {
namespace {

using mpi::Comm;

WriteOptions write_options(const Way& way, const Contents& contents, const WriteCase& how) {
  WriteOptions options;
  options.compress = way.compresses;
  options.strategy = way.compresses ? "skeleton" : way.strategy;
  options.aggregate_boxes = way.takes_aggregate_boxes ? way.aggregate_boxes : 0;
  if (contents.file() == FileKind::plot)
    options.ghosts = ghosts_in_file(way, how, contents.groups().front().variable.ghosts);
  options.bound = how.bound;
  options.covered = way.compresses ? how.covered : default_covered;
  options.encode.effort = how.effort;
  if (way.compresses) options.stage = how.stage;
  options.layout = how.layout;
  return options;
}

Result<WriteReport> write_by_neve(const Comm& comm, const Way& way, const Contents& contents,
                                  const WriteCase& how, const std::string& path) {
  const WriteOptions options = write_options(way, contents, how);
  const std::vector<Group>& groups = contents.groups();
  if (contents.file() == FileKind::plot)
    return write_plotfile(comm.get(), path, contents.hierarchy(), groups.front().boxes, options);
  std::vector<Variable> variables;
  std::vector<std::vector<LocalBox>> boxes;
  for (const Group& group : groups) {
    boxes.push_back(group.boxes);
    Variable& variable = variables.emplace_back(group.variable);
    variable.ghosts = ghosts_in_file(way, how, group.variable.ghosts);
    if (!way.compresses) continue;
    variable.compress = true;
    variable.bound = how.bound;
  }
  return write_checkpoint(comm.get(), path, contents.hierarchy(), variables, boxes, options);
}

Result<WayReport> write_without_neve(const Comm& comm, const Way& way, const Contents& contents,
                                     const WriteCase& how, const std::string& path) {
  WriteOptions options;
  options.layout = how.layout;
  NEVE_ASSIGN(mpi::Target target, mpi::Target::begin(comm, path, options));
  mpi::Exchange closing = mpi::make_closing();
  NEVE_ASSIGN(const mpi::Hints hints, hints_of_way(way, how.layout));
  WayReport report;
  const std::string& temporary = target.temporary_path();
  NEVE_TRY(way.writer == Writer::cb2 ? write_by_cb2(comm, temporary, hints, way, contents, how.layout, report)
                                     : write_by_hdf5(comm, temporary, hints, way, contents, report));
  NEVE_TRY(mpi::close_write(comm, target, {}, closing, report.write));
  NEVE_TRY(mpi::mpi_status(
      MPI_Allreduce(MPI_IN_PLACE, &report.peak_buffer_bytes, 1, MPI_UINT64_T, MPI_MAX, comm.get()),
      "merging of buffer sizes"));
  return report;
}

}  // namespace

Result<mpi::Hints> hints_of_way(const Way& way, const FileLayout& layout) {
  NEVE_ASSIGN(mpi::Hints hints, mpi::hints_for(layout, {}));
  if (way.writer == Writer::cb2) return hints;
  mpi::leave_gaps(hints, {.is_collective = way.is_collective,
                          .pieces_a_call = static_cast<uint64_t>(way.aggregate_boxes)});
  return hints;
}

IntVect ghosts_in_file(const Way& way, const WriteCase& how, const IntVect& held) {
  return way.compresses && !how.compress_ghosts ? IntVect{0, 0, 0} : held;
}

Result<WayReport> write_way(const Comm& comm, const Way& way, const Contents& contents, const WriteCase& how,
                            const std::string& path) {
  if (way.writer != Writer::neve) return write_without_neve(comm, way, contents, how, path);
  WayReport report;
  NEVE_ASSIGN(report.write, write_by_neve(comm, way, contents, how, path));
  return report;
}

}  // namespace neve::chombo
