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
#include <set>
#include <vector>

#include "core/amr/grow.hpp"
#include "core/catalog/refusals.hpp"
#include "core/options/idle.hpp"
#include "core/options/slots.hpp"
#include "io/files/target.hpp"
#include "io/files/temporary_file.hpp"
#include "io/files/temporary_folder.hpp"
#include "io/hdf5/ghosted_source.hpp"
#include "io/plotfile/file.hpp"
#include "io/plotfile/replaceable.hpp"
#include "neve/plotfile_writer.hpp"
#include "tools/common/console.hpp"
#include "tools/common/json_text.hpp"
#include "tools/common/options.hpp"
#include "tools/common/ranks.hpp"
#include "tools/common/visible.hpp"
#include "tools/neve/commands.hpp"
#include "tools/neve/convert_checkpoint.hpp"
#include "tools/neve/convert_chombo.hpp"
#include "tools/neve/convert_for_viewers.hpp"
#include "tools/neve/convert_options.hpp"
#include "tools/neve/convert_series.hpp"
#include "tools/neve/data_file.hpp"
#include "tools/neve/explanation.hpp"
#include "tools/neve/grown_source.hpp"
#include "tools/neve/source.hpp"
#include "tools/neve/source_to_write.hpp"
#include "tools/neve/variable_rules.hpp"
#include "tools/neve/write_report.hpp"

namespace neve::cli {
namespace {

using options::CodecUse;
using options::Group;
using options::heading;

constexpr const char* field_prefix = "--field ";
constexpr const char* default_bound = "rel=1e-3";  // WriteOptions::bound, as people write it

struct Args {
  std::string source, destination;
  std::vector<std::string> more;  // sources of a series
  std::string into;               // a series' folder; empty: there is none
  std::string choice_log = "none";
  OptionFlags flags;  // of the table of options
  std::vector<std::string> fields;
  std::string ghosts = "keep";
  std::string to = "auto";
  std::string rules;
  bool restart = false;
  OpenOptions open;
  bool json = false;
};

bool is_series(const Args& args) { return !args.into.empty(); }

bool is_uncompressed(const Args& args) { return args.flags.is_on("uncompressed"); }

Result<WriteOptions> write_options(const Args& args) {
  options::WriteSlots slots;
  NEVE_TRY(args.flags.read(slots.slots()));
  WriteOptions options = slots.take();
  NEVE_TRY(check_tuning(options.tuning));
  for (const std::string& field : args.fields) NEVE_TRY(parse_field_rule(field, options.fields));
  return options;
}

Status check_checkpoint_copy(const Args& args) {
  if (args.to == "auto" && has_hdf5_name(args.destination)) return {};
  if (args.to != "auto") {  // which settles it, whatever the name is
    NEVE_ASSIGN(const bool to_hdf5, goes_to_hdf5(args.destination, args.to));
    if (to_hdf5) return {};
  }
  if (args.to == "amrex") {
    return usage_error(fmt::format("{} is a checkpoint; --to amrex is for plotfiles", args.source));
  }
  return usage_error(
      fmt::format("{} is a checkpoint; the name of its copy must end in .h5 or .hdf5, {} does not; --to hdf5 "
                  "takes any name",
                  args.source, args.destination));
}

Result<CheckpointConversion> checkpoint_conversion(const CLI::App& app, const Args& args) {
  NEVE_TRY(check_convert_options(
      app, is_uncompressed(args) ? options::uncompressed_checkpoint : options::checkpoint));
  NEVE_TRY(check_checkpoint_copy(args));
  CheckpointConversion conversion;
  conversion.source = args.source;
  conversion.destination = args.destination;
  NEVE_ASSIGN(conversion.options, write_options(args));
  if (args.flags.is_given("bound")) conversion.bound = conversion.options.bound;
  conversion.open = args.open;
  NEVE_TRY(options::refuse_idle_layout(args.flags.asked(), conversion.options));
  WriteOptions effective = conversion.options;
  effective.bound = conversion.bound.value_or(Bound{BoundMode::lossless, 0});
  NEVE_TRY(refuse_idle_codec_options(args.flags.asked(), options::codec_uses(effective, field_prefix)));
  conversion.json = args.json;
  return conversion;
}

std::vector<CodecUse> uses_of_copy(const datafile::CopyOptions& options) {
  std::vector<CodecUse> uses = {
      options::use_of("", options.codec, options.effort, options.bound, options.tuning)};
  for (const datafile::VariableRule& rule : options.rules) {
    if (rule.is_unchanged) continue;
    uses.push_back(options::use_of("rule " + rule.pattern, rule.codec.value_or(options.codec),
                                   rule.effort.value_or(options.effort), rule.bound.value_or(options.bound),
                                   rule.tuning.value_or(options.tuning)));
    uses.back().has_own_bound = rule.bound.has_value();
  }
  return uses;
}

// What data files, alone and in a series, and checkpoints of Chombo have in common. `rules`: a series'.
Result<datafile::CopyOptions> copy_settings(const Args& args, ChoiceRules& rules) {
  datafile::CopyOptions options;
  options::FillChoice fill;
  options::Slots slots;
  slots.bound = &options.bound;
  slots.codec = &options.codec;
  slots.tuning = &options.tuning;
  slots.effort = &options.effort;
  slots.threads = &options.threads;
  slots.explain = &options.explain;
  slots.fill = &fill;
  slots.chunk_bytes = &options.chunk_bytes;
  slots.choice = &rules;
  NEVE_TRY(args.flags.read(slots));
  NEVE_TRY(check_tuning(options.tuning));
  options.fill = fill.value;
  options.use_fill = fill.detect || fill.value.has_value();
  if (!args.rules.empty()) {
    NEVE_ASSIGN(options.rules, read_rules_file(args.rules));
  }
  for (const std::string& field : args.fields) {
    NEVE_ASSIGN(datafile::VariableRule rule, parse_variable_rule(field));
    options.rules.push_back(std::move(rule));
  }
  NEVE_TRY(refuse_idle_codec_options(args.flags.asked(), uses_of_copy(options), true));
  options.resume = !args.restart;
  options.open = args.open;
  return options;
}

Result<datafile::CopyOptions> copy_options(const CLI::App& app, const Args& args) {
  NEVE_TRY(check_convert_options(app, options::data_file));
  ChoiceRules rules;
  return copy_settings(args, rules);
}

// All that decides what the copies of a series hold: whatever was given but for what says how to make them.
Result<std::string> series_key(const CLI::App& app, const Args& args) {
  const std::set<std::string> how = {"--threads", "--json", "--restart", "SRC", "DST", "MORE", "--into"};
  std::string key = NEVE_VERSION;
  for (const CLI::Option* option : app.get_options()) {
    if (option->count() == 0 || how.contains(option->get_name())) continue;
    key += fmt::format("\n{}={}", option->get_name(), fmt::join(option->results(), "\n"));
  }
  if (args.rules.empty()) return key;
  NEVE_ASSIGN(const std::string rules, plotfile::read_text(args.rules));
  return key + "\n" + rules;
}

Result<datafile::ChoiceLog> parse_choice_log(const std::string& name) {
  if (name == "none") return datafile::ChoiceLog::none;
  if (name == "log") return datafile::ChoiceLog::without_times;
  if (name == "timings") return datafile::ChoiceLog::with_times;
  return not_a_name("--choices", name, "none, log, timings");
}

// Integers, and variables that describe the grid, take codec lossless whatever other codec the rest has.
bool may_choose_method(const CodecUse& use) {
  return options::is_not_exact(use) && use.tuning.method == LosslessMethod::automatic;
}

// A log has what was chosen: with methods by name for all variables it would be empty.
Status check_log_has_choices(const Args& args, const datafile::CopyOptions& options) {
  if (options.choice_log == datafile::ChoiceLog::none) return {};
  const std::vector<CodecUse> uses = uses_of_copy(options);
  if (std::any_of(uses.begin(), uses.end(), may_choose_method)) return {};
  const std::string by_name = options.codec == Codec::exact
                                  ? "codec exact"
                                  : fmt::format("method {}", lossless_method_name(options.tuning.method));
  return usage_error(fmt::format(
      "--choices {} has no meaning with {}: no variable chooses a method, so there is nothing to log; "
      "allowed without it, or with a rule by which variables choose, as in --field NAME:method=auto",
      args.choice_log, by_name));
}

Result<SeriesConversion> series_conversion(const CLI::App& app, const Args& args) {
  NEVE_TRY(check_convert_options(app, options::series));
  SeriesConversion conversion;
  conversion.sources = {args.source};
  if (!args.destination.empty()) conversion.sources.push_back(args.destination);
  conversion.sources.insert(conversion.sources.end(), args.more.begin(), args.more.end());
  conversion.folder = args.into;
  NEVE_ASSIGN(conversion.options, copy_settings(args, conversion.rules));
  NEVE_ASSIGN(conversion.options.choice_log, parse_choice_log(args.choice_log));
  NEVE_TRY(check_log_has_choices(args, conversion.options));
  NEVE_TRY(check_choice_rules(conversion.rules));
  NEVE_TRY(options::refuse_idle_choices(args.flags.asked(), uses_of_copy(conversion.options).front(), true));
  NEVE_ASSIGN(conversion.key, series_key(app, args));
  conversion.bound_is_default = !args.flags.is_given("bound");
  conversion.json = args.json;
  return conversion;
}

Result<datafile::CheckpointCopyOptions> chombo_options(const CLI::App& app, const Args& args) {
  NEVE_TRY(check_convert_options(
      app, is_uncompressed(args) ? options::uncompressed_chombo_checkpoint : options::chombo_checkpoint));
  NEVE_TRY(check_checkpoint_copy(args));
  ChoiceRules rules;
  NEVE_ASSIGN(datafile::CopyOptions copy, copy_settings(args, rules));
  return datafile::CheckpointCopyOptions{std::move(copy), !is_uncompressed(args)};
}

// Boxes with ghosts overlap, so some of what can be asked for is not possible with them.
Status check_ghost_options(const Args& args, const WriteOptions& options) {
  const IntVect& ghosts = options.ghosts;
  if (ghosts == IntVect{0, 0, 0}) return {};
  const Arrangement asked = options.tuning.arrangement;
  const bool asks_place = asked != Arrangement::automatic && asked != Arrangement::linear;
  const char* const name = asks_place ? "--arrangement" : options.cross_level ? "--cross-level" : nullptr;
  if (name == nullptr) return {};
  return usage_error(fmt::format(
      "{} is not possible with the {} layers of ghost cells that {} has around its boxes; --ghosts "
      "drop leaves them out",
      name, fmt::join(ghosts, ", "), args.source));
}

// What becomes of the source's layers of ghosts, into options.ghosts; those that are dropped.
Result<IntVect> settle_ghosts(const Args& args, const PlotfileSource& source, bool to_hdf5,
                              WriteOptions& options) {
  if (args.ghosts != "keep" && args.ghosts != "drop") {
    return not_a_name("--ghosts", args.ghosts, "keep, drop");
  }
  if (to_hdf5 && args.ghosts == "keep") {
    const Result<IntVect> stored = stored_ghosts(source);
    if (!stored.ok()) return stored.status().in(args.source);
    options.ghosts = *stored;
    NEVE_TRY(check_ghost_options(args, options));
  }
  return options.ghosts == amr::no_ghosts ? widest_ghosts(source) : amr::no_ghosts;
}

// What of the source the destination does not hold, in words.
Result<std::vector<std::string>> stays_behind(const PlotfileSource& source, bool to_hdf5,
                                              const IntVect& dropped_ghosts) {
  const auto* of_hdf5 = dynamic_cast<const hdf5::GhostedSource*>(&source);
  std::vector<std::string> behind;
  for (const std::string& other : source.left_behind()) {
    const bool is_taken_over = to_hdf5 && of_hdf5 != nullptr && other.find('/') == std::string::npos;
    if (!is_taken_over) behind.push_back(other + ", which is not a field: it is not copied");
  }
  if (dropped_ghosts != amr::no_ghosts) {
    behind.push_back(fmt::format("{} layers of ghost cells around its boxes, which are not copied",
                                 fmt::join(dropped_ghosts, ", ")));
  }
  if (to_hdf5 || of_hdf5 == nullptr) return behind;
  NEVE_ASSIGN(const std::vector<std::string> attributes, of_hdf5->other_attributes());
  for (const std::string& attribute : attributes) {
    behind.push_back(attribute + ", for which an AMReX plotfile has no place: it is not copied");
  }
  return behind;
}

// What was made of a plotfile, for people and as data.
struct Made {
  nlohmann::ordered_json json;
  std::string summary;
};

// Collective, into an HDF5 file, with the source's layers of ghosts that the options say.
Result<Made> make_hdf5(const Ranks& ranks, const Args& args, PlotfileSource& source,
                       const WriteOptions& options, double open_seconds) {
  Hierarchy h = source.hierarchy();
  GrownSource grown(source, options.ghosts);
  SourceToWrite values(grown, args.source);
  if (is_uncompressed(args)) {
    sort_boxes_as_chombo(h);
    values.sort_as_chombo();
  }
  NEVE_ASSIGN(const WriteReport report, write_plotfile(ranks.comm(), args.destination, h, values, options));
  const bool bound_is_default = !args.flags.is_given("bound");
  const std::string bound = bound_is_default ? default_bound : args.flags.text("bound");
  Made made;
  if (options.compress) {
    made.json["bound"] = to_string(options.bound);
    made.json["bound_is_default"] = bound_is_default;
    made.json["covered"] = covered_name(report.covered);
    made.json["left_out_cells"] = left_out_cells(report);
    made.summary = report_table(report) + bound_line(bound, bound_is_default, " or --field") +
                   covered_line(report) + report_summary(args.destination, report) +
                   explanations_text(report);
  } else {
    made.summary =
        fmt::format("{}: uncompressed, {}, {} in {}\n", args.destination, counted(h.levels.size(), "level"),
                    human_bytes(report.data_bytes), counted(report.mpi_writes, "MPI-IO write"));
  }
  made.json.update(report_json(report));
  made.json["seconds"] = phases_json(report, open_seconds + values.seconds());
  if (options.layout != FileLayout{}) made.summary += hints_line(report);
  return made;
}

uint64_t bytes_of_values(const Hierarchy& h) {
  uint64_t cells = 0;
  for (const Level& level : h.levels) {
    for (const Box& box : level.boxes) cells += static_cast<uint64_t>(box.cells());
  }
  return cells * h.components.size() * dtype_bytes(h.dtype);
}

// Collective, into an AMReX plotfile directory.
Result<Made> make_amrex(const Ranks& ranks, const Args& args, PlotfileSource& source, Progress& progress,
                        double open_seconds) {
  const Hierarchy& h = source.hierarchy();
  SourceToWrite values(source, args.source);
  const double write_begin_seconds = MPI_Wtime();
  NEVE_TRY(write_amrex_plotfile(ranks.comm(), args.destination, values,
                                [&](double fraction) { progress.show("write", fraction); }));
  const double write_seconds = MPI_Wtime() - write_begin_seconds;
  uint64_t on_disk_bytes = 0;
  NEVE_TRY(ranks.on_first("measure", [&]() -> Status {
    NEVE_ASSIGN(on_disk_bytes, stored_bytes(args.destination));
    return {};
  }));
  const uint64_t raw_bytes = bytes_of_values(h);
  Made made;
  made.json["raw_bytes"] = raw_bytes;
  made.json["stored_bytes"] = on_disk_bytes;
  made.json["seconds"] = {{"read", open_seconds + values.seconds()}, {"write", write_seconds}};
  made.summary = fmt::format("{}: AMReX plotfile, {}, {}\n", args.destination,
                             counted(h.levels.size(), "level"), human_bytes(raw_bytes));
  return made;
}

// A plotfile that has been opened, and what is to be made of it.
struct Opened {
  std::unique_ptr<PlotfileSource> source;
  bool to_hdf5 = false;
  WriteOptions options;
  std::vector<std::string> behind;  // what the destination will not hold
};

// The options for the source that has been opened; the layers of ghosts that are dropped.
Result<IntVect> settle_options(const Args& args, Opened& opened) {
  NEVE_ASSIGN(opened.options, write_options(args));
  NEVE_TRY(options::refuse_idle_layout(args.flags.asked(), opened.options));
  if (opened.to_hdf5 && opened.options.compress)
    NEVE_TRY(options::refuse_idle_of_plotfile(args.flags.asked(), opened.options, field_prefix));
  return settle_ghosts(args, *opened.source, opened.to_hdf5, opened.options);
}

// Collective.
Result<Opened> open_plotfile(const Ranks& ranks, const Args& args, const CLI::App& app, InputKind kind) {
  Opened opened;
  NEVE_TRY(ranks.agree(mpi::guarded("open", [&]() -> Status {
    NEVE_ASSIGN(opened.to_hdf5, goes_to_hdf5(args.destination, args.to));
    return check_convert_options(app, !opened.to_hdf5         ? options::amrex_plotfile
                                      : is_uncompressed(args) ? options::uncompressed_plotfile
                                                              : options::plotfile);
  })));
  NEVE_TRY(ranks.agree(mpi::guarded("open", [&]() -> Status {
    NEVE_ASSIGN(opened.source, open_source(args.source, args.open));
    return {};
  })));
  const bool to_hdf5 = opened.to_hdf5;
  const PlotfileSource& source = *opened.source;
  NEVE_ASSIGN(const IntVect dropped_ghosts,
              ranks.settle("options", [&] { return settle_options(args, opened); }));
  if (to_hdf5 && kind == InputKind::hdf5) opened.options.like = args.source;
  NEVE_TRY(ranks.on_first("open", [&]() -> Status {
    NEVE_ASSIGN(opened.behind, stays_behind(source, to_hdf5, dropped_ghosts));
    return {};
  }));
  NEVE_TRY(ranks.on_first("open", [&] {
    return to_hdf5 ? files::TemporaryFile::check(args.destination)
                   : files::TemporaryFolder::check(
                         args.destination,
                         plotfile::parts_of_plotfile(plotfile::Replacement(source.hierarchy())));
  }));
  return opened;
}

void report_plotfile(const Ranks& ranks, const Args& args, const Opened& opened, const Made& made) {
  for (const std::string& other : opened.behind)
    say("convert", fmt::format("{} holds {}", args.source, other));
  for (const std::string& remark : opened.source->remarks())
    say("convert", fmt::format("{}: {}", args.source, remark));
  nlohmann::ordered_json head = {{"source", args.source},
                                 {"source_kind", opened.source->kind()},
                                 {"destination", args.destination},
                                 {"destination_kind", opened.to_hdf5 ? "Neve HDF5" : "AMReX plotfile"},
                                 {"ranks", ranks.size()}};
  head.update(made.json);
  std::cout << (args.json ? json_text(head) + "\n" : visible(made.summary)) << std::flush;
}

Status convert_plotfile(const Ranks& ranks, const Args& args, const CLI::App& app, InputKind kind,
                        double begin_seconds) {
  NEVE_ASSIGN(Opened opened, open_plotfile(ranks, args, app, kind));
  const double open_seconds = MPI_Wtime() - begin_seconds;
  Progress progress(ranks.first());
  opened.options.progress = [&](const std::string& phase, double fraction) {
    progress.show(phase, fraction);
  };
  NEVE_ASSIGN(Made made, opened.to_hdf5 ? make_hdf5(ranks, args, *opened.source, opened.options, open_seconds)
                                        : make_amrex(ranks, args, *opened.source, progress, open_seconds));
  made.json["seconds"]["total"] = MPI_Wtime() - begin_seconds;
  if (ranks.first()) report_plotfile(ranks, args, opened, made);
  return {};
}

// Whatever lies in boxes: plotfiles and checkpoints.
Status convert_boxes(const Ranks& ranks, const Args& args, const CLI::App& app) {
  const double begin_seconds = MPI_Wtime();
  InputKind kind{};
  bool of_chombo = false;
  NEVE_TRY(ranks.agree(mpi::guarded("open", [&]() -> Status {
    NEVE_ASSIGN(kind, input_kind(args.source));
    if (kind == InputKind::frame_or_unknown) return open_source(args.source, {}).status();
    if (kind != InputKind::checkpoint) return {};
    NEVE_ASSIGN(of_chombo, is_chombo_checkpoint(args.source));
    return {};
  })));
  if (of_chombo) {
    NEVE_ASSIGN(const datafile::CheckpointCopyOptions options,
                ranks.settle("options", [&] { return chombo_options(app, args); }));
    return convert_chombo_checkpoint(ranks, args.source, args.destination, options,
                                     !args.flags.is_given("bound"), args.json);
  }
  if (kind == InputKind::checkpoint) {
    NEVE_ASSIGN(CheckpointConversion conversion,
                ranks.settle("options", [&] { return checkpoint_conversion(app, args); }));
    return convert_checkpoint(ranks, std::move(conversion));
  }
  return convert_plotfile(ranks, args, app, kind, begin_seconds);
}

Status convert_steps(const Ranks& ranks, const Args& args, const CLI::App& app) {
  NEVE_ASSIGN(SeriesConversion conversion,
              ranks.settle("options", [&] { return series_conversion(app, args); }));
  return convert_series(ranks, std::move(conversion));
}

Status convert(const Ranks& ranks, const Args& args, const CLI::App& app) {
  if (is_series(args)) return convert_steps(ranks, args, app);
  if (args.destination.empty()) return usage_error("DST is required, or --into FOLDER for time steps");
  if (!args.more.empty())
    return usage_error(fmt::format("{} is one file too many: one is made of one; --into FOLDER takes several",
                                   args.more.front()));
  bool of_data = false;
  const auto recognise = [&]() -> Status {
    NEVE_TRY(files::check_is_another(args.source, args.destination));
    NEVE_ASSIGN(of_data, is_data_file(args.source));
    return {};
  };
  NEVE_TRY(ranks.check_same_file(args.source));
  NEVE_TRY(ranks.agree(mpi::guarded("open", recognise)));
  if (!of_data) return convert_boxes(ranks, args, app);
  NEVE_ASSIGN(const datafile::CopyOptions options,
              ranks.settle("options", [&] { return copy_options(app, args); }));
  return convert_data_file(ranks, args.source, args.destination, options, !args.flags.is_given("bound"),
                           args.json);
}

// Those of the table of options.
void add_table_options(CLI::App& command, OptionFlags& flags) {
  static options::WriteSlots defaults;
  static ChoiceRules rules;
  constexpr options::Targets targets = options::plotfile | options::uncompressed_plotfile |
                                       options::checkpoint | options::data_file | options::chombo_checkpoint |
                                       options::series;
  options::Slots slots = defaults.slots();
  slots.choice = &rules;
  flags.add(command, for_targets(targets), slots);
  flags.describe("bound",
                 "abs=X (largest error), rel=X (of each level's or variable's value range) or lossless. "
                 "Checkpoints and data files are lossless unless this or --field says otherwise. Integers "
                 "are always lossless. Variables that describe the grid of a data file are lossless unless "
                 "--field or a rule gives their full name");
  command.get_option("--bound")->default_str(default_bound);
}

void add_arguments(CLI::App& command, Args& args) {
  command
      .add_option(
          "SRC", args.source,
          "AMReX plotfile directory; Chombo, AMReX or Neve HDF5 plotfile; checkpoint of Neve, Chombo "
          "or a code on "
          "Chombo (BISICLES); .npy array; netCDF file (classic, 64-bit or netCDF-4) or other HDF5 data "
          "file")
      ->required();
  command.add_option(
      "DST", args.destination,
      "for a plotfile: a name that ends in .h5 or .hdf5 makes an HDF5 plotfile, a name without an "
      "extension or an existing directory an AMReX plotfile directory; for a data file: a data file. For "
      "ParaView and VTK: .vtkhdf of a plotfile or checkpoint, .xdmf of a data file (docs/paraview.md). "
      "With --into one more SRC");
  command.add_option("MORE", args.more, "with --into: more data files, in the order of their time");
  command
      .add_option(
          "--into", args.into,
          "for data files of time steps: the folder of their copies, which have their names. Lossless "
          "variables keep the method that was best from file to file (docs/netcdf.md)")
      ->type_name("FOLDER")
      ->group(heading(Group::common));
  command
      .add_option(
          "--choices", args.choice_log,
          "with --into: what each copy holds of the choices made for it: none, log, or timings (a log "
          "with the time that choosing took); `neve choices` shows them. Of variables whose method is "
          "given by name there is nothing to log")
      ->capture_default_str()
      ->group(heading(Group::common));
  command
      .add_option(
          "--to", args.to,
          "format of a plotfile, whatever the name of DST: hdf5, amrex (a plotfile directory), vtkhdf, "
          "xdmf (of a data file) or auto (by the name)")
      ->capture_default_str()
      ->group(heading(Group::common));
  command
      .add_option(
          "--field", args.fields,
          fmt::format("NAME:SETTING,...: settings for one field or variable; repeatable. For a plotfile: {} "
                      "(rel=1e-4, codec=context); for a checkpoint: bound and codec; for a data file, where "
                      "NAME is a pattern (temp, ocean/*): {}, unchanged (copied as it is stored); for a "
                      "checkpoint of Chombo the same without effort",
                      options::keys_of(options::field_rule), options::keys_of(options::variable_rule)))
      ->take_all()
      ->group(heading(Group::common));
  add_table_options(command, args.flags);
  command
      .add_option("--ghosts", args.ghosts,
                  "layers of ghost cells that an HDF5 plotfile has around its boxes: keep (within the bound) "
                  "or drop")
      ->capture_default_str()
      ->group(heading(Group::data));
  command
      .add_option("--rules", args.rules,
                  "for a data file: a TOML file of rules for its variables (docs/netcdf.md)")
      ->group(heading(Group::data));
  command.add_flag("--restart", args.restart, "for a data file: ignore a partial conversion and start over")
      ->group(heading(Group::data));
  command.add_flag(follow_external_option, args.open.follow_external, follow_external_help)
      ->group(heading(Group::data));
  command.add_flag("--json", args.json, "the report as JSON on stdout")->group(heading(Group::common));
}

}  // namespace

Command add_convert(CLI::App& app) {
  CLI::App* sub = app.add_subcommand("convert",
                                     "Convert a plotfile or checkpoint to HDF5, compressed or not, or back "
                                     "to an AMReX plotfile; compress a netCDF or HDF5 data file");
  auto args = std::make_shared<Args>();
  add_arguments(*sub, *args);
  sub->footer(
      "Examples:\n"
      "  neve convert plt00113 plt00113.h5\n"
      "  mpirun -n 4 neve convert plt00113 plt00113.h5 --bound rel=1e-4 --field Temp:abs=0.5\n"
      "  mpirun -n 4 neve convert plt00113 plt00113.hdf5 --uncompressed --strategy aggregated\n"
      "  neve convert plt00113.h5 plt00113_back\n"
      "  neve convert plt00113.h5 plt00113.vtkhdf\n"
      "  neve convert chk00113.h5 small.h5 --field velocity:rel=1e-6\n"
      "  neve convert ocean.nc small.nc --threads 4\n"
      "  neve convert ocean.nc small.nc --effort balanced --explain\n"
      "  neve convert ocean.nc small.nc --bound rel=1e-4 --field 'mask*:lossless' --field /grid/*:unchanged\n"
      "  neve convert wrfout_*.nc --into small --candidates acomps --speed-weight 1 --choices log");
  Command command{sub, {}, {}};
  command.parallel = [args, sub](const Ranks& ranks) {
    const bool for_viewers = !is_series(*args) && is_for_viewers(args->destination, args->to);
    return for_viewers ? check_for_viewers(ranks, args->destination) : convert(ranks, *args, *sub);
  };
  command.after = [args, sub] {
    const bool for_viewers = !is_series(*args) && is_for_viewers(args->destination, args->to);
    return for_viewers ? convert_for_viewers(*sub) : 0;
  };
  return command;
}

}  // namespace neve::cli
