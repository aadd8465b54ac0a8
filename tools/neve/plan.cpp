// SPDX-License-Identifier: BSD-3-Clause
// `neve plan`: how many writes of which sizes each strategy makes, what they would take on a parallel file
// system, and what to choose. Nothing is written.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "core/amr/distribution_names.hpp"
#include "core/amr/load_balance.hpp"
#include "core/amr/sample_grids.hpp"
#include "core/io_model/access_bins.hpp"
#include "core/io_model/file_pieces.hpp"
#include "core/io_model/predict.hpp"
#include "core/io_model/write_calls.hpp"
#include "tools/common/console.hpp"
#include "tools/common/idle_options.hpp"
#include "tools/common/options.hpp"
#include "tools/neve/commands.hpp"
#include "tools/neve/source.hpp"

namespace neve::cli {
namespace {

using Json = nlohmann::ordered_json;
using io_model::FilePieces;
using io_model::FileSystem;
using io_model::Prediction;
using io_model::SizeCounts;
using io_model::Striping;

// Writes of the paper's Table I that are not data: 115,268 MPI-IO writes for 115,200 boxes.
constexpr int table_one_metadata_writes = 68;
// Rank 0 writes the structure for a chunk in 3 us (1e5 chunks in 0.30 s).
constexpr double skeleton_chunk_seconds = 3e-6;
// Of one rank, bound rel=1e-3, effort fast (bench/results/write.md).
constexpr double default_codec_megabytes = 700;
constexpr size_t top_sizes = 4;
// Of what may be asked for.
constexpr int most = 100'000'000;
constexpr double most_ms = most, least_rate = 1e-9, most_rate = 1e9;

struct Args {
  std::string plotfile, chombo;
  bool ice = false;
  std::vector<std::string> boxes;
  int ranks = 0, box_cells = 0, components = 0, ghosts = -1, aggregate_boxes = 0;
  bool checkpoint = false;
  std::string distribution = "greedy";
  LayoutArgs layout;
  std::string system = "edison";
  int targets = 0, ranks_per_node = 0, metadata_writes = table_one_metadata_writes;
  double target_gigabytes = 0, node_gigabytes = 0;
  double request_ms = -1, lock_ms = -1, call_ms = -1;
  double ratio = 0, codec_megabytes = default_codec_megabytes;
  std::string chunk_size = "8MiB";
  OpenOptions open;
  bool bins = false, json = false;
};

// "8x8x4": units along x, y, z.
Result<IntVect> parse_units(const std::string& text) {
  IntVect units{0, 0, 0};
  const char* at = text.data();
  const char* end = at + text.size();
  for (int d = 0; d < max_dims; ++d) {
    const auto [rest, error] = std::from_chars(at, end, units[d]);
    const bool is_last = d + 1 == max_dims;
    if (error != std::errc() || (is_last ? rest != end : rest == end || *rest != 'x')) {
      return usage_error(fmt::format("--chombo '{}' is not NXxNYxNZ, as in 8x8x8", text));
    }
    at = rest + 1;
  }
  return units;
}

// "4599936:115200", "72KiB:1429": bytes and how many.
Result<std::pair<uint64_t, uint64_t>> parse_boxes(const std::string& text) {
  const size_t colon = text.find(':');
  uint64_t count = 0;
  if (colon != std::string::npos) {
    const char* end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data() + colon + 1, end, count);
    if (error == std::errc() && rest == end && count > 0) {
      NEVE_ASSIGN(const uint64_t bytes, parse_bytes("--boxes", text.substr(0, colon)));
      return std::pair(bytes, count);
    }
  }
  return usage_error(fmt::format("--boxes '{}' is not SIZE:COUNT, as in 4599936:115200", text));
}

// What is to be written: boxes as they are, and compressed where a ratio is given.
struct Subject {
  std::string what;
  FilePieces values;
  std::optional<FilePieces> frames;
  uint64_t busiest_rank_bytes = 0;  // of values that a rank encodes
  double max_over_mean = 1;         // of the ranks' cells (or bytes, of boxes given by size)
};

uint64_t busiest_rank_bytes(const FilePieces& file) {
  std::vector<uint64_t> of_rank(static_cast<size_t>(file.ranks), 0);
  for (const io_model::Dataset& dataset : file.datasets) {
    for (size_t i = 0; i < dataset.owner.size(); ++i) {
      of_rank[static_cast<size_t>(dataset.owner[i])] += dataset.piece_bytes[i];
    }
  }
  return *std::max_element(of_rank.begin(), of_rank.end());
}

Result<Hierarchy> hierarchy_of(const Args& args, std::string& what, int& ghosts) {
  if (!args.chombo.empty()) {
    amr::ChomboGrid grid;
    NEVE_ASSIGN(grid.replicas, parse_units(args.chombo));
    if (args.box_cells != 0) grid.box_cells = args.box_cells;
    if (args.components != 0) grid.components = args.components;
    ghosts = amr::chombo_ghosts;
    what = fmt::format("Chombo I/O benchmark, {} units of {} boxes of {}^3", args.chombo,
                       amr::chombo_boxes_per_unit, grid.box_cells);
    return amr::chombo_grid(grid);
  }
  if (args.ice) {
    amr::IceGrid grid;
    if (args.box_cells != 0) grid.tile_cells = args.box_cells;
    if (args.components != 0) grid.components = args.components;
    ghosts = amr::ice_plot_ghosts;
    what = fmt::format("BISICLES-like 2D hierarchy of 5 levels, tiles of {}^2", grid.tile_cells);
    return amr::ice_grid(grid);
  }
  NEVE_ASSIGN(const auto source, open_source(args.plotfile, args.open));
  what = fmt::format("{} ({})", args.plotfile, source->kind());
  return source->hierarchy();
}

Result<Subject> subject_of(const Args& args) {
  Subject subject;
  if (!args.boxes.empty()) {
    std::vector<std::pair<uint64_t, uint64_t>> sizes;
    for (const std::string& text : args.boxes) {
      NEVE_ASSIGN(const auto size, parse_boxes(text));
      sizes.push_back(size);
    }
    subject.what = "boxes of the sizes given, one dataset";
    NEVE_ASSIGN(subject.values, io_model::pieces_of_sizes(sizes, args.ranks));
    subject.busiest_rank_bytes = busiest_rank_bytes(subject.values);
    if (args.ratio > 0) subject.frames = io_model::shrunk_pieces(subject.values, args.ratio);
    subject.max_over_mean = static_cast<double>(subject.busiest_rank_bytes) * args.ranks /
                            static_cast<double>(subject.values.bytes());
    return subject;
  }
  int ghosts = 0;
  NEVE_ASSIGN(const Hierarchy h, hierarchy_of(args, subject.what, ghosts));
  if (args.ghosts >= 0) ghosts = args.ghosts;
  NEVE_ASSIGN(const DistributionMethod method, parse_distribution_method(args.distribution));
  const amr::Loads loads = amr::cell_loads(h);
  const amr::Owners owner = amr::share_boxes(h, args.ranks, loads, method);
  io_model::ValueLayout layout;
  for (int d = 0; d < h.dims; ++d) layout.ghosts[d] = ghosts;
  layout.dataset_per_component = args.checkpoint;
  subject.values = io_model::value_pieces(h, owner, args.ranks, layout);
  const amr::Balance balance = amr::balance_of_all(loads, owner, args.ranks);
  subject.max_over_mean = balance.max_over_mean();
  subject.busiest_rank_bytes =
      static_cast<uint64_t>(balance.largest) * h.components.size() * dtype_bytes(h.dtype);
  if (args.ratio > 0) {
    NEVE_ASSIGN(const uint64_t chunk_bytes, parse_bytes("--chunk-size", args.chunk_size));
    if (chunk_bytes < dtype_bytes(h.dtype)) return usage_error("--chunk-size is too small for a value");
    subject.frames = io_model::frame_pieces(h, owner, args.ranks, chunk_bytes, args.ratio);
  }
  return subject;
}

Result<FileSystem> system_of(const Args& args) {
  NEVE_ASSIGN(FileSystem system, io_model::named_file_system(args.system));
  constexpr double gigabyte = 1e9;
  if (args.target_gigabytes > 0) system.target_bytes_per_second = args.target_gigabytes * gigabyte;
  if (args.node_gigabytes > 0) system.node_bytes_per_second = args.node_gigabytes * gigabyte;
  if (args.request_ms >= 0) system.request_seconds = args.request_ms * 1e-3;
  if (args.lock_ms >= 0) system.lock_seconds = args.lock_ms * 1e-3;
  if (args.call_ms >= 0) system.call_seconds = args.call_ms * 1e-3;
  if (args.targets != 0) system.targets = args.targets;
  if (args.ranks_per_node != 0) system.ranks_per_node = args.ranks_per_node;
  return system;
}

// What some strategy would do.
struct Row {
  std::string name;
  io_model::WriteCounts counts;
  Prediction prediction;
  double encode_seconds = 0, structure_seconds = 0;
  double total() const { return prediction.total() + encode_seconds + structure_seconds; }
};

// Striping as given; what is not given as the fastest uncompressed strategy would have it.
Result<Striping> striping_of(const Args& args, const FilePieces& file, const FileSystem& system) {
  NEVE_ASSIGN(const FileLayout given, args.layout.read());
  if (given.stripe_count > system.targets) {
    return usage_error(fmt::format("--stripe-count {} is more than the {} targets there are",
                                   given.stripe_count, system.targets));
  }
  Striping striping = io_model::best_striping(file, io_model::Strategy::skeleton, system);
  if (given.stripe_count > 0) striping.stripe_count = given.stripe_count;
  if (given.stripe_bytes > 0) striping.stripe_bytes = given.stripe_bytes;
  // One aggregator per target: two would get in each other's way, fewer leave targets idle.
  striping.aggregators =
      given.aggregators > 0 ? given.aggregators : std::min(striping.stripe_count, file.ranks);
  return striping;
}

std::vector<Row> rows_of(const Args& args, const Subject& subject, const Striping& striping,
                         const FileSystem& system) {
  using io_model::Strategy;
  std::vector<Row> rows;
  const auto add = [&](const FilePieces& file, Strategy strategy, int aggregate_boxes, std::string name) {
    Row& row = rows.emplace_back();
    row.name = std::move(name);
    row.counts = io_model::count_writes(file, strategy, aggregate_boxes, striping.stripe_bytes);
    row.prediction = io_model::predict(file, strategy, aggregate_boxes, striping, system);
  };
  add(subject.values, Strategy::independent, 0, "independent");
  add(subject.values, Strategy::collective, 0, "collective");
  add(subject.values, Strategy::aggregated, 0, "aggregated");
  if (args.aggregate_boxes > 0) {
    add(subject.values, Strategy::aggregated, args.aggregate_boxes,
        fmt::format("aggregated, {} boxes", args.aggregate_boxes));
  }
  add(subject.values, Strategy::skeleton, 0, "skeleton");
  if (subject.frames) {
    add(*subject.frames, Strategy::skeleton, 0, "skeleton, compressed");
    rows.back().encode_seconds =
        static_cast<double>(subject.busiest_rank_bytes) / (args.codec_megabytes * 1e6);
    rows.back().structure_seconds = static_cast<double>(subject.frames->pieces()) * skeleton_chunk_seconds;
  }
  return rows;
}

struct Advice {
  size_t best = 0;  // of the rows that compress nothing
  std::optional<bool> compress;
  std::optional<double> break_even_megabytes;  // codec speed of a rank at which compression stops paying
};

Advice advise(const std::vector<Row>& rows, const Subject& subject) {
  Advice advice;
  const size_t uncompressed = rows.size() - (subject.frames ? 1 : 0);
  for (size_t i = 1; i < uncompressed; ++i) {
    if (rows[i].total() < rows[advice.best].total()) advice.best = i;
  }
  if (!subject.frames) return advice;
  const Row& packed = rows.back();
  advice.compress = packed.total() < rows[advice.best].total();
  const double left_for_codec =
      rows[advice.best].total() - packed.prediction.total() - packed.structure_seconds;
  if (left_for_codec > 0) {
    advice.break_even_megabytes = static_cast<double>(subject.busiest_rank_bytes) / left_for_codec / 1e6;
  }
  return advice;
}

// What the numbers stand on.
std::vector<std::string> basis_of(const Args& args) {
  const FileSystem named = *io_model::named_file_system(args.system);
  const bool own_metadata = args.metadata_writes != table_one_metadata_writes;
  std::vector<std::string> basis = {
      "computed: MPI-IO writes, and POSIX writes if aggregators write up to stripe boundaries (ROMIO on "
      "Lustre); an independent write is one POSIX write",
      fmt::format(
          "{} metadata writes, shown beside every POSIX count; mean sizes are of data only",
          own_metadata
              ? fmt::format("given: {}", args.metadata_writes)
              : fmt::format("calibrated: {} (Table I of the ACB paper: its MPI-IO writes minus its boxes)",
                            args.metadata_writes)),
      fmt::format("published: {} targets of {:.2f} GB/s ({}, peak)", named.targets,
                  named.target_bytes_per_second / 1e9, named.name),
      fmt::format("assumed: {:.1f} GB/s from a node", named.node_bytes_per_second / 1e9),
      fmt::format(
          "calibrated: {:.0f} ms a request, {:.0f} ms a lock that changes hands, {:.0f} ms a collective "
          "call, so that the ratios of the strategies' times are those that the paper measured",
          named.request_seconds * 1e3, named.lock_seconds * 1e3, named.call_seconds * 1e3)};
  if (args.ratio > 0) {
    basis.push_back(fmt::format("given: compression ratio {}", args.ratio));
    basis.push_back(fmt::format("{}: a rank encodes {} MB/s",
                                args.codec_megabytes == default_codec_megabytes
                                    ? "measured on one machine (bench/results/write.md)"
                                    : "given",
                                args.codec_megabytes));
    basis.push_back(
        "measured on one machine: rank 0 takes 3 us to record each chunk's place in the file's structure");
  }
  std::string given;
  const auto note = [&](bool is_given, const char* name) {
    if (is_given) given += (given.empty() ? "" : ", ") + std::string(name);
  };
  note(args.targets != 0, "targets");
  note(args.target_gigabytes != 0, "target bandwidth");
  note(args.node_gigabytes != 0, "node bandwidth");
  note(args.ranks_per_node != 0, "ranks a node");
  note(args.request_ms >= 0, "request latency");
  note(args.lock_ms >= 0, "lock latency");
  note(args.call_ms >= 0, "call latency");
  if (!given.empty()) basis.push_back("given instead of the above: " + given);
  return basis;
}

uint64_t posix_total(const Row& row, const Args& args) {
  return io_model::total_count(row.counts.posix) + static_cast<uint64_t>(args.metadata_writes);
}

uint64_t mean_size(const SizeCounts& counts) {
  uint64_t bytes = 0;
  for (const auto& [size, count] : counts) bytes += size * count;
  const uint64_t total = io_model::total_count(counts);
  return total == 0 ? 0 : bytes / total;
}

std::vector<std::pair<uint64_t, uint64_t>> most_frequent(const SizeCounts& counts) {
  std::vector<std::pair<uint64_t, uint64_t>> sorted(counts.begin(), counts.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  sorted.resize(std::min(sorted.size(), top_sizes));
  return sorted;
}

Json counts_json(const SizeCounts& counts) {
  Json j = {{"writes", io_model::total_count(counts)}, {"mean_bytes", mean_size(counts)}};
  j["bins"] = Json::object();
  const auto bins = io_model::binned(counts);
  for (size_t i = 0; i < bins.size(); ++i) j["bins"][io_model::bin_names[i]] = bins[i];
  j["top"] = Json::array();
  for (const auto& [bytes, count] : most_frequent(counts))
    j["top"].push_back({{"bytes", bytes}, {"count", count}});
  return j;
}

Json plan_json(const Args& args, const Subject& subject, const Striping& striping, const FileSystem& system,
               const std::vector<Row>& rows, const Advice& advice) {
  Json j = {{"what", subject.what},
            {"ranks", args.ranks},
            {"boxes", subject.values.pieces()},
            {"bytes", subject.values.bytes()},
            {"max_over_mean_load", subject.max_over_mean},
            {"stripe_count", striping.stripe_count},
            {"stripe_bytes", striping.stripe_bytes},
            {"aggregators", striping.aggregators},
            {"system", system.name},
            {"metadata_writes", args.metadata_writes},
            {"strategies", Json::array()}};
  for (const Row& row : rows) {
    Json posix = counts_json(row.counts.posix);
    posix["writes_with_metadata"] = posix_total(row, args);
    j["strategies"].push_back({{"name", row.name},
                               {"mpi", counts_json(row.counts.mpi)},
                               {"posix", std::move(posix)},
                               {"seconds",
                                {{"total", row.total()},
                                 {"encode", row.encode_seconds},
                                 {"structure", row.structure_seconds},
                                 {"exchange", row.prediction.exchange_seconds},
                                 {"targets", row.prediction.target_seconds},
                                 {"calls", row.prediction.call_seconds}}}});
  }
  Json recommended = {{"uncompressed", rows[advice.best].name},
                      {"stripe_count", striping.stripe_count},
                      {"stripe_bytes", striping.stripe_bytes},
                      {"aggregators", striping.aggregators}};
  if (advice.compress) recommended["compress"] = *advice.compress;
  if (advice.break_even_megabytes) recommended["break_even_codec_MBps"] = *advice.break_even_megabytes;
  j["recommended"] = std::move(recommended);
  j["basis"] = basis_of(args);
  return j;
}

std::string seconds_text(double seconds) { return fmt::format("{:.3g}", seconds); }

std::string plan_text(const Args& args, const Subject& subject, const Striping& striping,
                      const std::vector<Row>& rows, const Advice& advice) {
  std::string text = fmt::format(
      "{}\n{}, {} on {} (busiest / mean {:.3f}); {} of {}, {}\n\n", subject.what,
      counted(subject.values.pieces(), "box", "boxes"), human_bytes(subject.values.bytes()),
      counted(static_cast<uint64_t>(args.ranks), "rank"), subject.max_over_mean,
      counted(static_cast<uint64_t>(striping.stripe_count), "stripe"), human_bytes(striping.stripe_bytes),
      counted(static_cast<uint64_t>(striping.aggregators), "aggregator"));
  Table table({"strategy", "MPI-IO writes", "POSIX writes + metadata", "mean of data", "seconds", "encode",
               "exchange", "targets", "calls"});
  for (const Row& row : rows) {
    table.add({row.name, std::to_string(io_model::total_count(row.counts.mpi)),
               fmt::format("{} + {}", io_model::total_count(row.counts.posix), args.metadata_writes),
               human_bytes(mean_size(row.counts.posix)), seconds_text(row.total()),
               seconds_text(row.encode_seconds), seconds_text(row.prediction.exchange_seconds),
               seconds_text(row.prediction.target_seconds), seconds_text(row.prediction.call_seconds)});
  }
  text += table.text();
  if (args.bins) {
    std::vector<std::string> heads = {"sizes of writes"};
    heads.insert(heads.end(), io_model::bin_names.begin(), io_model::bin_names.end());
    Table bins(heads);
    for (const bool posix : {false, true}) {
      for (const Row& row : rows) {
        std::vector<std::string> cells = {(posix ? "POSIX " : "MPI-IO ") + row.name};
        for (uint64_t count : io_model::binned(posix ? row.counts.posix : row.counts.mpi)) {
          cells.push_back(std::to_string(count));
        }
        bins.add(cells);
      }
    }
    text += "\n" + bins.text();
  }
  text += fmt::format("\nRecommended: {}, {} stripes of {}, {} aggregators", rows[advice.best].name,
                      striping.stripe_count, human_bytes(striping.stripe_bytes), striping.aggregators);
  if (advice.compress) {
    text += fmt::format("; compression {} ({} s against {} s", *advice.compress ? "pays" : "does not pay",
                        seconds_text(rows.back().total()), seconds_text(rows[advice.best].total()));
    text += advice.break_even_megabytes
                ? fmt::format("; it does from {:.0f} MB/s a rank on)", *advice.break_even_megabytes)
                : "; at no codec speed)";
  }
  text += "\nAssumptions:\n";
  for (const std::string& line : basis_of(args)) text += "  " + line + "\n";
  return text;
}

Status check_args(const Args& args) {
  const int subjects = (args.plotfile.empty() ? 0 : 1) + (args.chombo.empty() ? 0 : 1) + (args.ice ? 1 : 0) +
                       (args.boxes.empty() ? 0 : 1);
  if (subjects != 1) {
    return usage_error(fmt::format(
        "{} of PLOTFILE, --chombo, --bisicles and --boxes are given; give exactly one", subjects));
  }
  return {};
}

Status check_options(const CLI::App& command, const Args& args) {
  const bool has_sizes = !args.boxes.empty(), is_grid = !args.chombo.empty() || args.ice;
  const std::string without_boxes = "with --boxes, where only sizes are known";
  const std::string without_ratio = "without --ratio: no compressed writing is planned";
  const std::string without_grid = "here; it is allowed with --chombo and --bisicles";
  return refuse_idle(command, {{"--box-cells", is_grid, without_grid},
                               {"--components", is_grid, without_grid},
                               {"--ghosts", !has_sizes, without_boxes},
                               {"--checkpoint", !has_sizes, without_boxes},
                               {"--distribution", !has_sizes, without_boxes},
                               {"--codec-speed", args.ratio > 0, without_ratio},
                               {"--chunk-size", args.ratio > 0, without_ratio},
                               {"--chunk-size", !has_sizes, without_boxes}});
}

Status plan(const CLI::App& command, const Args& args) {
  NEVE_TRY(check_args(args));
  NEVE_TRY(check_options(command, args));
  NEVE_ASSIGN(const FileSystem system, system_of(args));
  NEVE_ASSIGN(const Subject subject, subject_of(args));
  NEVE_ASSIGN(const Striping striping, striping_of(args, subject.values, system));
  const std::vector<Row> rows = rows_of(args, subject, striping, system);
  const Advice advice = advise(rows, subject);
  std::cout << (args.json ? plan_json(args, subject, striping, system, rows, advice).dump(2) + "\n"
                          : plan_text(args, subject, striping, rows, advice))
            << std::flush;
  return {};
}

}  // namespace

Command add_plan(CLI::App& app) {
  CLI::App* sub = app.add_subcommand(
      "plan", "Predict how many writes each strategy makes, their sizes and their time, and recommend one");
  auto args = std::make_shared<Args>();
  sub->add_option("PLOTFILE", args->plotfile, "plan for the boxes of this plotfile");
  sub->add_option("--chombo", args->chombo, "the Chombo I/O benchmark, NXxNYxNZ units");
  sub->add_flag("--bisicles", args->ice, "a 2D hierarchy like that of the BISICLES Antarctica benchmark");
  sub->add_option("--boxes", args->boxes, "SIZE:COUNT boxes of SIZE bytes (or 72KiB); repeatable")
      ->take_all();
  sub->add_option("--ranks", args->ranks, "MPI ranks")->check(CLI::Range(1, most))->required();
  sub->add_option("--box-cells", args->box_cells,
                  "edge of a box (--chombo, 64) or of a tile (--bisicles, 16)")
      ->check(CLI::Range(1, most));
  sub->add_option("--components", args->components, "components (--chombo: 2, --bisicles: 15)")
      ->check(CLI::Range(1, most));
  sub->add_option("--ghosts", args->ghosts,
                  "layers of ghost cells written around every box (the grids': 1, a plotfile's: 0)")
      ->check(CLI::Range(0, amr::max_sample_ghosts));
  sub->add_flag("--checkpoint", args->checkpoint,
                "one dataset per component and level, as BISICLES checkpoints have");
  sub->add_option("--distribution", args->distribution,
                  "how boxes are distributed over ranks (greedy as Chombo): " +
                      joined(amr::distribution_names, " or "))
      ->capture_default_str();
  sub->add_option("--aggregate-boxes", args->aggregate_boxes,
                  "also plan aggregated writes of so many boxes of a rank at a time")
      ->check(CLI::Range(1, most));
  args->layout.add_planned(*sub);
  sub->add_option("--system", args->system, "system whose numbers are the defaults: edison or cori")
      ->capture_default_str();
  sub->add_option("--targets", args->targets, "number of storage targets")->check(CLI::Range(1, most));
  sub->add_option("--target-bandwidth", args->target_gigabytes, "bandwidth of one target, GB/s")
      ->check(CLI::Range(least_rate, most_rate));
  sub->add_option("--node-bandwidth", args->node_gigabytes, "bandwidth of a node, in and out, GB/s")
      ->check(CLI::Range(least_rate, most_rate));
  sub->add_option("--ranks-per-node", args->ranks_per_node, "MPI ranks on a node")
      ->check(CLI::Range(1, most));
  sub->add_option("--request-latency", args->request_ms,
                  "ms that a request takes on a target, besides its bytes")
      ->check(CLI::Range(0.0, most_ms));
  sub->add_option("--lock-latency", args->lock_ms,
                  "ms that a target needs when another rank writes into a stripe")
      ->check(CLI::Range(0.0, most_ms));
  sub->add_option("--call-latency", args->call_ms, "ms that a collective call takes, besides its bytes")
      ->check(CLI::Range(0.0, most_ms));
  sub->add_option("--metadata-writes", args->metadata_writes, "POSIX writes of metadata")
      ->check(CLI::Range(0, most))
      ->capture_default_str();
  sub->add_option("--ratio", args->ratio, "compression ratio; plans compressed writes too")
      ->check(CLI::Range(0.1, 1e6));
  sub->add_option("--codec-speed", args->codec_megabytes, "encoding speed of a rank, MB/s")
      ->check(CLI::Range(least_rate, most_rate))
      ->capture_default_str();
  sub->add_option("--chunk-size", args->chunk_size, "most bytes of values in a compressed chunk")
      ->capture_default_str();
  sub->add_flag(follow_external_option, args->open.follow_external, follow_external_help);
  sub->add_flag("--bins", args->bins, "also print the writes by size, in Darshan's ten ranges");
  sub->add_flag("--json", args->json, "the plan as JSON on stdout");
  sub->footer(
      "Examples:\n"
      "  neve plan --chombo 8x8x8 --ranks 2304 --stripe-count 96 --stripe-size 8MiB --bins\n"
      "  neve plan --bisicles --checkpoint --ghosts 5 --ranks 576\n"
      "  neve plan plt00113 --ranks 128 --ratio 20 --system cori\n"
      "  neve plan --boxes 4599936:115200 --ranks 2304 --targets 48 --target-bandwidth 1.5");
  Command command{sub, {}, {}};
  command.local = [args, sub] {
    const Status status = plan(*sub, *args);
    if (!status.ok()) say("plan", status.message());
    return static_cast<int>(status.code());
  };
  return command;
}

}  // namespace neve::cli
