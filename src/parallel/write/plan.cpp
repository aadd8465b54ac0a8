// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/write/plan.hpp"

#include <algorithm>
#include <optional>

#include "core/amr/grow.hpp"
#include "core/format/codec_choices.hpp"
#include "neve/limits.hpp"
#include "parallel/comm/fault.hpp"
#include "parallel/comm/ranges.hpp"
#include "parallel/write/amrex_1d_chunks.hpp"
#include "parallel/write/coverage_check.hpp"
#include "parallel/write/filtered_write.hpp"

namespace neve::mpi {
namespace {

constexpr uint64_t max_hdf5_chunk_bytes = 0xffffffff;  // HDF5 keeps a chunk's size in 32 bits

Result<amr::LevelChunks> make_chunks(const Hierarchy& hierarchy, size_t level, const std::vector<int>& owner,
                                     Strategy strategy, const WriteOptions& options) {
  const auto components = static_cast<int>(hierarchy.components.size());
  if (strategy == Strategy::amrex_1d) {
    return amrex_1d_chunks(hierarchy.levels[level], components, owner,
                           static_cast<uint64_t>(options.chunk_values));
  }
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
  if (strategy == Strategy::filtered) NEVE_TRY(check_filtered_is_built());
  if (strategy == Strategy::amrex_1d && options.covered == Covered::drop) {
    return usage_error("strategy amrex-1d stores every cell; allowed with it are covered auto and keep");
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
  if (options.chunk_values != default_chunk_values && strategy != Strategy::amrex_1d) {
    return usage_error("chunk_values has no meaning for strategy " + options.strategy +
                       "; it is allowed with strategy amrex-1d");
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

Status behind_values_that_are_read() {
  return usage_error(
      "values that are read as they are written cannot be written behind; with them only "
      "behind none and no stage are allowed");
}

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
  NEVE_TRY(check_behind(options));
  NEVE_TRY(check_ghosts(hierarchy, options));
  if (options.compress && options.ghosts != amr::no_ghosts) NEVE_TRY(check_compressed_ghosts(options));
  if (!options.compress && options.covered == Covered::drop) {
    return usage_error("uncompressed files hold every cell; allowed with them are covered auto and keep");
  }
  NEVE_TRY(check_chunk_bytes(options.chunk_bytes));
  NEVE_TRY(check_chunk_values(options.chunk_values));
  NEVE_TRY(check_effort(options.encode.effort));
  return check_threads(options.encode.threads);
}

Status begin_plan(const Hierarchy& hierarchy, std::span<const LocalBox> owned, const WriteOptions& options,
                  WritePlan& plan) {
  NEVE_ASSIGN(plan.strategy, parse_strategy(options.strategy));
  plan.ghosts = options.ghosts;
  plan.covered = options.covered;
  plan.levels.clear();
  for (const Level& level : hierarchy.levels) {
    Level valid = level;
    amr::shrink_boxes(valid, options.ghosts);
    plan.levels.emplace_back().index = amr::BoxIndex(valid.boxes);
  }
  plan.covered_cells = count_covered(hierarchy, owned, plan.levels);
  plan.local.clear();
  for (const Level& level : hierarchy.levels) plan.local.emplace_back(level.boxes.size(), -1);
  for (size_t i = 0; i < owned.size(); ++i) {
    plan.local[static_cast<size_t>(owned[i].level)][static_cast<size_t>(owned[i].box)] = static_cast<int>(i);
  }
  return {};
}

Status plan_levels(const Hierarchy& hierarchy, const WriteOptions& options, const MeasuredFields& measured,
                   WritePlan& plan) {
  const size_t components = hierarchy.components.size();
  for (size_t level = 0; level < hierarchy.levels.size(); ++level) {
    LevelPlan& level_plan = plan.levels[level];
    NEVE_ASSIGN(level_plan.chunks, make_chunks(hierarchy, level, plan.owners[level], plan.strategy, options));
    level_plan.fields.clear();
    for (size_t c = 0; c < components; ++c) {
      const size_t field = level * components + c;
      level_plan.fields.push_back(plan_field(options, hierarchy.components[c], static_cast<int>(level),
                                             measured.ranges[field], measured.fills[field]));
    }
  }
  return {};
}

Status measure_read(const Comm& comm, const Hierarchy& hierarchy, const LocalValues& owned,
                    const WriteOptions& options, bool takes_stated, MeasuredFields& measured,
                    WritePlan& plan) {
  plan.ranges_are_stated = false;
  if (takes_stated) {
    NEVE_ASSIGN(plan.ranges_are_stated, take_stated_ranges(comm, hierarchy, owned, options, measured));
  }
  return plan.ranges_are_stated ? Status() : measure_ranges(comm, hierarchy, owned, options, measured);
}

Result<WritePlan> plan_write(const Comm& comm, const Hierarchy& hierarchy, const Ownership& owners,
                             const LocalValues& owned, const WriteOptions& options) {
  WritePlan plan;
  MeasuredFields measured;
  NEVE_TRY(agree(comm, guarded("plan", [&]() -> Status {
                   measured = MeasuredFields(hierarchy, options);
                   plan.owners = owners;
                   return begin_plan(hierarchy, owned.boxes(), options, plan);
                 })));
  NEVE_TRY(mpi_status(
      MPI_Allreduce(MPI_IN_PLACE, plan.covered_cells.data(), static_cast<int>(plan.covered_cells.size()),
                    MPI_UINT64_T, MPI_SUM, comm.get()),
      "count of covered cells"));
  NEVE_TRY(measure_ranges(comm, hierarchy, owned, options, measured));
  NEVE_TRY(agree(comm, guarded("plan", [&] { return plan_levels(hierarchy, options, measured, plan); })));
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
