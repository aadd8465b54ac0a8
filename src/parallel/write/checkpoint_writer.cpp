// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <optional>
#include <set>

#include "core/amr/grow.hpp"
#include "core/bits/utf8.hpp"
#include "core/format/codec_choices.hpp"
#include "io/hdf5/skeleton.hpp"
#include "neve/checkpoint.hpp"
#include "neve/limits.hpp"
#include "parallel/comm/agree.hpp"
#include "parallel/comm/fault.hpp"
#include "parallel/comm/same_everywhere.hpp"
#include "parallel/comm/stopwatch.hpp"
#include "parallel/file/rows.hpp"
#include "parallel/file/write_pieces.hpp"
#include "parallel/write/encode_levels.hpp"
#include "parallel/write/file_pieces.hpp"
#include "parallel/write/frame_spool.hpp"
#include "parallel/write/grown_boxes.hpp"
#include "parallel/write/local_values.hpp"
#include "parallel/write/names.hpp"
#include "parallel/write/options_key.hpp"
#include "parallel/write/ownership.hpp"
#include "parallel/write/place.hpp"
#include "parallel/write/place_values.hpp"
#include "parallel/write/plan.hpp"
#include "parallel/write/report.hpp"
#include "parallel/write/target.hpp"

namespace neve {
namespace {

using namespace mpi;

// One variable on its way into the file. A compressed one is encoded as a hierarchy of its own, whose boxes
// have its ghosts in them.
struct Part {
  Hierarchy hierarchy;  // with the variable's components
  Ownership owners;
  std::vector<LocalBox> boxes;       // of values in memory: from the first value to be kept on
  std::optional<LocalValues> owned;  // of them, or those that are read
  WritePlan plan;                    // compressed
  EncodedLevels encoded;             // compressed
  GatheredFrames frames;             // compressed, rank 0
  std::vector<LevelReport> levels;
};

std::string variables_key(std::span<const Variable> variables) {
  std::string key;
  const auto add = [&](const std::string& text) {
    key += text;
    key += '\n';
  };
  for (const Variable& variable : variables) {
    add(variable.name);
    for (const std::string& component : variable.components) add(component);
    for (const int32_t layers : variable.ghosts) add(std::to_string(layers));
    add(variable.compress ? "compressed" : "uncompressed");
    add(to_string(variable.bound));
    add(std::string(codec_name(variable.codec)));
  }
  return key;
}

Status check_variables(const Hierarchy& hierarchy, std::span<const Variable> variables) {
  if (variables.empty()) return usage_error("a checkpoint needs at least one variable");
  std::set<std::string> names;
  for (const Variable& variable : variables) {
    if (variable.name.empty() ||
        variable.name.find_first_of(std::string("/\n\r\0", 4)) != std::string::npos) {
      return usage_error("variable \"" + variable.name + "\": a name is not empty and holds no '/'");
    }
    if (!names.insert(variable.name).second) {
      return usage_error("two variables are called \"" + variable.name + "\"; names must differ");
    }
    Hierarchy as_fields = hierarchy;
    as_fields.components = variable.components;
    NEVE_TRY(check_utf8("a variable", variable.name));
    NEVE_TRY(check_hierarchy(as_fields).in("variable " + variable.name));
    NEVE_TRY(check_names(as_fields).in("variable " + variable.name));
    NEVE_TRY(check_codec(variable.codec).in("variable " + variable.name));
    NEVE_TRY(check_bound(variable.bound).in("variable " + variable.name));
    for (int d = 0; d < max_dims; ++d) {
      const int32_t layers = variable.ghosts[static_cast<size_t>(d)];
      const int32_t allowed = d < hierarchy.dims ? max_ghosts : 0;
      if (layers >= 0 && layers <= allowed) continue;
      return usage_error("variable " + variable.name + ": ghosts in direction " + std::to_string(d) + " is " +
                         std::to_string(layers) + "; allowed are 0 .. " + std::to_string(allowed));
    }
  }
  return {};
}

Status check_checkpoint_options(const Hierarchy& hierarchy, const WriteOptions& options) {
  NEVE_ASSIGN(const Strategy strategy, parse_strategy(options.strategy));
  if (strategy == Strategy::filtered || strategy == Strategy::amrex_1d) {
    return usage_error("strategy " + options.strategy + " writes plotfiles only; for checkpoints " +
                       joined(strategies_of_values, " and ") + " are allowed");
  }
  if (options.cross_level) {
    return usage_error(
        "cross-level prediction has no meaning for a checkpoint, whose boxes may share ghost cells");
  }
  if (!options.fields.empty()) return usage_error("fields have no meaning for a checkpoint; variables have");
  return check_options(hierarchy, options);
}

// What the encoder is told about a variable.
WriteOptions encode_options(const WriteOptions& given, const Variable& variable) {
  WriteOptions options = given;
  options.compress = true;
  options.ghosts = variable.ghosts;
  options.bound = variable.bound;
  options.codec = variable.codec;
  options.covered = Covered::keep;
  options.memory = nullptr;
  return options;
}

// Collective.
Status prepare(const Comm& comm, const Hierarchy& hierarchy, const Variable& variable,
               const LocalValues& values, FrameSpool* spool, const WriteOptions& options, Part& part,
               WriteReport& report) {
  Stopwatch stopwatch;
  const Status copied = guarded("plan", [&]() -> Status {
    part.hierarchy = hierarchy;
    part.hierarchy.components = variable.components;
    if (values.are_in_memory()) part.boxes.assign(values.boxes().begin(), values.boxes().end());
    part.owned = values.are_in_memory() ? LocalValues(part.boxes) : values;
    return {};
  });
  NEVE_TRY(agree(comm, copied));
  NEVE_TRY(check_ghosts_held(comm, part.owned->boxes(), variable.ghosts));
  NEVE_ASSIGN(part.owners, find_owners(comm, part.hierarchy, *part.owned));
  if (variable.compress) {
    WriteOptions encode;
    NEVE_TRY(guarded_alike(comm, "plan", [&]() -> Status {
      encode = encode_options(options, variable);
      return check_options(part.hierarchy, encode);
    }));
    NEVE_TRY(agree(comm, guarded("plan", [&]() -> Status {
                     grow_boxes(part.hierarchy, part.boxes, variable.ghosts);
                     return {};
                   })));
    NEVE_ASSIGN(part.plan, plan_write(comm, part.hierarchy, part.owners, *part.owned, encode));
    report.plan_seconds += stopwatch.lap();
    NEVE_ASSIGN(part.encoded, encode_levels(comm, part.hierarchy, *part.owned, encode, part.plan,
                                            [](const char*, double) {}, {spool, nullptr}));
    NEVE_ASSIGN(part.frames, gather_frames(comm, part.plan, part.encoded.chunks));
    report.encode_seconds += stopwatch.lap();
    NEVE_ASSIGN(WriteReport merged,
                merge_reports(comm, part.hierarchy, part.plan, part.encoded.chunks, options.encode.explain));
    part.levels = std::move(merged.levels);
  } else {
    NEVE_TRY(guarded_alike(comm, "plan", [&]() -> Status {
      Hierarchy with_ghosts = part.hierarchy;
      for (Level& level : with_ghosts.levels) amr::grow_boxes(level, variable.ghosts);
      part.levels = report_values(with_ghosts, amr::no_ghosts).levels;
      return {};
    }));
  }
  for (const Level& level : hierarchy.levels) {
    for (const Box& box : level.boxes) {
      report.raw_bytes +=
          static_cast<uint64_t>(box.cells()) * variable.components.size() * dtype_bytes(hierarchy.dtype);
    }
  }
  return {};
}

std::vector<hdf5::LevelPlacement> placements(const Part& part, const Variable& variable) {
  std::vector<hdf5::LevelPlacement> levels;
  if (variable.compress) {
    levels = frame_placements(part.plan, part.levels, part.frames);
  } else {
    for (size_t l = 0; l < part.hierarchy.levels.size(); ++l) {
      hdf5::LevelPlacement& level = levels.emplace_back();
      level.compressed = false;
      level.box_offsets =
          value_offsets(part.hierarchy.levels[l], variable.ghosts, variable.components.size());
      level.processors.assign(part.owners[l].begin(), part.owners[l].end());
      level.ghosts = variable.ghosts;
    }
  }
  return levels;
}

// Rank 0 alone.
Status write_file_skeleton(const std::string& path, const Hints& hints, const Hierarchy& hierarchy,
                           std::span<const Variable> variables, const std::vector<Part>& parts,
                           hdf5::CheckpointAddresses& addresses) {
  std::vector<hdf5::VariablePlacement> all;
  for (size_t v = 0; v < parts.size(); ++v) all.push_back({variables[v], placements(parts[v], variables[v])});
  NEVE_TRY(create_file(path, hints));
  NEVE_ASSIGN(addresses, hdf5::write_checkpoint_skeleton(path, hierarchy, all));
  uint64_t end = 0;
  for (size_t v = 0; v < parts.size(); ++v) {
    if (variables[v].compress) {
      end = std::max(end, end_of_frames(parts[v].frames, addresses[v]));
      continue;
    }
    for (size_t l = 0; l < hierarchy.levels.size(); ++l) {
      end =
          std::max(end, addresses[v][l].front() + static_cast<uint64_t>(all[v].levels[l].box_offsets.back()) *
                                                      dtype_bytes(hierarchy.dtype));
    }
  }
  return reserve_space(path, end);
}

// Collective. This rank's pieces of one variable.
Status gather_pieces(const Comm& comm, const Variable& variable, const Part& part,
                     const hdf5::FrameAddresses& addresses, uint32_t first_dataset, FilePieces& pieces) {
  const size_t levels = part.hierarchy.levels.size();
  if (variable.compress) {
    const std::vector<EncodedChunk>& chunks = part.encoded.chunks;
    NEVE_ASSIGN(const std::vector<uint64_t> mine,
                scatter_addresses(comm, part.frames, addresses, chunks.size()));
    return agree(comm, guarded("write", [&]() -> Status {
                   pieces.add_frames(chunks, mine, first_dataset);
                   return {};
                 }));
  }
  std::vector<uint64_t> begins;
  NEVE_TRY(guarded_alike(comm, "write", [&]() -> Status {
    begins.assign(levels, 0);
    for (size_t l = 0; l < addresses.size(); ++l) begins[l] = addresses[l].front();
    return {};
  }));
  NEVE_TRY(mpi_status(MPI_Bcast(begins.data(), static_cast<int>(levels), MPI_UINT64_T, 0, comm.get()),
                      "broadcast of the datasets' addresses"));
  return agree(comm, guarded("write", [&]() -> Status {
                 pieces.add_values(part.hierarchy, variable.ghosts, *part.owned, begins, first_dataset);
                 return {};
               }));
}

// The order of a write from start to end; longer than other functions, so that it reads in one piece.
Result<WriteReport> write_whole(const Comm& comm, const std::string& path, const Hierarchy& hierarchy,
                                std::span<const Variable> variables, std::span<const LocalValues> values,
                                const WriteOptions& options) {
  const auto progress = [&](const char* phase, double fraction) {
    if (comm.rank() == 0 && options.progress) options.progress(phase, fraction);
  };
  progress("plan", 0);
  NEVE_TRY(check_same_everywhere(
      comm, [&] { return hierarchy_key(hierarchy); }, "the hierarchy"));
  NEVE_TRY(check_same_everywhere(
      comm, [&] { return variables_key(variables); }, "the variables"));
  NEVE_TRY(check_same_options(comm, options));
  NEVE_TRY(check_same_everywhere(
      comm, [&] { return path; }, "the path"));
  const Status checked = guarded_alike(comm, "checking the hierarchy", [&]() -> Status {
    NEVE_TRY(check_hierarchy(hierarchy));
    NEVE_TRY(check_names(hierarchy));
    NEVE_TRY(check_variables(hierarchy, variables));
    return check_checkpoint_options(hierarchy, options);
  });
  NEVE_TRY(checked);
  NEVE_TRY(agree(comm, guarded("plan", [&]() -> Status {
                   if (values.size() == variables.size()) return {};
                   return usage_error("boxes of " + std::to_string(values.size()) + " variables given for " +
                                      std::to_string(variables.size()));
                 })));
  NEVE_ASSIGN(Target target, Target::begin(comm, path, options));

  std::optional<FrameSpool> spool;
  const bool are_read = !values.front().are_in_memory();
  const Status opened = guarded("encode", [&]() -> Status {
    if (!are_read) return {};
    NEVE_ASSIGN(FrameSpool made, FrameSpool::beside(target.temporary_path(), comm.rank()));
    spool.emplace(std::move(made));
    return {};
  });
  if (are_read) NEVE_TRY(agree(comm, opened));

  WriteReport report;
  std::vector<Part> parts;
  hdf5::CheckpointAddresses addresses;
  NEVE_TRY(guarded_alike(comm, "plan", [&]() -> Status {
    parts.resize(variables.size());
    addresses.resize(variables.size());
    report.variables.reserve(variables.size());
    return {};
  }));
  for (size_t v = 0; v < variables.size(); ++v) {
    const Status prepared = prepare(comm, hierarchy, variables[v], values[v], spool ? &*spool : nullptr,
                                    options, parts[v], report);
    if (!prepared.ok()) return prepared.in("variable " + variables[v].name);
    progress("encode", static_cast<double>(v + 1) / static_cast<double>(variables.size()));
  }

  progress("write", 0);
  Stopwatch stopwatch;
  const Status written = guarded("skeleton", [&]() -> Status {
    NEVE_TRY(injected_fault(Phase::place, comm.rank()));
    NEVE_TRY(injected_fault(Phase::skeleton, comm.rank()));
    if (comm.rank() != 0) return {};
    return write_file_skeleton(target.temporary_path(), target.hints(), hierarchy, variables, parts,
                               addresses);
  });
  NEVE_TRY(agree(comm, written));
  const size_t levels = hierarchy.levels.size();
  FilePieces pieces;
  for (size_t v = 0; v < variables.size(); ++v) {
    NEVE_TRY(
        gather_pieces(comm, variables[v], parts[v], addresses[v], static_cast<uint32_t>(v * levels), pieces));
  }
  report.place_seconds = stopwatch.lap();

  NEVE_ASSIGN(const Strategy strategy, parse_strategy(options.strategy));
  NEVE_ASSIGN(PiecesReport pieces_report, write_pieces(comm, target.temporary_path(), target.hints(),
                                                       write_order(strategy, options.aggregate_boxes),
                                                       static_cast<uint32_t>(variables.size() * levels),
                                                       pieces.pieces(), pieces.call_bytes(), pieces.load()));
  NEVE_TRY(guarded_alike(comm, "report", [&]() -> Status {
    for (size_t v = 0; v < variables.size(); ++v) {
      report.variables.push_back({variables[v].name, std::move(parts[v].levels)});
    }
    return {};
  }));
  report.write_seconds = pieces_report.write_seconds;
  report.mpi_writes = pieces_report.mpi_writes;
  report.data_bytes = pieces_report.data_bytes;
  report.hints = std::move(pieces_report.hints);
  stopwatch.lap();
  NEVE_ASSIGN(report.file_bytes, target.finish(comm));
  report.sync_seconds = pieces_report.sync_seconds + stopwatch.lap();
  progress("write", 1);
  NEVE_TRY(keep_slowest(comm, report));
  return report;
}

}  // namespace

namespace {

Result<WriteReport> write_in_memory(const Comm& comm, const std::string& path, const Hierarchy& hierarchy,
                                    std::span<const Variable> variables,
                                    std::span<const std::vector<LocalBox>> boxes,
                                    const WriteOptions& options) {
  std::vector<LocalValues> values;
  NEVE_TRY(agree(comm, guarded("plan", [&]() -> Status {
                   values.assign(boxes.begin(), boxes.end());
                   return {};
                 })));
  return write_whole(comm, path, hierarchy, variables, values, options);
}

Result<WriteReport> write_read_values(const Comm& comm, const std::string& path, const Hierarchy& hierarchy,
                                      std::span<const Variable> variables,
                                      std::span<PlotfileSource* const> sources, const WriteOptions& options) {
  std::vector<std::vector<LocalBox>> boxes;
  std::vector<LocalValues> values;
  const Status listed = guarded("read", [&]() -> Status {
    for (size_t v = 0; v < sources.size() && v < variables.size(); ++v) {
      const Hierarchy& read = sources[v]->hierarchy();
      Hierarchy written = hierarchy;
      written.components = variables[v].components;
      NEVE_TRY(check_source(written, read, variables[v].ghosts).in("variable " + variables[v].name));
      std::vector<LocalBox>& of =
          boxes.emplace_back(boxes_without_data(distribute_boxes(read, comm.size()), comm.rank()));
      for (LocalBox& box : of) box.ghosts = variables[v].ghosts;
      sources[v]->expect_all();
    }
    for (size_t v = 0; v < boxes.size(); ++v)
      values.emplace_back(boxes[v], sources[v]->hierarchy(), *sources[v]);
    return {};
  });
  NEVE_TRY(agree(comm, listed));
  return write_whole(comm, path, hierarchy, variables, values, options);
}

}  // namespace

Result<WriteReport> write_checkpoint(MPI_Comm comm, const std::string& path, const Hierarchy& hierarchy,
                                     Span<const Variable> variables, Span<const std::vector<LocalBox>> boxes,
                                     const WriteOptions& options) {
  return guarded(path, [&]() -> Result<WriteReport> {
    NEVE_ASSIGN(const Comm own, Comm::duplicate(comm));
    return write_in_memory(own, path, hierarchy, variables, boxes, options);
  });
}

Result<WriteReport> write_checkpoint(MPI_Comm comm, const std::string& path, const Hierarchy& hierarchy,
                                     Span<const Variable> variables, Span<PlotfileSource* const> values,
                                     const WriteOptions& options) {
  return guarded(path, [&]() -> Result<WriteReport> {
    NEVE_ASSIGN(const Comm own, Comm::duplicate(comm));
    return write_read_values(own, path, hierarchy, variables, values, options);
  });
}

}  // namespace neve
