// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/write/plan.hpp"

#include <algorithm>
#include <mutex>
#include <optional>

#include "core/amr/grow.hpp"
#include "core/format/codec_choices.hpp"
#include "neve/limits.hpp"
#include "parallel/comm/fault.hpp"
#include "parallel/comm/ranges.hpp"
#include "parallel/file/rows.hpp"
#include "parallel/write/amrex_1d_chunks.hpp"
#include "parallel/write/box_pieces.hpp"
#include "parallel/write/read_ahead.hpp"
#include "parallel/write/workers.hpp"

namespace neve::mpi {
namespace {

constexpr uint64_t max_hdf5_chunk_bytes = 0xffffffff;  // HDF5 keeps a chunk's size in 32 bits

using Ranges = FieldRanges;
using Fills = std::vector<std::optional<double>>;

const FieldRule* rule_of(const WriteOptions& options, const std::string& name) {
  const auto found = options.fields.find(name);
  return found == options.fields.end() ? nullptr : &found->second;
}

// Boxes are scanned in groups of about so many bytes: sharing them out one by one would cost small ones more
// than their scan.
constexpr uint64_t scanned_together_bytes = uint64_t{1} << 20;

// Where groups of neighbours in `owned` begin, and the end of the last.
std::vector<size_t> group_boxes(const Hierarchy& hierarchy, std::span<const LocalBox> owned) {
  const uint64_t cell_bytes = hierarchy.components.size() * dtype_bytes(hierarchy.dtype);
  std::vector<size_t> begins{0};
  uint64_t bytes = 0;
  for (size_t i = 0; i < owned.size(); ++i) {
    const Level& level = hierarchy.levels[static_cast<size_t>(owned[i].level)];
    bytes += static_cast<uint64_t>(level.boxes[static_cast<size_t>(owned[i].box)].cells()) * cell_bytes;
    if (bytes < scanned_together_bytes && i + 1 < owned.size()) continue;
    begins.push_back(i + 1);
    bytes = 0;
  }
  return begins;
}

// This rank's ranges of the fields that `wanted` marks. Over valid cells alone: what a code leaves in ghosts
// it does not use must not loosen a relative bound.
Status scan_owned(const Hierarchy& hierarchy, const LocalValues& owned, const IntVect& ghosts,
                  const Fills& fills, const std::vector<char>& wanted, int threads, Ranges& ranges) {
  const size_t components = hierarchy.components.size();
  const std::vector<size_t> begins = group_boxes(hierarchy, owned.boxes());
  std::mutex mutex;
  return run_workers(threads, begins.size() - 1, "range", [&](size_t group) -> Status {
    Ranges found(ranges.size());
    for (size_t i = begins[group]; i < begins[group + 1]; ++i) {
      const LocalBox& local = owned[i];
      const size_t level = static_cast<size_t>(local.level);
      const Box& box = hierarchy.levels[level].boxes[static_cast<size_t>(local.box)];
      const FrameBox valid_box = plain_frame_box(amr::shrink(box, ghosts));
      BoxData valid = local.data;
      valid.data = first_valid(local.data, ghosts, dtype_bytes(hierarchy.dtype));
      for (size_t c = 0; c < components; ++c) {
        const size_t field = level * components + c;
        if (wanted[field] == 0) continue;
        NEVE_ASSIGN(const ValueRange range,
                    scan_range(hierarchy.dtype, valid_box, valid, static_cast<int>(c), fills[field]));
        found[field].merge(range);
      }
    }
    const std::lock_guard lock(mutex);
    for (size_t field = 0; field < found.size(); ++field) ranges[field].merge(found[field]);
    return {};
  });
}

// The same of values that are read.
Status scan_read(const Hierarchy& hierarchy, const LocalValues& owned, const IntVect& ghosts,
                 const Fills& fills, const std::vector<char>& wanted, int threads, Ranges& ranges) {
  const size_t components = hierarchy.components.size();
  const bool has_ghosts = ghosts != amr::no_ghosts;
  const BoxPieces pieces(owned, hierarchy, has_ghosts);
  std::mutex mutex;
  const auto scan_run = [&](const BoxRun& run, const std::byte* values) -> Status {
    const LocalBox& local = owned[run.local];
    const auto level = static_cast<size_t>(local.level);
    const size_t field = level * components + static_cast<size_t>(run.component);
    if (wanted[field] == 0) return {};
    FrameBox cells;
    cells.size[0] = static_cast<int64_t>(run.cells);
    BoxData data = dense_box_data(values, cells);
    if (has_ghosts) {
      const Box& box = hierarchy.levels[level].boxes[static_cast<size_t>(local.box)];
      data = dense_box_data(values, plain_frame_box(box));
      data.data = first_valid(data, ghosts, dtype_bytes(hierarchy.dtype));
      cells = plain_frame_box(amr::shrink(box, ghosts));
    }
    NEVE_ASSIGN(const ValueRange range, scan_range(hierarchy.dtype, cells, data, 0, fills[field]));
    const std::lock_guard lock(mutex);
    ranges[field].merge(range);
    return {};
  };
  PiecewiseWork work;
  work.threads = threads;
  work.pieces = pieces.count();
  work.piece_bytes = pieces.most_bytes();
  work.phase = "range";
  work.read = [&](size_t piece, std::byte* out) { return pieces.read(piece, out); };
  work.work = [&](size_t piece, std::byte* values) { return pieces.for_each_run(piece, values, scan_run); };
  return run_reading_ahead(work);
}

Status scan(const Hierarchy& hierarchy, const LocalValues& owned, const IntVect& ghosts, const Fills& fills,
            const std::vector<char>& wanted, int threads, Ranges& ranges) {
  return owned.are_in_memory() ? scan_owned(hierarchy, owned, ghosts, fills, wanted, threads, ranges)
                               : scan_read(hierarchy, owned, ghosts, fills, wanted, threads, ranges);
}

// Global ranges, and the fill values found in them where none was given.
Status measure_ranges(const Comm& comm, const Hierarchy& hierarchy, const LocalValues& owned,
                      const WriteOptions& options, Ranges& ranges, Fills& fills) {
  const size_t fields = ranges.size();
  const int threads = options.encode.threads;
  std::vector<char> wanted;
  Fills suspects;
  Ranges others;
  const Status scanned = guarded("range", [&]() -> Status {
    wanted.assign(fields, 1);
    suspects.resize(fields);
    others.resize(fields);
    NEVE_TRY(injected_fault(Phase::range, comm.rank()));
    return scan(hierarchy, owned, options.ghosts, fills, wanted, threads, ranges);
  });
  NEVE_TRY(agree(comm, scanned));
  NEVE_TRY(merge_over_ranks(comm, ranges));
  if (!options.detect_fill) return {};

  // The ranges are global, so all ranks suspect the same fields without another message.
  bool any = false;
  for (size_t i = 0; i < fields; ++i) {
    if (!fills[i]) suspects[i] = suspect_fill(hierarchy.dtype, ranges[i]);
    wanted[i] = suspects[i].has_value() ? 1 : 0;
    any = any || suspects[i].has_value();
  }
  if (!any) return {};
  const Status scanned_others = guarded(
      "range", [&] { return scan(hierarchy, owned, options.ghosts, suspects, wanted, threads, others); });
  NEVE_TRY(agree(comm, scanned_others));
  NEVE_TRY(merge_over_ranks(comm, others));
  for (size_t i = 0; i < fields; ++i) {
    if (suspects[i] && accept_fill(*suspects[i], others[i])) {
      fills[i] = suspects[i];
      ranges[i] = others[i];
    }
  }
  return {};
}

// The ranges that the source states, where they serve on all ranks: no fill value is among them, and none
// could be found by another look at the values.
Result<bool> take_stated_ranges(const Comm& comm, const Hierarchy& hierarchy, const LocalValues& owned,
                                const WriteOptions& options, const Fills& fills, Ranges& ranges) {
  int serves = 0;
  std::optional<Ranges> stated;
  const Status looked = guarded("range", [&]() -> Status {
    NEVE_TRY(injected_fault(Phase::range, comm.rank()));
    const bool has_fill =
        std::any_of(fills.begin(), fills.end(), [](const auto& f) { return f.has_value(); });
    if (has_fill || options.ghosts != amr::no_ghosts) return {};
    stated = owned.stated_ranges();
    if (!stated) return {};
    const bool may_hide_fill =
        options.detect_fill && std::any_of(stated->begin(), stated->end(), [&](const ValueRange& range) {
          return suspect_fill(hierarchy.dtype, range).has_value();
        });
    serves = may_hide_fill ? 0 : 1;
    return {};
  });
  NEVE_TRY(agree(comm, looked));
  NEVE_TRY(mpi_status(MPI_Allreduce(MPI_IN_PLACE, &serves, 1, MPI_INT, MPI_MIN, comm.get()),
                      "exchange of stated ranges"));
  if (serves == 0) return false;
  ranges = std::move(*stated);
  NEVE_TRY(merge_over_ranks(comm, ranges));
  return true;
}

Result<amr::LevelChunks> make_chunks(const Hierarchy& hierarchy, size_t level, const std::vector<int>& owner,
                                     Strategy strategy, const WriteOptions& options) {
  const auto components = static_cast<int>(hierarchy.components.size());
  if (strategy == Strategy::amrex_1d) return amrex_1d_chunks(hierarchy.levels[level], components, owner);
  const uint64_t value_bytes = dtype_bytes(hierarchy.dtype);
  if (strategy != Strategy::filtered) {
    return amr::chunk_level(hierarchy.levels[level], components, owner, options.chunk_bytes / value_bytes);
  }
  // A rank's whole contribution is one chunk, however large: HDF5's collective filtered write takes one chunk
  // a rank at a time.
  amr::LevelChunks chunks = amr::chunk_level(hierarchy.levels[level], components, owner, UINT64_MAX);
  if (chunks.chunk_elements > max_hdf5_chunk_bytes / value_bytes) {
    return usage_error("strategy filtered makes one chunk of all that a rank holds of level " +
                       std::to_string(level) + ", here up to " +
                       std::to_string(chunks.chunk_elements * value_bytes) + " bytes; HDF5 allows " +
                       std::to_string(max_hdf5_chunk_bytes) + ", so use more ranks or strategy skeleton");
  }
  return chunks;
}

Status check_ghosts(const Hierarchy& hierarchy, const WriteOptions& options) {
  for (int d = 0; d < max_dims; ++d) {
    const int32_t layers = options.ghosts[static_cast<size_t>(d)];
    const int32_t allowed = d < hierarchy.dims ? max_ghosts : 0;
    if (layers < 0 || layers > allowed) {
      return usage_error("ghosts in direction " + std::to_string(d) + " is " + std::to_string(layers) +
                         "; allowed are 0 .. " + std::to_string(allowed));
    }
  }
  return {};
}

// What codecs do where boxes lie in space they cannot do with boxes that overlap.
Status check_compressed_ghosts(const WriteOptions& options) {
  const auto check = [](const CodecTuning& tuning) {
    if (tuning.arrangement == Arrangement::automatic || tuning.arrangement == Arrangement::linear)
      return Status();
    return usage_error("boxes with ghost cells overlap, so arrangement " +
                       std::string(arrangement_name(tuning.arrangement)) +
                       " is not possible; allowed with ghosts are auto and linear");
  };
  NEVE_TRY(check(options.tuning));
  for (const auto& [name, rule] : options.fields) {
    if (rule.tuning) NEVE_TRY(check(*rule.tuning).in("field " + name));
  }
  if (options.cross_level) {
    return usage_error("boxes with ghost cells overlap; cross-level prediction is not possible with them");
  }
  return {};
}

Status check_rules(const Hierarchy& hierarchy, const WriteOptions& options) {
  for (const auto& [name, rule] : options.fields) {
    if (std::find(hierarchy.components.begin(), hierarchy.components.end(), name) ==
        hierarchy.components.end()) {
      std::string known;
      for (const std::string& component : hierarchy.components)
        known += (known.empty() ? "" : ", ") + component;
      return usage_error("unknown field \"" + name + "\"; the fields are " + known);
    }
    if (rule.bound) NEVE_TRY(check_bound(*rule.bound).in("field " + name));
    if (rule.codec) NEVE_TRY(check_codec(*rule.codec).in("field " + name));
    if (rule.tuning) NEVE_TRY(check_tuning(*rule.tuning).in("field " + name));
  }
  return {};
}

Status check_strategy(const WriteOptions& options) {
  NEVE_ASSIGN(const Strategy strategy, parse_strategy(options.strategy));
  if (strategy == Strategy::amrex_1d && options.covered == Covered::drop) {
    return usage_error("strategy amrex-1d stores every cell; allowed with it are --covered auto and keep");
  }
  if (strategy == Strategy::amrex_1d && options.cross_level) {
    return usage_error("strategy amrex-1d has no boxes; cross-level prediction is not allowed with it");
  }
  if (options.aggregate_boxes < 0) {
    return usage_error("aggregate_boxes is " + std::to_string(options.aggregate_boxes) +
                       "; at least 0 (all boxes of a level) is needed");
  }
  if (options.aggregate_boxes > 0 && strategy != Strategy::aggregated) {
    return usage_error("aggregate_boxes has no meaning for strategy " + options.strategy +
                       "; it is allowed with strategy aggregated");
  }
  if (!options.compress && (strategy == Strategy::filtered || strategy == Strategy::amrex_1d)) {
    return usage_error("strategy " + options.strategy + " only compresses; uncompressed, the strategies " +
                       joined(strategies_of_values, " and ") + " are allowed");
  }
  return {};
}

CodecTuning tuning_of(const WriteOptions& options, const FieldRule* rule) {
  CodecTuning tuning = rule != nullptr && rule->tuning ? *rule->tuning : options.tuning;
  if (options.ghosts != amr::no_ghosts) tuning.arrangement = Arrangement::linear;
  return tuning;
}

FieldPlan plan_field(const WriteOptions& options, const std::string& name, int level, const ValueRange& range,
                     const std::optional<double>& fill) {
  const FieldRule* const rule = rule_of(options, name);
  FieldPlan field;
  field.range = range;
  field.spec.asked = rule != nullptr && rule->bound ? *rule->bound : options.bound;
  field.spec.codec = rule != nullptr && rule->codec ? *rule->codec : options.codec;
  if (options.memory != nullptr &&
      (field.spec.codec == Codec::automatic || field.spec.codec == Codec::lossless)) {
    const Selection recalled =
        options.memory->recall(options.encode.effort, level, name).value_or(Selection{});
    if (field.spec.codec == Codec::automatic) {
      field.spec.recalled = recalled.codec;
      field.spec.recalled_arrangement = recalled.arrangement;
    }
    field.spec.recalled_method = recalled.method;
  }
  field.spec.tuning = tuning_of(options, rule);
  field.spec.fill = fill;
  field.spec.range = range;
  field.spec.bound_abs = absolute_bound(field.spec.asked, range);
  return field;
}

}  // namespace

FrameBox plain_frame_box(const Box& box) { return amr::frame_box(box, amr::no_ghosts, {1, 1, 1}, nullptr); }

Status check_options(const Hierarchy& hierarchy, const WriteOptions& options) {
  NEVE_TRY(check_bound(options.bound));
  NEVE_TRY(check_codec(options.codec));
  NEVE_TRY(check_tuning(options.tuning));
  if (options.covered > Covered::keep) {
    return usage_error("treatment " + std::to_string(static_cast<int>(options.covered)) +
                       " of covered cells unknown; allowed are auto, drop, keep");
  }
  NEVE_TRY(check_rules(hierarchy, options));
  NEVE_TRY(check_strategy(options));
  NEVE_TRY(check_ghosts(hierarchy, options));
  if (options.compress && options.ghosts != amr::no_ghosts) NEVE_TRY(check_compressed_ghosts(options));
  if (!options.compress && options.covered == Covered::drop) {
    return usage_error("uncompressed files hold every cell; allowed with them are --covered auto and keep");
  }
  NEVE_TRY(check_chunk_bytes(options.chunk_bytes));
  NEVE_TRY(check_effort(options.encode.effort));
  return check_threads(options.encode.threads);
}

Result<WritePlan> plan_write(const Comm& comm, const Hierarchy& hierarchy, const Ownership& owners,
                             const LocalValues& owned, const WriteOptions& options, bool takes_stated) {
  const size_t components = hierarchy.components.size();
  Fills fills;
  Ranges ranges;
  NEVE_TRY(guarded_alike(comm, "plan", [&]() -> Status {
    fills.resize(hierarchy.levels.size() * components);
    for (size_t i = 0; i < fills.size(); ++i) {
      const FieldRule* const rule = rule_of(options, hierarchy.components[i % components]);
      fills[i] = rule != nullptr && rule->fill ? rule->fill : options.fill;
    }
    ranges.resize(fills.size());
    return {};
  }));
  bool ranges_are_stated = false;
  if (takes_stated && !owned.are_in_memory()) {
    NEVE_ASSIGN(ranges_are_stated, take_stated_ranges(comm, hierarchy, owned, options, fills, ranges));
  }
  if (!ranges_are_stated) NEVE_TRY(measure_ranges(comm, hierarchy, owned, options, ranges, fills));

  WritePlan plan;
  plan.ranges_are_stated = ranges_are_stated;
  const Status planned = guarded("plan", [&]() -> Status {
    NEVE_TRY(injected_fault(Phase::plan, comm.rank()));
    plan.owners = owners;
    NEVE_ASSIGN(plan.strategy, parse_strategy(options.strategy));
    plan.ghosts = options.ghosts;
    plan.covered = options.covered;
    for (size_t level = 0; level < hierarchy.levels.size(); ++level) {
      LevelPlan& level_plan = plan.levels.emplace_back();
      Level valid = hierarchy.levels[level];
      amr::shrink_boxes(valid, options.ghosts);
      level_plan.index = amr::BoxIndex(valid.boxes);
      NEVE_ASSIGN(level_plan.chunks,
                  make_chunks(hierarchy, level, plan.owners[level], plan.strategy, options));
      plan.local.emplace_back(hierarchy.levels[level].boxes.size(), -1);
      for (size_t c = 0; c < components; ++c) {
        const size_t field = level * components + c;
        level_plan.fields.push_back(plan_field(options, hierarchy.components[c], static_cast<int>(level),
                                               ranges[field], fills[field]));
      }
    }
    for (size_t i = 0; i < owned.size(); ++i) {
      plan.local[static_cast<size_t>(owned[i].level)][static_cast<size_t>(owned[i].box)] =
          static_cast<int>(i);
    }
    return {};
  });
  NEVE_TRY(agree(comm, planned));
  return plan;
}

Result<bool> confirm_ranges(const Comm& comm, FieldRanges seen, WritePlan& plan) {
  NEVE_TRY(merge_over_ranks(comm, seen));
  size_t field = 0;
  for (const LevelPlan& level : plan.levels) {
    for (const FieldPlan& planned : level.fields) {
      const ValueRange& range = seen[field++];
      if (range.empty || range.min != planned.range.min || range.max != planned.range.max) return false;
    }
  }
  // A zero may have had another sign.
  field = 0;
  for (LevelPlan& level : plan.levels) {
    for (FieldPlan& planned : level.fields) planned.range = seen[field++];
  }
  return true;
}

}  // namespace neve::mpi
