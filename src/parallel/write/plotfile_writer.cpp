// SPDX-License-Identifier: BSD-3-Clause
#include "neve/plotfile_writer.hpp"

#include <algorithm>
#include <optional>

#include "core/amr/morton.hpp"
#include "parallel/comm/agree.hpp"
#include "parallel/comm/fault.hpp"
#include "parallel/comm/same_everywhere.hpp"
#include "parallel/comm/stopwatch.hpp"
#include "parallel/file/write_pieces.hpp"
#include "parallel/write/encode_levels.hpp"
#include "parallel/write/filtered_write.hpp"
#include "parallel/write/grown_boxes.hpp"
#include "parallel/write/names.hpp"
#include "parallel/write/options_key.hpp"
#include "parallel/write/ownership.hpp"
#include "parallel/write/place.hpp"
#include "parallel/write/place_hint.hpp"
#include "parallel/write/place_values.hpp"
#include "parallel/write/plan.hpp"
#include "parallel/write/report.hpp"
#include "parallel/write/target.hpp"

namespace neve {
namespace {

using namespace mpi;

struct WriteTimes {
  double place_seconds = 0;
  PiecesReport pieces;
};

// Collective. The whole file under its temporary name, synced, from the frames of all ranks: the skeleton by
// rank 0, the frames by MPI-IO writes.
Result<WriteTimes> write_frames(const Comm& comm, const std::string& path, const Hints& hints,
                                const Hierarchy& hierarchy, const WritePlan& plan, const WriteReport& report,
                                std::span<const EncodedChunk> chunks, const WriteOptions& options) {
  Stopwatch stopwatch;
  NEVE_ASSIGN(const std::vector<uint64_t> addresses,
              place_frames(comm, path, hints, hierarchy, plan, report, chunks, options.like));
  WriteTimes times;
  times.place_seconds = stopwatch.lap();
  std::vector<Piece> pieces;
  const Status gathered = guarded("write", [&]() -> Status {
    for (size_t i = 0; i < chunks.size(); ++i) {
      pieces.push_back({addresses[i], one_run(chunks[i].frame), static_cast<uint32_t>(chunks[i].level)});
    }
    return {};
  });
  NEVE_TRY(agree(comm, gathered));
  NEVE_ASSIGN(times.pieces,
              write_pieces(comm, path, hints, write_order(plan.strategy, options.aggregate_boxes),
                           static_cast<uint32_t>(plan.levels.size()), pieces));
  return times;
}

// The same, of the values as they are.
Result<WriteTimes> write_values(const Comm& comm, const std::string& path, const Hints& hints,
                                const Hierarchy& hierarchy, const Ownership& owners,
                                std::span<const LocalBox> owned, const WriteOptions& options,
                                const WriteReport& report) {
  Stopwatch stopwatch;
  NEVE_ASSIGN(const std::vector<uint64_t> addresses,
              place_values(comm, path, hints, hierarchy, owners, options.ghosts, report, options.like));
  WriteTimes times;
  times.place_seconds = stopwatch.lap();
  std::vector<Piece> pieces;
  WriteOrder order;
  const Status gathered = guarded("write", [&]() -> Status {
    NEVE_ASSIGN(const Strategy strategy, parse_strategy(options.strategy));
    order = write_order(strategy, options.aggregate_boxes);
    for (size_t l = 0; l < addresses.size(); ++l) {
      append_pieces(hierarchy, static_cast<int>(l), options.ghosts, hierarchy.components.size(), owned,
                    addresses[l], static_cast<uint32_t>(l), pieces);
    }
    return {};
  });
  NEVE_TRY(agree(comm, gathered));
  NEVE_ASSIGN(times.pieces,
              write_pieces(comm, path, hints, order, static_cast<uint32_t>(addresses.size()), pieces));
  return times;
}

// The same by HDF5's collective filtered write. Gives up the frames.
Result<WriteTimes> write_by_hdf5(const Comm& comm, const std::string& path, const Hints& hints,
                                 const Hierarchy& hierarchy, const WritePlan& plan, const WriteReport& report,
                                 std::span<EncodedChunk> chunks, const std::string& like) {
  Stopwatch stopwatch;
  NEVE_TRY(describe_file(comm, path, hints, hierarchy, plan, report, chunks, like));
  const double describe_seconds = stopwatch.lap();
  NEVE_ASSIGN(const FilteredTimes times, write_filtered(comm, path, hints, hierarchy, plan, chunks));
  return WriteTimes{describe_seconds + times.create_seconds, times.pieces};
}

// What `auto` settled on, for the next step.
void remember_selections(const WritePlan& plan, const WriteOptions& options, const WriteReport& report) {
  for (size_t level = 0; level < report.levels.size(); ++level) {
    const std::vector<FieldReport>& fields = report.levels[level].fields;
    for (size_t c = 0; c < fields.size(); ++c) {
      const ComponentSpec& spec = plan.levels[level].fields[c].spec;
      const bool chooses = spec.codec == Codec::automatic || spec.codec == Codec::lossless;
      if (!chooses || spec.tuning.method != LosslessMethod::automatic || fields[c].cells == 0) continue;
      const Result<Codec> codec = parse_codec(fields[c].codec);
      const Result<Arrangement> arrangement = parse_arrangement(fields[c].arrangement);
      if (!codec.ok()) continue;  // constant: cannot be asked for
      options.memory->note(
          options.encode.effort, static_cast<int>(level), fields[c].name,
          {*codec, arrangement.ok() ? *arrangement : Arrangement::automatic, fields[c].method},
          static_cast<double>(fields[c].raw_bytes) / static_cast<double>(fields[c].stored_bytes));
    }
  }
}

}  // namespace

std::vector<std::vector<int>> distribute_boxes(const Hierarchy& hierarchy, int ranks) {
  return amr::distribute(hierarchy, std::max(ranks, 1));
}

namespace {

// The order of a write from start to end; longer than other functions, so that it reads in one piece.
Result<WriteReport> write_whole(MPI_Comm user_comm, const std::string& path, const Hierarchy& hierarchy,
                                std::span<const LocalBox> owned, const WriteOptions& options) {
  NEVE_ASSIGN(const Comm comm, Comm::duplicate(user_comm));
  const bool is_root = comm.rank() == 0;
  const auto progress = [&](const char* phase, double fraction) {
    if (is_root && options.progress) options.progress(phase, fraction);
  };
  Stopwatch stopwatch;

  progress("plan", 0);
  NEVE_TRY(check_same_everywhere(
      comm, [&] { return hierarchy_key(hierarchy); }, "the hierarchy"));
  NEVE_TRY(check_same_options(comm, options));
  NEVE_TRY(check_same_everywhere(
      comm, [&] { return path; }, "the path"));
  const Status checked = guarded_alike(comm, "checking the hierarchy", [&]() -> Status {
    NEVE_TRY(check_hierarchy(hierarchy));
    NEVE_TRY(check_names(hierarchy));
    return check_options(hierarchy, options);
  });
  NEVE_TRY(checked);
  NEVE_ASSIGN(Ownership owners, find_owners(comm, hierarchy, owned));

  NEVE_ASSIGN(Target target, Target::begin(comm, path, options));
  const std::string& temporary_path = target.temporary_path();
  const Hints& hints = target.hints();

  WriteReport report;
  WriteTimes times;
  std::optional<WritePlan> plan;
  NEVE_TRY(check_ghosts_held(comm, owned, options.ghosts));
  if (options.compress) {
    Hierarchy grown;
    std::vector<LocalBox> grown_owned;
    if (options.ghosts != IntVect{0, 0, 0}) {
      NEVE_TRY(agree(comm, guarded("plan", [&]() -> Status {
                       grown = hierarchy;
                       grown_owned.assign(owned.begin(), owned.end());
                       grow_boxes(grown, grown_owned, options.ghosts);
                       return {};
                     })));
    }
    const bool has_ghosts = !grown.levels.empty();
    const Hierarchy& stored = has_ghosts ? grown : hierarchy;
    const std::span<const LocalBox> held = has_ghosts ? grown_owned : owned;
    NEVE_ASSIGN(plan, plan_write(comm, stored, owners, held, options));
    progress("plan", 1);
    const double plan_seconds = stopwatch.lap();

    NEVE_ASSIGN(EncodedLevels encoded, encode_levels(comm, stored, held, options, *plan, progress));
    progress(options.cross_level ? "cross-level" : "encode", 1);
    stopwatch.lap();

    progress("write", 0);
    NEVE_ASSIGN(report, merge_reports(comm, hierarchy, *plan, encoded.chunks, options.encode.explain));
    NEVE_ASSIGN(times, plan->strategy == Strategy::filtered
                           ? write_by_hdf5(comm, temporary_path, hints, hierarchy, *plan, report,
                                           encoded.chunks, options.like)
                           : write_frames(comm, temporary_path, hints, hierarchy, *plan, report,
                                          encoded.chunks, options));
    report.plan_seconds = plan_seconds + encoded.coverage_seconds;
    report.encode_seconds = encoded.encode_seconds;
  } else {
    NEVE_TRY(agree(comm, injected_fault(Phase::plan, comm.rank())));
    NEVE_TRY(guarded_alike(comm, "plan", [&]() -> Status {
      report = report_values(hierarchy, options.ghosts);
      return {};
    }));
    progress("plan", 1);
    report.plan_seconds = stopwatch.lap();
    progress("write", 0);
    NEVE_ASSIGN(times, write_values(comm, temporary_path, hints, hierarchy, owners, owned, options, report));
  }
  report.covered = options.covered;
  report.place_seconds = times.place_seconds;
  report.write_seconds = times.pieces.write_seconds;
  report.mpi_writes = times.pieces.mpi_writes;
  report.data_bytes = times.pieces.data_bytes;
  report.hints = std::move(times.pieces.hints);
  NEVE_TRY(guarded_alike(comm, "selections", [&]() -> Status {
    if (options.memory != nullptr && plan) remember_selections(*plan, options, report);
    return {};
  }));
  stopwatch.lap();

  NEVE_ASSIGN(report.file_bytes, target.finish(comm));
  report.sync_seconds = times.pieces.sync_seconds + stopwatch.lap();
  progress("write", 1);
  NEVE_TRY(keep_slowest(comm, report));
  if (comm.rank() == 0) say_where_yt_places_it(hierarchy);
  return report;
}

}  // namespace

Result<WriteReport> write_plotfile(MPI_Comm comm, const std::string& path, const Hierarchy& hierarchy,
                                   Span<const LocalBox> owned, const WriteOptions& options) {
  return guarded(path, [&] { return write_whole(comm, path, hierarchy, owned, options); });
}

}  // namespace neve
