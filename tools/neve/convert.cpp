// SPDX-License-Identifier: BSD-3-Clause
// `neve convert`: a plotfile into HDF5, compressed or as it is, or any source into an AMReX plotfile
// directory; a netCDF-4 or other HDF5 data file into one with Neve's frames.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <tuple>
#include <vector>

#include "core/amr/grow.hpp"
#include "core/catalog/codecs.hpp"
#include "core/format/codec_choices.hpp"
#include "io/files/target.hpp"
#include "io/files/temporary_file.hpp"
#include "io/files/temporary_folder.hpp"
#include "io/hdf5/ghosted_source.hpp"
#include "io/plotfile/replaceable.hpp"
#include "neve/plotfile_writer.hpp"
#include "tools/common/console.hpp"
#include "tools/common/idle_options.hpp"
#include "tools/common/options.hpp"
#include "tools/neve/commands.hpp"
#include "tools/neve/convert_checkpoint.hpp"
#include "tools/neve/convert_chombo.hpp"
#include "tools/neve/convert_options.hpp"
#include "tools/neve/data_file.hpp"
#include "tools/neve/explanation.hpp"
#include "tools/neve/grown_source.hpp"
#include "tools/neve/local_boxes.hpp"
#include "tools/neve/source.hpp"
#include "tools/neve/variable_rules.hpp"
#include "tools/neve/write_report.hpp"

namespace neve::cli {
namespace {

struct Args {
  std::string source, destination;
  std::string bound = "rel=1e-3";
  std::vector<std::string> fields;
  std::string codec = "auto", effort = "fast", strategy = "skeleton", covered = covered_name(default_covered),
              chunk_size = "8MiB";
  std::string fill = "auto";
  std::string ghosts = "keep";
  TuningArgs tuning;
  int threads = 1;
  std::string to = "auto";
  bool uncompressed = false;
  int aggregate_boxes = 0;
  LayoutArgs layout;
  bool cross_level = false;
  std::string rules;
  bool restart = false;
  bool explain = false;
  OpenOptions open;
  bool json = false;
};

Result<WriteOptions> write_options(const Args& args, const Hierarchy& h) {
  WriteOptions options;
  auto bound = parse_bound(args.bound);
  if (!bound.ok()) return bound.status().in("--bound");
  options.bound = *bound;
  for (const std::string& field : args.fields) NEVE_TRY(parse_field_rule(field, options.fields));
  NEVE_ASSIGN(options.codec, parse_codec(args.codec));
  NEVE_ASSIGN(options.tuning, parse_tuning(args.tuning));
  NEVE_ASSIGN(options.encode.effort, parse_effort(args.effort));
  NEVE_ASSIGN(options.encode.threads, check_threads(args.threads));
  NEVE_ASSIGN(options.covered, parse_covered(args.covered));
  NEVE_ASSIGN(options.chunk_bytes, parse_bytes("--chunk-size", args.chunk_size));
  options.encode.explain = args.explain;
  options.strategy = args.strategy;
  options.compress = !args.uncompressed;
  options.aggregate_boxes = args.aggregate_boxes;
  NEVE_ASSIGN(options.layout, parse_layout(args.layout));
  options.cross_level = args.cross_level;
  NEVE_ASSIGN(const FillChoice fill, parse_fill(args.fill));
  options.detect_fill = fill.detect;
  if (fill.value.has_value()) {
    for (const std::string& component : h.components) {
      auto& of_field = options.fields[component].fill;
      if (!of_field.has_value()) of_field = fill.value;
    }
  }
  return options;
}

// Strategy amrex-1d codes each chunk as an array, as codecs are untuned.
Status refuse_tuning_of_arrays(const CLI::App& app, const WriteOptions& options) {
  const std::string why_not = "with strategy amrex-1d, which tunes no codec";
  std::vector<OptionUse> uses;
  for (const char* option : tuning_options) uses.push_back({option, false, why_not});
  NEVE_TRY(refuse_idle(app, uses));
  for (const auto& [name, rule] : options.fields) {
    if (!rule.tuning) continue;
    return usage_error(
        fmt::format("--field {}: an arrangement, blocks or a method have no meaning {}", name, why_not));
  }
  return {};
}

// What depends on more than the kind of conversion.
Status check_plotfile_options(const CLI::App& app, const WriteOptions& options) {
  const bool is_1d = options.strategy == "amrex-1d", is_filtered = options.strategy == "filtered";
  if (is_1d) NEVE_TRY(refuse_tuning_of_arrays(app, options));
  const std::vector<CodecUse> uses = codec_uses(options);
  const bool predicts_across = std::any_of(uses.begin(), uses.end(), [](const CodecUse& use) {
    return !use.is_lossless &&
           (traits_of(use.codec).can_nest || (use.codec == Codec::automatic && use.effort != Effort::fast));
  });
  NEVE_TRY(refuse_idle(
      app, {{"--chunk-size", !is_1d && !is_filtered,
             fmt::format("with strategy {}, whose chunks are {}", options.strategy,
                         is_filtered ? "all that a rank holds of a level" : "of 1024 values")},
            {"--cross-level", predicts_across,
             "with these codecs; it is of interpolation and context (--codec, or auto from --effort balanced "
             "on), with a bound other than lossless"}}));
  return refuse_idle_codec_options(app, uses);
}

Status check_checkpoint_copy(const Args& args) {
  NEVE_ASSIGN(const bool to_hdf5, goes_to_hdf5(args.destination, args.to));
  if (to_hdf5) return {};
  return usage_error(
      fmt::format("{} is a checkpoint; the name of its copy must end in .h5 or .hdf5, {} does not",
                  args.source, args.destination));
}

Result<CheckpointConversion> checkpoint_conversion(const CLI::App& app, const Args& args) {
  NEVE_TRY(check_convert_options(
      app, args.uncompressed ? Conversion::uncompressed_checkpoint : Conversion::compressed_checkpoint));
  NEVE_TRY(check_checkpoint_copy(args));
  CheckpointConversion conversion;
  conversion.source = args.source;
  conversion.destination = args.destination;
  NEVE_ASSIGN(conversion.options, write_options(args, {}));
  if (app.count("--bound") > 0) conversion.bound = conversion.options.bound;
  conversion.open = args.open;
  WriteOptions effective = conversion.options;
  effective.bound = conversion.bound.value_or(Bound{BoundMode::lossless, 0});
  NEVE_TRY(refuse_idle_codec_options(app, codec_uses(effective)));
  conversion.json = args.json;
  return conversion;
}

// Boxes as Chombo wants them in a file: its reader sorts them and takes what it finds in that order.
Hierarchy sorted_as_chombo(const Hierarchy& h, std::vector<LocalBox>& boxes) {
  Hierarchy sorted = h;
  sort_boxes_as_chombo(sorted);
  const auto before = [](const Box& a, const Box& b) { return std::tie(a.lo, a.hi) < std::tie(b.lo, b.hi); };
  for (LocalBox& local : boxes) {
    const auto level = static_cast<size_t>(local.level);
    const std::vector<Box>& places = sorted.levels[level].boxes;
    const Box& box = h.levels[level].boxes[static_cast<size_t>(local.box)];
    local.box =
        static_cast<int>(std::lower_bound(places.begin(), places.end(), box, before) - places.begin());
  }
  return sorted;
}

std::vector<CodecUse> codec_uses(const datafile::CopyOptions& options) {
  const auto is_lossless = [](const Bound& bound) { return bound.mode == BoundMode::lossless; };
  std::vector<CodecUse> uses = {
      {"", options.codec, options.effort, is_lossless(options.bound), options.tuning}};
  for (const datafile::VariableRule& rule : options.rules) {
    if (rule.stays) continue;
    uses.push_back({"rule " + rule.pattern, rule.codec.value_or(options.codec),
                    rule.effort.value_or(options.effort), is_lossless(rule.bound.value_or(options.bound)),
                    rule.tuning.value_or(options.tuning)});
  }
  return uses;
}

// What data files and checkpoints of Chombo have in common.
Result<datafile::CopyOptions> copy_settings(const CLI::App& app, const Args& args) {
  datafile::CopyOptions options;
  if (app.count("--bound") > 0) {
    auto bound = parse_bound(args.bound);
    if (!bound.ok()) return bound.status().in("--bound");
    options.bound = *bound;
  }
  NEVE_ASSIGN(options.codec, parse_codec(args.codec));
  NEVE_ASSIGN(options.tuning, parse_tuning(args.tuning));
  NEVE_ASSIGN(options.effort, parse_effort(args.effort));
  NEVE_ASSIGN(options.threads, check_threads(args.threads));
  NEVE_ASSIGN(const FillChoice fill, parse_fill(args.fill));
  options.fill = fill.value;
  options.use_fill = fill.detect || fill.value.has_value();
  if (app.count("--chunk-size") > 0) {
    constexpr uint64_t least = uint64_t{64} << 10, most = uint64_t{1} << 30;
    NEVE_ASSIGN(const uint64_t bytes, parse_bytes("--chunk-size", args.chunk_size));
    if (bytes < least || bytes > most) {
      return usage_error(fmt::format("--chunk-size is {} bytes; allowed are {} .. {}", bytes, least, most));
    }
    options.chunk_bytes = bytes;
  }
  if (!args.rules.empty()) {
    NEVE_ASSIGN(options.rules, read_rules_file(args.rules));
  }
  for (const std::string& field : args.fields) {
    NEVE_ASSIGN(datafile::VariableRule rule, parse_variable_rule(field));
    options.rules.push_back(std::move(rule));
  }
  NEVE_TRY(refuse_idle_codec_options(app, codec_uses(options), true));
  options.resume = !args.restart;
  options.explain = args.explain;
  options.open = args.open;
  return options;
}

Result<datafile::CopyOptions> copy_options(const CLI::App& app, const Args& args) {
  NEVE_TRY(check_convert_options(app, Conversion::data_file));
  return copy_settings(app, args);
}

Result<datafile::CheckpointCopyOptions> chombo_options(const CLI::App& app, const Args& args) {
  NEVE_TRY(check_convert_options(app, args.uncompressed ? Conversion::uncompressed_chombo_checkpoint
                                                        : Conversion::compressed_chombo_checkpoint));
  NEVE_TRY(check_checkpoint_copy(args));
  NEVE_ASSIGN(datafile::CopyOptions copy, copy_settings(app, args));
  return datafile::CheckpointCopyOptions{std::move(copy), !args.uncompressed};
}

// Boxes with ghosts overlap, so some of what can be asked for is not possible with them.
Status check_ghost_options(const CLI::App& app, const Args& args, const IntVect& ghosts) {
  if (ghosts == IntVect{0, 0, 0}) return {};
  const bool asks_place = args.tuning.arrangement != "auto" && args.tuning.arrangement != "linear";
  const char* const name = asks_place                       ? "--arrangement"
                           : app.count("--cross-level") > 0 ? "--cross-level"
                                                            : nullptr;
  if (name == nullptr) return {};
  return usage_error(fmt::format(
      "{} is not possible with the {} layers of ghost cells that {} has around its boxes; --ghosts "
      "drop leaves them out",
      name, fmt::join(ghosts, ", "), args.source));
}

// What becomes of the source's layers of ghosts, into options.ghosts; those that are dropped.
Result<IntVect> settle_ghosts(const CLI::App& app, const Args& args, const PlotfileSource& source,
                              bool to_hdf5, WriteOptions& options) {
  if (args.ghosts != "keep" && args.ghosts != "drop") {
    return usage_error(fmt::format("--ghosts {}: keep and drop are allowed", args.ghosts));
  }
  if (to_hdf5 && args.ghosts == "keep") {
    const Result<IntVect> stored = stored_ghosts(source);
    if (!stored.ok()) return stored.status().in(args.source);
    options.ghosts = *stored;
    NEVE_TRY(check_ghost_options(app, args, options.ghosts));
  }
  return options.ghosts == amr::no_ghosts ? most_ghosts(source) : amr::no_ghosts;
}

// What of the source the destination does not hold, in words.
Result<std::vector<std::string>> stays_behind(const PlotfileSource& source, bool to_hdf5,
                                              const IntVect& dropped_ghosts) {
  const auto* of_hdf5 = dynamic_cast<const hdf5::GhostedSource*>(&source);
  std::vector<std::string> behind;
  for (const std::string& other : source.left_behind()) {
    const bool is_taken_over = to_hdf5 && of_hdf5 != nullptr && other.find('/') == std::string::npos;
    if (!is_taken_over) behind.push_back(other + ", which is not a field: it stays behind");
  }
  if (dropped_ghosts != amr::no_ghosts) {
    behind.push_back(fmt::format("{} layers of ghost cells around its boxes, which stay behind",
                                 fmt::join(dropped_ghosts, ", ")));
  }
  if (to_hdf5 || of_hdf5 == nullptr) return behind;
  NEVE_ASSIGN(const std::vector<std::string> attributes, of_hdf5->other_attributes());
  for (const std::string& attribute : attributes) {
    behind.push_back(attribute + ", for which an AMReX plotfile has no place: it stays behind");
  }
  return behind;
}

// Boxes of a source that holds them with `ghosts` around them, with those or without.
Result<LocalBoxes> read_plotfile_boxes(const Ranks& ranks, PlotfileSource& source, const IntVect& ghosts,
                                       const std::string& path, Progress& progress) {
  if (ghosts == IntVect{0, 0, 0}) return read_local_boxes(ranks, source, path, progress);
  GrownSource grown(source, ghosts);
  NEVE_ASSIGN(LocalBoxes local, read_local_boxes(ranks, grown, path, progress));
  give_ghosts(local, ghosts, source.hierarchy().dtype);
  return local;
}

Status convert_plotfile(const Ranks& ranks, const Args& args, const CLI::App& app) {
  const double begin_seconds = MPI_Wtime();
  InputKind kind{};
  bool of_chombo = false;
  NEVE_TRY(ranks.agree(mpi::guarded("open", [&]() -> Status {
    NEVE_ASSIGN(kind, input_kind(args.source));
    if (kind != InputKind::checkpoint) return {};
    NEVE_ASSIGN(of_chombo, is_chombo_checkpoint(args.source));
    return {};
  })));
  if (of_chombo) {
    NEVE_ASSIGN(const datafile::CheckpointCopyOptions options, chombo_options(app, args));
    return convert_chombo_checkpoint(ranks, args.source, args.destination, options, app.count("--bound") == 0,
                                     args.json);
  }
  if (kind == InputKind::checkpoint) {
    NEVE_ASSIGN(CheckpointConversion conversion, checkpoint_conversion(app, args));
    return convert_checkpoint(ranks, std::move(conversion));
  }

  bool to_hdf5 = false;
  NEVE_TRY(ranks.agree(mpi::guarded("open", [&]() -> Status {
    NEVE_ASSIGN(to_hdf5, goes_to_hdf5(args.destination, args.to));
    return check_convert_options(app, !to_hdf5            ? Conversion::amrex_plotfile
                                      : args.uncompressed ? Conversion::uncompressed_plotfile
                                                          : Conversion::compressed_plotfile);
  })));
  std::unique_ptr<PlotfileSource> source;
  NEVE_TRY(ranks.agree(mpi::guarded("open", [&]() -> Status {
    NEVE_ASSIGN(source, open_source(args.source, args.open));
    return {};
  })));
  const Hierarchy& h = source->hierarchy();
  WriteOptions options;
  NEVE_ASSIGN(options, write_options(args, h));
  if (to_hdf5 && options.compress) NEVE_TRY(check_plotfile_options(app, options));
  NEVE_ASSIGN(const IntVect dropped_ghosts, settle_ghosts(app, args, *source, to_hdf5, options));
  if (to_hdf5 && kind == InputKind::hdf5) options.like = args.source;
  std::vector<std::string> behind;
  NEVE_TRY(ranks.on_first("open", [&]() -> Status {
    NEVE_ASSIGN(behind, stays_behind(*source, to_hdf5, dropped_ghosts));
    return {};
  }));

  NEVE_TRY(ranks.on_first("open", [&] {
    return to_hdf5 ? files::TemporaryFile::check(args.destination)
                   : files::TemporaryFolder::check(args.destination,
                                                   plotfile::parts_of_plotfile(plotfile::Replacement(h)));
  }));

  Progress progress(ranks.first());
  NEVE_ASSIGN(LocalBoxes local, read_plotfile_boxes(ranks, *source, options.ghosts, args.source, progress));
  const double read_seconds = MPI_Wtime() - begin_seconds;

  nlohmann::ordered_json j;
  std::string summary;
  if (to_hdf5) {
    options.progress = [&](const std::string& phase, double fraction) { progress.show(phase, fraction); };
    const Hierarchy written = args.uncompressed ? sorted_as_chombo(h, local.boxes) : h;
    NEVE_ASSIGN(const WriteReport report,
                write_plotfile(ranks.comm(), args.destination, written, local.boxes, options));
    const bool bound_is_default = app.count("--bound") == 0;
    if (options.compress) {
      j["bound"] = to_string(options.bound);
      j["bound_is_default"] = bound_is_default;
      j["covered"] = covered_name(report.covered);
      j["left_out_cells"] = left_out_cells(report);
    }
    j.update(report_json(report));
    j["seconds"] = phases_json(report, read_seconds);
    summary = args.uncompressed
                  ? fmt::format("{}: uncompressed, {} levels, {} in {} MPI-IO writes\n", args.destination,
                                h.levels.size(), human_bytes(report.data_bytes), report.mpi_writes)
                  : report_table(report) + bound_line(args.bound, bound_is_default, " or --field") +
                        covered_line(report) + report_summary(args.destination, report) +
                        explanations_text(report);
    if (options.layout != FileLayout{}) summary += hints_line(report);
  } else {
    const double write_begin_seconds = MPI_Wtime();
    NEVE_TRY(write_amrex_plotfile(ranks.comm(), args.destination, h, local.boxes));
    const double write_seconds = MPI_Wtime() - write_begin_seconds;
    uint64_t raw_bytes = 0;
    for (const Level& level : h.levels) {
      for (const Box& box : level.boxes) {
        raw_bytes += static_cast<uint64_t>(box.cells()) * h.components.size() * dtype_bytes(h.dtype);
      }
    }
    uint64_t on_disk_bytes = 0;
    NEVE_TRY(ranks.on_first("measure", [&]() -> Status {
      NEVE_ASSIGN(on_disk_bytes, stored_bytes(args.destination));
      return {};
    }));
    j["raw_bytes"] = raw_bytes;
    j["stored_bytes"] = on_disk_bytes;
    j["seconds"] = {{"read", read_seconds}, {"write", write_seconds}};
    summary = fmt::format("{}: AMReX plotfile, {} levels, {}\n", args.destination, h.levels.size(),
                          human_bytes(raw_bytes));
  }
  j["seconds"]["total"] = MPI_Wtime() - begin_seconds;
  if (ranks.first()) {
    for (const std::string& other : behind) say(fmt::format("convert: {} holds {}", args.source, other));
    for (const std::string& remark : source->remarks())
      say(fmt::format("convert: {}: {}", args.source, remark));
    nlohmann::ordered_json head = {{"source", args.source},
                                   {"source_kind", source->kind()},
                                   {"destination", args.destination},
                                   {"destination_kind", to_hdf5 ? "Neve HDF5" : "AMReX plotfile"},
                                   {"ranks", ranks.size()}};
    head.update(j);
    std::cout << (args.json ? head.dump(2) + "\n" : summary) << std::flush;
  }
  return {};
}

Status convert(const Ranks& ranks, const Args& args, const CLI::App& app) {
  bool of_data = false;
  const auto recognise = [&]() -> Status {
    NEVE_TRY(files::check_is_another(args.source, args.destination));
    NEVE_ASSIGN(of_data, is_data_file(args.source));
    return {};
  };
  NEVE_TRY(ranks.agree(mpi::guarded("open", recognise)));
  if (!of_data) return convert_plotfile(ranks, args, app);
  NEVE_ASSIGN(const datafile::CopyOptions options, copy_options(app, args));
  return convert_data_file(ranks, args.source, args.destination, options, app.count("--bound") == 0,
                           args.json);
}

}  // namespace

Command add_convert(CLI::App& app) {
  CLI::App* sub = app.add_subcommand("convert",
                                     "A plotfile or checkpoint into HDF5, compressed or not, or back into an "
                                     "AMReX plotfile; a netCDF-4 or HDF5 "
                                     "data file into a compressed one");
  auto args = std::make_shared<Args>();
  sub->add_option("SRC", args->source,
                  "AMReX plotfile directory; Chombo, AMReX or Neve HDF5 plotfile; checkpoint of Neve, Chombo "
                  "or a code on "
                  "Chombo (BISICLES); .npy array; netCDF-4 or other HDF5 data file")
      ->required();
  sub->add_option(
         "DST", args->destination,
         "of a plotfile: ends in .h5 or .hdf5 for an HDF5 plotfile; a name without a file's ending, or a "
         "directory that is there, for an AMReX plotfile directory; of a data file: a data file")
      ->required();
  sub->add_option(
         "--to", args->to,
         "of a plotfile, whatever DST is called: hdf5, amrex (a plotfile directory), auto (by its name)")
      ->capture_default_str();
  sub->add_option(
         "--bound", args->bound,
         "abs=X (largest error), rel=X (of each level's or variable's value range) or lossless; "
         "checkpoints and data files are lossless unless this or --field says otherwise, integers always, "
         "and so is what describes the grid of a data file unless --field or a rule names it in full")
      ->capture_default_str();
  sub->add_option(
         "--field", args->fields,
         "NAME:abs=X, NAME:rel=X, NAME:lossless, NAME:fill=X, NAME:codec=C, NAME:arrangement=A, "
         "NAME:unit=N, joined by commas; repeatable; of a checkpoint by variable, bound and codec; of a "
         "data file NAME is a pattern (temp, ocean/*), and NAME:stays and NAME:effort=E are allowed")
      ->take_all();
  sub->add_option("--codec", args->codec, codec_choices())->capture_default_str();
  add_tuning_options(*sub, args->tuning);
  add_layout_options(*sub, args->layout);
  sub->add_option("--effort", args->effort, "fast, balanced or max")->capture_default_str();
  sub->add_option(
         "--strategy", args->strategy,
         "what one MPI-IO write takes: skeleton (all of a rank), aggregated (a level of a rank), collective "
         "(a chunk, all ranks together), independent (a chunk); for comparison, compressed only: filtered "
         "(AMRIC: collective filtered HDF5 writes) and amrex-1d (AMReX: 1024 values a chunk)")
      ->capture_default_str();
  sub->add_option(
         "--covered", args->covered,
         "cells a finer level covers: keep; auto (left out where the finer average holds the bound) or drop, "
         "for those who read through Neve: other tools see stand-in values in left-out cells")
      ->capture_default_str();
  sub->add_flag(
      "--cross-level", args->cross_level,
      "finer levels are predicted with coarser ones too where that is smaller (codecs interpolation "
      "and context); only Neve itself reads such files, not the HDF5 plugin");
  sub->add_option(
         "--chunk-size", args->chunk_size,
         "most logical bytes of a chunk, 64KiB to 1GiB; data files keep their chunks, at most 4MiB for "
         "variables without, unless this is given")
      ->capture_default_str();
  sub->add_option("--fill", args->fill,
                  "the value that means 'nothing here': auto (detect), none or a number")
      ->capture_default_str();
  sub->add_option("--ghosts", args->ghosts,
                  "layers of ghost cells that an HDF5 plotfile has around its boxes: keep (within the bound) "
                  "or drop")
      ->capture_default_str();
  sub->add_option("--threads", args->threads, "threads of each rank")->capture_default_str();
  sub->add_flag(
      "--uncompressed", args->uncompressed,
      "the values as they are, boxes in Chombo's order; what is said of chunks then holds for boxes");
  sub->add_option("--aggregate-boxes", args->aggregate_boxes,
                  "strategy aggregated: boxes (or chunks) of a rank that one write takes; 0: all of a level")
      ->capture_default_str();
  sub->add_option("--rules", args->rules,
                  "of a data file: a TOML file of rules for its variables (docs/netcdf.md)");
  sub->add_flag("--restart", args->restart,
                "of a data file: start anew where an interrupted conversion could be gone on with");
  sub->add_flag(follow_external_option, args->open.follow_external, follow_external_help);
  sub->add_flag("--explain", args->explain, explain_help);
  sub->add_flag("--json", args->json, "the report as JSON on stdout");
  sub->footer(
      "Examples:\n"
      "  neve convert plt00113 plt00113.h5\n"
      "  mpirun -n 4 neve convert plt00113 plt00113.h5 --bound rel=1e-4 --field Temp:abs=0.5\n"
      "  mpirun -n 4 neve convert plt00113 plt00113.hdf5 --uncompressed --strategy aggregated\n"
      "  neve convert plt00113.h5 plt00113_back\n"
      "  neve convert chk00113.h5 small.h5 --field velocity:rel=1e-6\n"
      "  neve convert ocean.nc small.nc --threads 4\n"
      "  neve convert ocean.nc small.nc --effort balanced --explain\n"
      "  neve convert ocean.nc small.nc --bound rel=1e-4 --field 'mask*:lossless' --field /grid/*:stays");
  Command command{sub, {}, {}};
  command.parallel = [args, sub](const Ranks& ranks) { return convert(ranks, *args, *sub); };
  return command;
}

}  // namespace neve::cli
