// SPDX-License-Identifier: BSD-3-Clause
// `neve convert`: a plotfile into HDF5, compressed or as it is, or any source into an AMReX plotfile
// directory; a netCDF-4 or other HDF5 data file into one with Neve's frames.
#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <tuple>

#include "cli/command.hpp"
#include "cli/console.hpp"
#include "cli/convert_checkpoint.hpp"
#include "cli/data_file.hpp"
#include "cli/explanation.hpp"
#include "cli/local_boxes.hpp"
#include "cli/options.hpp"
#include "cli/source.hpp"
#include "cli/variable_rules.hpp"
#include "cli/write_report.hpp"
#include "format/codec_choices.hpp"
#include "neve/plotfile_writer.hpp"

namespace neve::cli {
namespace {

struct Args {
  std::string source, destination;
  std::string bound = "rel=1e-3";
  std::vector<std::string> fields;
  std::string codec = "auto", effort = "fast", strategy = "skeleton", covered = "auto", chunk_size = "8MiB";
  std::string fill = "auto";
  TuningArgs tuning;
  int threads = 1;
  bool uncompressed = false;
  int aggregate_boxes = 0;
  LayoutArgs layout;
  bool cross_level = false;
  std::string rules;
  bool restart = false;
  bool explain = false;
  bool json = false;
};

// By its suffix: what does not exist yet can only be told by its name.
bool is_hdf5_name(const std::string& path) { return path.ends_with(".h5") || path.ends_with(".hdf5"); }

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

Status refuse_options(const CLI::App& app, std::span<const char* const> names, const std::string& reason) {
  for (const char* name : names) {
    if (app.count(name) > 0) return usage_error(fmt::format("{} has no meaning {}", name, reason));
  }
  return {};
}

// What only compression understands is refused where nothing is compressed.
Status check_options(const CLI::App& app, const Args& args) {
  static constexpr const char* of_compression[] = {
      "--bound",  "--field",   "--codec",       "--arrangement", "--unit", "--block",   "--merge-units",
      "--effort", "--covered", "--cross-level", "--chunk-size",  "--fill", "--threads", "--explain"};
  static constexpr const char* of_hdf5[] = {"--strategy", "--uncompressed", "--aggregate-boxes"};
  if (!is_hdf5_name(args.destination)) {
    const std::string reason =
        "for an AMReX plotfile directory; it is allowed where DST ends in .h5 or .hdf5";
    NEVE_TRY(refuse_options(app, of_compression, reason));
    NEVE_TRY(refuse_options(app, layout_options, reason));
    return refuse_options(app, of_hdf5, reason);
  }
  return args.uncompressed ? refuse_options(app, of_compression, "with --uncompressed") : Status();
}

Result<CheckpointConversion> checkpoint_conversion(const CLI::App& app, const Args& args) {
  static constexpr const char* of_plotfiles[] = {"--covered", "--cross-level", "--fill"};
  NEVE_TRY(refuse_options(app, of_plotfiles, "for a checkpoint"));
  if (!is_hdf5_name(args.destination)) {
    return usage_error(
        fmt::format("{} is a checkpoint; the name of its copy must end in .h5 or .hdf5, {} does not",
                    args.source, args.destination));
  }
  CheckpointConversion conversion;
  conversion.source = args.source;
  conversion.destination = args.destination;
  NEVE_ASSIGN(conversion.options, write_options(args, {}));
  if (app.count("--bound") > 0) conversion.bound = conversion.options.bound;
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

Result<datafile::CopyOptions> copy_options(const CLI::App& app, const Args& args) {
  static constexpr const char* of_plotfiles[] = {"--covered", "--cross-level", "--strategy", "--uncompressed",
                                                 "--aggregate-boxes"};
  const std::string reason = "for a data file; it is allowed where SRC is a plotfile";
  NEVE_TRY(refuse_options(app, of_plotfiles, reason));
  NEVE_TRY(refuse_options(app, layout_options, reason));
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
  options.resume = !args.restart;
  options.explain = args.explain;
  return options;
}

Status convert_plotfile(const Ranks& ranks, const Args& args, const CLI::App& app) {
  const double begin_seconds = MPI_Wtime();
  const bool to_hdf5 = is_hdf5_name(args.destination);
  static constexpr const char* of_data_files[] = {"--rules", "--restart"};
  NEVE_TRY(refuse_options(app, of_data_files,
                          "for a plotfile; it is allowed where SRC is a netCDF-4 or other "
                          "HDF5 data file"));
  NEVE_TRY(check_options(app, args));

  InputKind kind{};
  NEVE_TRY(ranks.agree(mpi::guarded("open", [&]() -> Status {
    NEVE_ASSIGN(kind, input_kind(args.source));
    return {};
  })));
  if (kind == InputKind::checkpoint) {
    NEVE_ASSIGN(CheckpointConversion conversion, checkpoint_conversion(app, args));
    return convert_checkpoint(ranks, std::move(conversion));
  }

  std::unique_ptr<PlotfileSource> source;
  NEVE_TRY(ranks.agree(mpi::guarded("open", [&]() -> Status {
    NEVE_ASSIGN(source, open_source(args.source));
    return {};
  })));
  const Hierarchy& h = source->hierarchy();
  WriteOptions options;
  NEVE_ASSIGN(options, write_options(args, h));

  Progress progress(ranks.first());
  NEVE_ASSIGN(LocalBoxes local, read_local_boxes(ranks, *source, args.source, progress));
  const double read_seconds = MPI_Wtime() - begin_seconds;

  nlohmann::ordered_json j;
  std::string summary;
  if (to_hdf5) {
    options.progress = [&](const std::string& phase, double fraction) { progress.show(phase, fraction); };
    const Hierarchy written = args.uncompressed ? sorted_as_chombo(h, local.boxes) : h;
    NEVE_ASSIGN(const WriteReport report,
                write_plotfile(ranks.comm(), args.destination, written, local.boxes, options));
    j = report_json(report);
    j["seconds"] = phases_json(report, read_seconds);
    summary =
        args.uncompressed
            ? fmt::format("{}: uncompressed, {} levels, {} in {} MPI-IO writes\n", args.destination,
                          h.levels.size(), human_bytes(report.data_bytes), report.mpi_writes)
            : report_table(report) + report_summary(args.destination, report) + explanations_text(report);
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
    for (const std::string& other : source->left_behind()) {
      say(fmt::format("convert: {} holds {}, which is not a field: it stays behind", args.source, other));
    }
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
  NEVE_TRY(ranks.agree(mpi::guarded("open", [&]() -> Status {
    NEVE_ASSIGN(of_data, is_data_file(args.source));
    return {};
  })));
  if (!of_data) return convert_plotfile(ranks, args, app);
  NEVE_ASSIGN(const datafile::CopyOptions options, copy_options(app, args));
  return convert_data_file(ranks, args.source, args.destination, options, args.json);
}

}  // namespace

Command add_convert(CLI::App& app) {
  CLI::App* sub = app.add_subcommand("convert",
                                     "A plotfile or checkpoint into HDF5, compressed or not, or back into an "
                                     "AMReX plotfile; a netCDF-4 or HDF5 "
                                     "data file into a compressed one");
  auto args = std::make_shared<Args>();
  sub->add_option(
         "SRC", args->source,
         "AMReX plotfile directory; Chombo, AMReX or Neve HDF5 plotfile; Neve checkpoint; .npy array; "
         "netCDF-4 or other HDF5 data file")
      ->required();
  sub->add_option(
         "DST", args->destination,
         "of a plotfile: ends in .h5 or .hdf5 for an HDF5 plotfile, any other name for an AMReX plotfile "
         "directory; of a data file: a data file")
      ->required();
  sub->add_option(
         "--bound", args->bound,
         "abs=X (largest error), rel=X (of each level's or variable's value range) or lossless; "
         "checkpoints and data files are lossless unless this or --field says otherwise, and integers "
         "always")
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
         "cells a finer level covers: auto (leave out where the finer average holds the bound), drop, keep")
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
