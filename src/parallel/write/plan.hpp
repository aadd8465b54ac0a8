// SPDX-License-Identifier: BSD-3-Clause
// What every rank has to know before it encodes: bounds from global value ranges, and who writes which chunk.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/amr/box_index.hpp"
#include "core/amr/chunking.hpp"
#include "neve/frame.hpp"
#include "neve/hierarchy.hpp"
#include "neve/plotfile_writer.hpp"
#include "parallel/comm/agree.hpp"
#include "parallel/file/strategy.hpp"
#include "parallel/write/field_ranges.hpp"
#include "parallel/write/local_values.hpp"
#include "parallel/write/ownership.hpp"

namespace neve::mpi {

struct FieldPlan {
  ComponentSpec spec;
  ValueRange range;              // over all ranks
  std::string covered = "none";  // FieldReport::covered
};

struct LevelPlan {
  amr::BoxIndex index;  // over the level's boxes without ghosts
  amr::LevelChunks chunks;
  std::vector<FieldPlan> fields;  // by component
};

struct WritePlan {
  Strategy strategy = Strategy::skeleton;
  Covered covered = default_covered;  // as asked for
  IntVect ghosts{0, 0, 0};            // layers of ghost cells among the cells of every box
  Ownership owners;
  std::vector<std::vector<int>> local;  // [level][box]: index into the rank's owned boxes, -1 elsewhere
  std::vector<LevelPlan> levels;
  std::vector<uint64_t> covered_cells;  // of each level, over all ranks
  bool ranges_are_stated = false;       // by the source: the values have to confirm them
};

// Independent; the same answer wherever the arguments are the same. Usage error that names the option.
Status check_options(const Hierarchy& hierarchy, const WriteOptions& options);
Status behind_values_that_are_read();  // the error: they cannot be written behind

// A box of the hierarchy as the value functions of the core want it, with nothing left out.
FrameBox plain_frame_box(const Box& box);

// Not collective, of checked arguments. What a plan knows before the ranks have met: its covered cells are
// those of this rank.
Status begin_plan(const Hierarchy& hierarchy, std::span<const LocalBox> owned, const WriteOptions& options,
                  WritePlan& plan);
// Not collective. The rest of a plan that has its owners and all covered cells.
Status plan_levels(const Hierarchy& hierarchy, const WriteOptions& options, const MeasuredFields& measured,
                   WritePlan& plan);

// Collective, for values that are read: their ranges. `takes_stated`: those that their source states are
// taken where nothing speaks against them; else all values are read to measure them.
Status measure_read(const Comm& comm, const Hierarchy& hierarchy, const LocalValues& owned,
                    const WriteOptions& options, bool takes_stated, MeasuredFields& measured,
                    WritePlan& plan);

// Collective. Begins, measures and ends a plan, with exchanges of its own; identical on every rank but for
// `local`. Arguments are checked already; the boxes have options.ghosts in them (grown_boxes.hpp).
Result<WritePlan> plan_write(const Comm& comm, const Hierarchy& hierarchy, const Ownership& owners,
                             const LocalValues& owned, const WriteOptions& options);

// Collective: whether the values that passed by are what the source stated; makes them the plan's ranges.
Result<bool> confirm_ranges(const Comm& comm, FieldRanges seen, WritePlan& plan);

}  // namespace neve::mpi
