// SPDX-License-Identifier: BSD-3-Clause
#include "tools/neve/plan_options.hpp"

#include <fmt/format.h>

#include "core/amr/distribution_names.hpp"
#include "core/amr/sample_grids.hpp"
#include "core/io_model/unstriped_time.hpp"
#include "tools/common/idle_options.hpp"
#include "tools/neve/plan_sweep.hpp"
#include "tools/neve/source.hpp"

namespace neve::cli::plan {
namespace {

// Of what may be asked for. A plan keeps numbers of each rank, and of each call of each.
constexpr int most = 100'000'000, most_ranks = 1'000'000;
constexpr double most_ms = most, least_rate = 1e-9, most_rate = 1e9;

void add_subject_options(CLI::App& command, Args& args) {
  command.add_option("PLOTFILE", args.plotfile, "plan for the boxes of this plotfile");
  command.add_option("--chombo", args.chombo, "the Chombo I/O benchmark, NXxNYxNZ units");
  command.add_flag("--bisicles", args.ice, "a 2D hierarchy like that of the BISICLES Antarctica benchmark");
  command.add_option("--boxes", args.boxes, "SIZE:COUNT boxes of SIZE bytes (or 72KiB); repeatable")
      ->take_all();
  command.add_option("--ranks", args.ranks, "MPI ranks")->check(CLI::Range(1, most_ranks));
  command
      .add_option("--box-cells", args.box_cells, "edge of a box (--chombo, 64) or of a tile (--bisicles, 16)")
      ->check(CLI::Range(1, amr::max_sample_box_cells));
  command
      .add_option("--components", args.components,
                  "components (--chombo: 2, --bisicles: 15, its checkpoint: 72)")
      ->check(CLI::Range(1, amr::max_sample_components));
  command
      .add_option("--ghosts", args.ghosts,
                  "layers of ghost cells written around every box (the grids': 1, a plotfile's: 0)")
      ->check(CLI::Range(0, amr::max_sample_ghosts));
  command.add_flag("--checkpoint", args.checkpoint,
                   "one dataset per level and variable (of a grid: those of BISICLES, else components)");
  command
      .add_option("--distribution", args.distribution,
                  "how boxes are distributed over ranks: " + joined(amr::distribution_names, " or "))
      ->capture_default_str();
  command
      .add_option("--aggregate-boxes", args.aggregate_boxes,
                  "also plan aggregated writes of so many boxes of a rank at a time")
      ->check(CLI::Range(1, most));
}

void add_system_options(CLI::App& command, Args& args) {
  command.add_option("--system", args.system, "system whose numbers are the defaults: edison or cori")
      ->capture_default_str();
  command.add_option("--targets", args.targets, "number of storage targets")->check(CLI::Range(1, most));
  command.add_option("--target-bandwidth", args.target_gigabytes, "bandwidth of one target, GB/s")
      ->check(CLI::Range(least_rate, most_rate));
  command
      .add_option("--node-bandwidth", args.node_gigabytes,
                  "bandwidth of a node, in and out, GB/s; without stripes, of copies in memory")
      ->check(CLI::Range(least_rate, most_rate));
  command.add_option("--ranks-per-node", args.ranks_per_node, "MPI ranks on a node")
      ->check(CLI::Range(1, most));
  command
      .add_option("--request-latency", args.request_ms,
                  "ms that a request takes on a target, besides its bytes; with stripes, one that does not "
                  "fill a stripe")
      ->check(CLI::Range(0.0, most_ms));
  command
      .add_option("--lock-latency", args.lock_ms,
                  "ms that a target needs when another rank writes into a stripe")
      ->check(CLI::Range(0.0, most_ms));
  command.add_option("--call-latency", args.call_ms, "ms that a collective call takes, besides its bytes")
      ->check(CLI::Range(0.0, most_ms));
  command
      .add_option("--rank-latency", args.rank_us,
                  "us that a collective call takes in addition for every rank")
      ->check(CLI::Range(0.0, most_ms));
  command
      .add_option("--metadata-writes", args.metadata_writes,
                  "POSIX writes of metadata (lustre: those of the ACB paper's files; else: as Neve makes)")
      ->check(CLI::Range(0, most));
}

// Lists that name what the options beside them would say are refused by the same words.
Status check_subject(const Args& args) {
  const int subjects = (args.plotfile.empty() ? 0 : 1) + (args.chombo.empty() ? 0 : 1) + (args.ice ? 1 : 0) +
                       (args.boxes.empty() ? 0 : 1);
  if (subjects == 1) return {};
  return usage_error(
      fmt::format("{} of PLOTFILE, --chombo, --bisicles and --boxes are given; give exactly one", subjects));
}

Status check_effects(const CLI::App& command, const Args& args) {
  const bool has_sizes = !args.boxes.empty(), is_grid = args.is_grid();
  const bool is_striped = args.is_striped();
  const std::string without_boxes = "with --boxes, where only sizes are known";
  const std::string without_ratio = "without --ratio: no compressed writing is planned";
  const std::string without_grid = "here; it is allowed with --chombo and --bisicles";
  const std::string without_stripes = fmt::format(
      "with --mpi-io {}, whose files have no stripes; it is allowed with lustre", args.mpi_io_name);
  return refuse_idle(command, {{"--box-cells", is_grid, without_grid},
                               {"--components", is_grid, without_grid},
                               {"--ghosts", !has_sizes, without_boxes},
                               {"--ghosts", !(is_grid && args.checkpoint),
                                "with --checkpoint of a grid, whose variables have 5, 4 or 1"},
                               {"--checkpoint", !has_sizes, without_boxes},
                               {"--distribution", !has_sizes, without_boxes},
                               {"--codec-speed", args.ratio > 0, without_ratio},
                               {"--chunk-size", args.ratio > 0, without_ratio},
                               {"--chunk-size", !has_sizes, without_boxes},
                               {"--stripe-count", is_striped, without_stripes},
                               {"--stripe-size", is_striped, without_stripes},
                               {"--targets", is_striped, without_stripes},
                               {"--system", is_striped, without_stripes},
                               {"--lock-latency", is_striped, without_stripes},
                               {"--plot", !args.sweep.empty(), "without --sweep"},
                               {"--bins", args.sweep.empty(), "with --sweep"}});
}

// What is left out is chosen; what is given has to be a number of something.
Status check_layout_given(const CLI::App& command, const Args& args) {
  const auto refuse_zero = [&](const char* option, bool is_zero, const char* least) -> Status {
    if (command.count(option) == 0 || !is_zero) return {};
    return usage_error(
        fmt::format("{} is 0; at least {} is allowed; leave it out to have it chosen", option, least));
  };
  NEVE_TRY(refuse_zero("--stripe-count", args.layout.stripe_count == 0, "1"));
  NEVE_TRY(refuse_zero("--stripe-size", args.layout.stripe_bytes == 0, "64 KiB, a multiple of it,"));
  NEVE_TRY(refuse_zero("--aggregators", args.layout.aggregators == 0, "1"));
  if (args.ranks > 0 && args.layout.aggregators > args.ranks) {
    return usage_error(fmt::format("--aggregators is {}; 1 to {} are allowed: they are some of the ranks",
                                   args.layout.aggregators, args.ranks));
  }
  return {};
}

}  // namespace

void add_options(CLI::App& command, Args& args) {
  add_subject_options(command, args);
  command
      .add_option(
          "--mpi-io", args.mpi_io_name,
          "whose requests are counted: lustre (ROMIO or CB2 on Lustre), romio (ROMIO without stripes) "
          "or ompio (Open MPI's own, without stripes)")
      ->capture_default_str();
  args.layout_options.add_planned(command);
  add_system_options(command, args);
  command.add_option("--ratio", args.ratio, "compression ratio; plans compressed writes too")
      ->check(CLI::Range(0.1, 1e6));
  command.add_option("--codec-speed", args.codec_megabytes, "encoding speed of a rank, MB/s")
      ->check(CLI::Range(least_rate, most_rate))
      ->capture_default_str();
  command.add_option("--chunk-size", args.chunk_size, "most bytes of values in a compressed chunk")
      ->capture_default_str();
  command.add_flag(follow_external_option, args.open.follow_external, follow_external_help);
  command.add_flag("--bins", args.bins, "also print the writes by size, in Darshan's ten ranges");
  command.add_option("--sweep", args.sweep, sweep_help());
  command.add_option("--plot", args.plot, "also draw the sweep into this file (.png, .pdf, .svg or .html)");
  command.add_flag("--json", args.json, "the plan as JSON on stdout");
}

Status check(const CLI::App& command, Args& args) {
  NEVE_ASSIGN(args.mpi_io, io_model::parse_mpi_io(args.mpi_io_name));
  NEVE_TRY(check_subject(args));
  NEVE_TRY(check_effects(command, args));
  NEVE_ASSIGN(args.layout, args.layout_options.read());
  NEVE_TRY(check_layout_given(command, args));
  if (args.ranks == 0 && !sweeps(args.sweep, "ranks")) {
    return usage_error("--ranks is missing; give it, or --sweep ranks=...");
  }
  return {};
}

Result<io_model::FileSystem> system_of(const Args& args) {
  io_model::FileSystem system = io_model::local_disk();
  if (args.is_striped()) {
    NEVE_ASSIGN(system, io_model::named_file_system(args.system));
  }
  constexpr double gigabyte = 1e9;
  if (args.target_gigabytes > 0) system.target_bytes_per_second = args.target_gigabytes * gigabyte;
  if (args.node_gigabytes > 0) system.node_bytes_per_second = args.node_gigabytes * gigabyte;
  if (args.request_ms >= 0) system.request_seconds = args.request_ms * 1e-3;
  if (args.lock_ms >= 0) system.lock_seconds = args.lock_ms * 1e-3;
  if (args.call_ms >= 0) system.call_seconds = args.call_ms * 1e-3;
  if (args.rank_us >= 0) system.call_seconds_per_rank = args.rank_us * 1e-6;
  if (args.targets != 0) system.targets = args.targets;
  if (args.ranks_per_node != 0) system.ranks_per_node = args.ranks_per_node;
  return system;
}

}  // namespace neve::cli::plan
