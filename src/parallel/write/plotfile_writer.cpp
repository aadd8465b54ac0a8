// SPDX-License-Identifier: BSD-3-Clause
#include "neve/plotfile_writer.hpp"

#include <algorithm>
#include <functional>
#include <optional>

#include "core/amr/morton.hpp"
#include "parallel/comm/agree.hpp"
#include "parallel/comm/fault.hpp"
#include "parallel/comm/same_everywhere.hpp"
#include "parallel/comm/stopwatch.hpp"
#include "parallel/file/write_pieces.hpp"
#include "parallel/write/encode_levels.hpp"
#include "parallel/write/file_pieces.hpp"
#include "parallel/write/filtered_write.hpp"
#include "parallel/write/frame_spool.hpp"
#include "parallel/write/grown_boxes.hpp"
#include "parallel/write/held_boxes.hpp"
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
  FilePieces frames;
  NEVE_TRY(agree(comm, guarded("write", [&]() -> Status {
                   frames.add_frames(chunks, addresses, 0);
                   return {};
                 })));
  NEVE_ASSIGN(times.pieces,
              write_pieces(comm, path, hints, write_order(plan.strategy, options.aggregate_boxes),
                           static_cast<uint32_t>(plan.levels.size()), frames.pieces(), frames.call_bytes(),
                           frames.load()));
  return times;
}

// The same, of the values as they are.
Result<WriteTimes> write_values(const Comm& comm, const std::string& path, const Hints& hints,
                                const Hierarchy& hierarchy, const Ownership& owners, const LocalValues& owned,
                                const WriteOptions& options, const WriteReport& report) {
  Stopwatch stopwatch;
  NEVE_ASSIGN(const std::vector<uint64_t> addresses,
              place_values(comm, path, hints, hierarchy, owners, options.ghosts, report, options.like));
  WriteTimes times;
  times.place_seconds = stopwatch.lap();
  FilePieces values;
  WriteOrder order;
  const Status gathered = guarded("write", [&]() -> Status {
    NEVE_ASSIGN(const Strategy strategy, parse_strategy(options.strategy));
    order = write_order(strategy, options.aggregate_boxes);
    values.add_values(hierarchy, options.ghosts, owned, addresses, 0);
    return {};
  });
  NEVE_TRY(agree(comm, gathered));
  NEVE_ASSIGN(times.pieces, write_pieces(comm, path, hints, order, static_cast<uint32_t>(addresses.size()),
                                         values.pieces(), values.call_bytes(), values.load()));
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

using ShowProgress = std::function<void(const char* phase, double fraction)>;

// A compressed write up to its frames.
struct Encoded {
  WritePlan plan;
  EncodedLevels levels;
  std::optional<FrameSpool> spool;  // of values that are read: holds the frames
  double plan_seconds = 0;
};

// Collective. `stored`: the hierarchy with the ghosts in its boxes; `held`: their values. With ranges that
// the source only states all is done again where the values do not confirm them.
Status encode_values(const Comm& comm, const std::string& temporary_path, const Hierarchy& stored,
                     const Ownership& owners, const LocalValues& held, const WriteOptions& options,
                     const ShowProgress& progress, Encoded& encoded) {
  if (!held.are_in_memory()) {
    const Status made = guarded("encode", [&]() -> Status {
      NEVE_ASSIGN(FrameSpool spool, FrameSpool::beside(temporary_path, comm.rank()));
      encoded.spool.emplace(std::move(spool));
      return {};
    });
    NEVE_TRY(agree(comm, made));
  }
  for (bool takes_stated = true;; takes_stated = false) {
    Stopwatch stopwatch;
    NEVE_ASSIGN(encoded.plan, plan_write(comm, stored, owners, held, options, takes_stated));
    progress("plan", 1);
    encoded.plan_seconds += stopwatch.lap();
    FieldRanges seen;
    PassingBy passing;
    if (encoded.spool) passing.spool = &*encoded.spool;
    if (encoded.plan.ranges_are_stated) {
      NEVE_TRY(guarded_alike(comm, "encode", [&]() -> Status {
        seen.resize(stored.levels.size() * stored.components.size());
        return {};
      }));
      passing.ranges = &seen;
    }
    NEVE_ASSIGN(EncodedLevels levels,
                encode_levels(comm, stored, held, options, encoded.plan, progress, passing));
    levels.encode_seconds += encoded.levels.encode_seconds;
    levels.coverage_seconds += encoded.levels.coverage_seconds;
    encoded.levels = std::move(levels);
    progress(options.cross_level ? "cross-level" : "encode", 1);
    if (!encoded.plan.ranges_are_stated) return {};
    NEVE_ASSIGN(const bool is_confirmed, confirm_ranges(comm, std::move(seen), encoded.plan));
    if (is_confirmed) return {};
    encoded.levels.chunks.clear();
    NEVE_TRY(agree(comm, encoded.spool->clear()));
  }
}

// Collective. Into the file under its temporary name.
Result<WriteTimes> write_compressed(const Comm& comm, const Target& target, const Hierarchy& hierarchy,
                                    const Ownership& owners, const LocalValues& owned,
                                    const WriteOptions& options, const ShowProgress& progress,
                                    std::optional<WritePlan>& plan, WriteReport& report) {
  const std::string& path = target.temporary_path();
  Hierarchy grown;
  std::vector<LocalBox> grown_owned;
  const bool has_ghosts = options.ghosts != IntVect{0, 0, 0};
  if (has_ghosts) {
    NEVE_TRY(agree(comm, guarded("plan", [&]() -> Status {
                     grown = hierarchy;
                     if (owned.are_in_memory())
                       grown_owned.assign(owned.boxes().begin(), owned.boxes().end());
                     grow_boxes(grown, grown_owned, options.ghosts);
                     return {};
                   })));
  }
  const Hierarchy& stored = has_ghosts ? grown : hierarchy;
  const LocalValues held = has_ghosts && owned.are_in_memory() ? LocalValues(grown_owned) : owned;
  Encoded encoded;
  NEVE_TRY(encode_values(comm, path, stored, owners, held, options, progress, encoded));

  progress("write", 0);
  std::vector<EncodedChunk>& chunks = encoded.levels.chunks;
  NEVE_ASSIGN(report, merge_reports(comm, hierarchy, encoded.plan, chunks, options.encode.explain));
  NEVE_ASSIGN(
      WriteTimes times,
      encoded.plan.strategy == Strategy::filtered
          ? write_by_hdf5(comm, path, target.hints(), hierarchy, encoded.plan, report, chunks, options.like)
          : write_frames(comm, path, target.hints(), hierarchy, encoded.plan, report, chunks, options));
  report.plan_seconds = encoded.plan_seconds + encoded.levels.coverage_seconds;
  report.encode_seconds = encoded.levels.encode_seconds;
  plan.emplace(std::move(encoded.plan));
  return times;
}

// Collective. The same without compression.
Result<WriteTimes> write_uncompressed(const Comm& comm, const Target& target, const Hierarchy& hierarchy,
                                      const Ownership& owners, const LocalValues& owned,
                                      const WriteOptions& options, const ShowProgress& progress,
                                      WriteReport& report) {
  Stopwatch stopwatch;
  NEVE_TRY(agree(comm, injected_fault(Phase::plan, comm.rank())));
  NEVE_TRY(guarded_alike(comm, "plan", [&]() -> Status {
    report = report_values(hierarchy, options.ghosts);
    return {};
  }));
  progress("plan", 1);
  report.plan_seconds = stopwatch.lap();
  progress("write", 0);
  return write_values(comm, target.temporary_path(), target.hints(), hierarchy, owners, owned, options,
                      report);
}

// The order of a write from start to end; longer than other functions, so that it reads in one piece.
Result<WriteReport> write_whole(const Comm& comm, const std::string& path, const Hierarchy& hierarchy,
                                const LocalValues& owned, const WriteOptions& options) {
  const ShowProgress progress = [&](const char* phase, double fraction) {
    if (comm.rank() == 0 && options.progress) options.progress(phase, fraction);
  };
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
  NEVE_TRY(check_ghosts_held(comm, owned.boxes(), options.ghosts));
  WriteReport report;
  std::optional<WritePlan> plan;
  NEVE_ASSIGN(WriteTimes times,
              options.compress
                  ? write_compressed(comm, target, hierarchy, owners, owned, options, progress, plan, report)
                  : write_uncompressed(comm, target, hierarchy, owners, owned, options, progress, report));
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
  Stopwatch stopwatch;
  NEVE_ASSIGN(report.file_bytes, target.finish(comm));
  report.sync_seconds = times.pieces.sync_seconds + stopwatch.lap();
  progress("write", 1);
  NEVE_TRY(keep_slowest(comm, report));
  if (comm.rank() == 0) say_where_yt_places_it(hierarchy);
  return report;
}

// Whether all values have to be in memory: frames that HDF5 writes, arrays that have no boxes, levels that
// are encoded again.
bool needs_all(const WriteOptions& options) {
  return options.compress &&
         (options.strategy == "filtered" || options.strategy == "amrex-1d" || options.cross_level);
}

Result<WriteReport> write_read_values(const Comm& comm, const std::string& path, const Hierarchy& hierarchy,
                                      PlotfileSource& source, const WriteOptions& options) {
  std::vector<LocalBox> boxes;
  std::optional<LocalValues> values;
  const Status listed = guarded("read", [&]() -> Status {
    NEVE_TRY(check_source(hierarchy, source.hierarchy(), options.ghosts));
    boxes = boxes_without_data(distribute_boxes(source.hierarchy(), comm.size()), comm.rank());
    for (LocalBox& box : boxes) box.ghosts = options.ghosts;
    values.emplace(boxes, source.hierarchy(), source);
    source.expect_all();
    return {};
  });
  NEVE_TRY(agree(comm, listed));
  if (!needs_all(options)) return write_whole(comm, path, hierarchy, *values, options);
  NEVE_ASSIGN(const HeldBoxes held, hold_all(comm, *values, source.hierarchy(), options.ghosts));
  return write_whole(comm, path, hierarchy, held.boxes, options);
}

}  // namespace

Result<WriteReport> write_plotfile(MPI_Comm comm, const std::string& path, const Hierarchy& hierarchy,
                                   Span<const LocalBox> owned, const WriteOptions& options) {
  return guarded(path, [&]() -> Result<WriteReport> {
    NEVE_ASSIGN(const Comm own, Comm::duplicate(comm));
    return write_whole(own, path, hierarchy, std::span<const LocalBox>(owned.data(), owned.size()), options);
  });
}

Result<WriteReport> write_plotfile(MPI_Comm comm, const std::string& path, const Hierarchy& hierarchy,
                                   PlotfileSource& values, const WriteOptions& options) {
  return guarded(path, [&]() -> Result<WriteReport> {
    NEVE_ASSIGN(const Comm own, Comm::duplicate(comm));
    return write_read_values(own, path, hierarchy, values, options);
  });
}

}  // namespace neve
