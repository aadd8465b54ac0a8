// SPDX-License-Identifier: BSD-3-Clause
// `neve bench mpi`: gathers and writes of frames against those of values, live and modelled (CEAZ, figure
// 17).
#include "bench/command/mpi.hpp"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "bench/apps/mpi/benchmark.hpp"
#include "bench/apps/mpi/own_gathers.hpp"
#include "bench/command/groups.hpp"
#include "bench/command/report.hpp"
#include "tools/common/console.hpp"
#include "tools/common/options.hpp"

namespace neve::cli {
namespace {

using Json = nlohmann::ordered_json;
using mpibench::Machine;
using mpibench::Modelled;
using mpibench::Result;

struct Args {
  std::string input, bound = "rel=1e-3", folder = ".";
  double megabytes = 64, block_megabytes = 4;
  int threads = 1, repeats = 3;
  std::vector<double> links;
  std::vector<uint64_t> own_kibibytes;
  int calls = 2000;
  double node_gigabytes = 3, link_gigabytes = 25, storage_gigabytes = 26.6, latency_microseconds = 2,
         efficiency = 0.9;
  std::vector<int> nodes = {2, 4, 8, 32, 128}, cores = {1, 16, 64, 128};
  ReportArgs report;
};

// What is modelled, in the paper's words.
enum class Operation { gather, gather_frames, write };
constexpr Operation operations[] = {Operation::gather, Operation::gather_frames, Operation::write};

const char* name_of(Operation operation) {
  switch (operation) {
    case Operation::gather:
      return "MPI_Gather, values at root";
    case Operation::gather_frames:
      return "MPI_Gather, frames kept at root";
    case Operation::write:
      break;
  }
  return "MPI_File_write";
}

struct Row {
  Operation operation;
  Machine machine;
  Modelled modelled;
  int cores_for_five = 0;
};

constexpr double wanted_factor = 5;
constexpr int max_cores = 1024;

std::vector<Row> model(const Args& args, const Result& result) {
  const mpibench::Volume volume{args.node_gigabytes * 1e9, args.block_megabytes * (1 << 20)};
  std::vector<Row> rows;
  for (const Operation operation : operations) {
    for (const int nodes : args.nodes) {
      for (const int cores : args.cores) {
        const Machine machine{nodes,
                              cores,
                              args.efficiency,
                              args.link_gigabytes * 1e9,
                              args.latency_microseconds * 1e-6,
                              args.storage_gigabytes * 1e9};
        const bool decodes = operation == Operation::gather;
        const bool gathers = operation != Operation::write;
        rows.push_back(
            {operation, machine,
             gathers ? model_gather(machine, result.speeds, volume, decodes)
                     : model_write(machine, result.speeds, volume),
             cores_for(wanted_factor, max_cores, machine, result.speeds, volume, gathers, decodes)});
      }
    }
  }
  return rows;
}

double gigabytes_per_second(double bytes, double seconds) { return bytes / seconds / 1e9; }

double gathered_bytes(const Result& result) {
  return static_cast<double>(result.rank_bytes) * (result.ranks - 1);
}
double written_bytes(const Result& result) { return static_cast<double>(result.rank_bytes) * result.ranks; }

Json links_json(const Result& result) {
  Json points = Json::array();
  const auto of = [](const mpibench::ThroughLink& through) {
    return Json{{"encode_GBps", through.encode / 1e9},
                {"link_GBps", through.link / 1e9},
                {"plain_seconds", through.plain_seconds},
                {"seconds", through.seconds},
                {"factor", through.factor}};
  };
  for (const mpibench::LinkPoint& point : result.links) {
    points.push_back(
        {{"encode_over_link", point.slowness}, {"gather", of(point.gather)}, {"write", of(point.write)}});
  }
  return points;
}

Json result_json(const Args& args, const Result& result, const std::vector<Row>& rows) {
  Json j = {
      {"field", result.field},
      {"bound", args.bound},
      {"ranks", result.ranks},
      {"threads", args.threads},
      {"rank_bytes", result.rank_bytes},
      {"repeats", args.repeats},
      {"one_core",
       {{"encode_GBps", result.speeds.encode / 1e9},
        {"decode_GBps", result.speeds.decode / 1e9},
        {"ratio", result.speeds.ratio}}},
      {"bound_abs", result.bound_abs},
      {"max_abs_error", result.max_abs_error},
      {"compared_values", result.compared_values},
      {"live",
       {{"gather", {{"plain_seconds", result.plain_gather_seconds}, {"seconds", result.gather_seconds}}},
        {"write", {{"plain_seconds", result.plain_write_seconds}, {"seconds", result.write_seconds}}}}},
      {"links", links_json(result)},
      {"model",
       {{"node_GB", args.node_gigabytes},
        {"link_GBps", args.link_gigabytes},
        {"storage_GBps", args.storage_gigabytes},
        {"latency_us", args.latency_microseconds},
        {"efficiency", args.efficiency}}},
      {"modelled", Json::array()}};
  for (const Row& row : rows) {
    j["modelled"].push_back(
        {{"operation", name_of(row.operation)},
         {"nodes", row.machine.nodes},
         {"cores", row.machine.cores},
         {"plain_GBps", gigabytes_per_second(row.modelled.bytes, row.modelled.plain_seconds)},
         {"GBps", gigabytes_per_second(row.modelled.bytes, row.modelled.seconds)},
         {"factor", row.modelled.factor()},
         {"limit", row.modelled.limit},
         {"cores_for_5x", row.cores_for_five}});
  }
  return j;
}

std::string live_text(const Result& result) {
  Table table({"live", "values GB/s", "frames GB/s", "frames / values"});
  const auto add = [&](const char* name, double bytes, double plain_seconds, double seconds) {
    table.add({name, fmt::format("{:.3g}", gigabytes_per_second(bytes, plain_seconds)),
               fmt::format("{:.3g}", gigabytes_per_second(bytes, seconds)),
               fmt::format("{:.2f}", plain_seconds / seconds)});
  };
  if (result.ranks > 1) {
    add("MPI_Gather", gathered_bytes(result), result.plain_gather_seconds, result.gather_seconds);
  }
  add("MPI_File_write_at_all, sync", written_bytes(result), result.plain_write_seconds, result.write_seconds);
  return table.text();
}

std::string links_text(const Result& result) {
  if (result.links.empty()) return {};
  Table table({"imitated link", "encode / link", "encode GB/s", "link GB/s", "values s", "frames s",
               "frames / values"});
  const auto add = [&](const char* name, double slowness, const mpibench::ThroughLink& of) {
    table.add({name, fmt::format("{:g}", slowness), fmt::format("{:.3g}", of.encode / 1e9),
               fmt::format("{:.3g}", of.link / 1e9), fmt::format("{:.3g}", of.plain_seconds),
               fmt::format("{:.3g}", of.seconds), fmt::format("{:.2f}", of.factor)});
  };
  for (const mpibench::LinkPoint& point : result.links) {
    add("MPI_Gather", point.slowness, point.gather);
    add("MPI_File_write_at_all, sync", point.slowness, point.write);
  }
  return table.text() + "\n";
}

std::string modelled_text(const Args& args, const std::vector<Row>& rows) {
  std::string text = fmt::format(
      "Modelled, not measured: one rank with {} GB a node, {} GB/s in and out of each, file system {} GB/s "
      "in all; "
      "speeds of one\n"
      "core as above, of several {} times as many; encoding, moving and decoding overlap in blocks of {} "
      "MiB.\n\n",
      args.node_gigabytes, args.link_gigabytes, args.storage_gigabytes, args.efficiency,
      args.block_megabytes);
  std::vector<std::string> heads = {"effective GB/s (factor, limit)", "nodes", "values"};
  for (const int cores : args.cores) heads.push_back(fmt::format("{} cores", cores));
  heads.emplace_back("cores for 5x");
  Table table(heads);
  for (size_t i = 0; i < rows.size(); i += args.cores.size()) {
    const Row& first = rows[i];
    std::vector<std::string> cells = {
        name_of(first.operation), std::to_string(first.machine.nodes),
        fmt::format("{:.3g}", gigabytes_per_second(first.modelled.bytes, first.modelled.plain_seconds))};
    for (size_t c = 0; c < args.cores.size(); ++c) {
      const Modelled& modelled = rows[i + c].modelled;
      cells.push_back(fmt::format("{:.3g} ({:.2f}, {})",
                                  gigabytes_per_second(modelled.bytes, modelled.seconds), modelled.factor(),
                                  modelled.limit));
    }
    cells.push_back(first.cores_for_five > 0 ? std::to_string(first.cores_for_five) : "never");
    table.add(cells);
  }
  return text + table.text();
}

// The program's own calls alone.
Status run_own(const Ranks& ranks, const Args& args) {
  std::vector<mpibench::OwnGathers> found;
  for (const uint64_t kibibytes : args.own_kibibytes) {
    NEVE_ASSIGN(const auto one, mpibench::time_own_gathers(ranks.comm(), kibibytes << 10, args.calls));
    found.push_back(one);
  }
  const auto json = [&] {
    Json rows = Json::array();
    for (const mpibench::OwnGathers& one : found) {
      rows.push_back(
          {{"rank_bytes", one.rank_bytes}, {"calls", one.calls}, {"median_seconds", one.median_seconds}});
    }
    return Json{{"own_gathers", rows}};
  };
  return report(ranks, args.report, json, [&] {
    Table table({"MPI_Gather, bytes a rank", "calls", "median us"});
    for (const mpibench::OwnGathers& one : found) {
      table.add({std::to_string(one.rank_bytes), std::to_string(one.calls),
                 fmt::format("{:.2f}", 1e6 * one.median_seconds)});
    }
    return table.text();
  });
}

Status run(const Ranks& ranks, const Args& args) {
  if (!args.own_kibibytes.empty()) return run_own(ranks, args);
  mpibench::Case options;
  options.input = args.input;
  NEVE_ASSIGN(options.calls.bound, parse_bound(args.bound));
  NEVE_ASSIGN(options.calls.threads, check_threads(args.threads));
  options.rank_bytes = static_cast<uint64_t>(args.megabytes * (1 << 20));
  options.calls.block_bytes = static_cast<uint64_t>(args.block_megabytes * (1 << 20));
  options.repeats = args.repeats;
  options.folder = args.folder;
  options.links = args.links;
  NEVE_ASSIGN(const Result result, mpibench::run_benchmark(ranks.comm(), options));
  const auto json = [&] { return result_json(args, result, model(args, result)); };
  return report(ranks, args.report, json, [&] {
    return fmt::format(
               "{}, {}: {} on each of {} ranks, ratio {}; one core encodes {:.2f} and decodes {:.2f} GB/s "
               "(CPU time)\n"
               "{} values compared, largest error {}, bound {}; medians of {}\n\n",
               result.field, args.bound, human_bytes(result.rank_bytes), result.ranks,
               human_ratio(result.speeds.ratio), result.speeds.encode / 1e9, result.speeds.decode / 1e9,
               result.compared_values, human_error(result.max_abs_error), human_error(result.bound_abs),
               args.repeats) +
           live_text(result) + "\n" + links_text(result) + modelled_text(args, model(args, result));
  });
}

void add_model_options(CLI::App& sub, Args& args) {
  sub.option_defaults()->group("Model");
  sub.add_option("--nodes", args.nodes, "modelled nodes")
      ->delimiter(',')
      ->check(CLI::Range(2, 1 << 20))
      ->capture_default_str();
  sub.add_option("--cores", args.cores, "modelled cores of a node")
      ->delimiter(',')
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  sub.add_option("--node-gigabytes", args.node_gigabytes, "modelled GB of values on a node")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  sub.add_option("--link", args.link_gigabytes, "modelled GB/s of a node's link")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  sub.add_option("--storage", args.storage_gigabytes, "modelled GB/s of the file system")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  sub.add_option("--latency", args.latency_microseconds, "modelled microseconds of a message")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  sub.add_option("--efficiency", args.efficiency, "modelled speed of c cores relative to c times that of one")
      ->check(CLI::Range(0.01, 1.0))
      ->capture_default_str();
}

}  // namespace

Command add_bench_mpi(CLI::App& bench) {
  CLI::App* sub = bench.add_subcommand("mpi", "Compare gathers and writes of frames with those of values");
  sub->group(mini_apps);
  auto args = std::make_shared<Args>();
  sub->add_option("--input", args->input,
                  "the .npy array that every rank holds; without it: waves with noise, 128^3");
  sub->add_option("--bound", args->bound, "abs=X, rel=X or lossless")->capture_default_str();
  sub->add_option(
         "--megabytes", args->megabytes,
         "most MiB of values on each rank: the field is repeated as often as it fits, and used once where "
         "it is larger (the waves take 8 MiB)")
      ->check(CLI::Range(0.0, 1024.0))
      ->capture_default_str();
  sub->add_option("--block-megabytes", args->block_megabytes, "MiB of values in a block")
      ->check(CLI::Range(0.001, 1024.0))
      ->capture_default_str();
  sub->add_option("--threads", args->threads, "threads of each rank in measured calls")
      ->capture_default_str();
  sub->add_option("--repeats", args->repeats, "repetitions of each operation")->capture_default_str();
  sub->add_option("--imitate", args->links,
                  "imitated links, each so many times slower than the ranks encode: 12,2 (none)")
      ->delimiter(',')
      ->check(CLI::Range(0.01, 1000.0));
  CLI::Option* const own =
      sub->add_option("--own", args->own_kibibytes,
                      "only time MPI_Gather itself, of so many KiB a rank: alone, and under neve mpi run")
          ->delimiter(',')
          ->check(CLI::Range(1, 1 << 20))
          ->excludes("--input")
          ->excludes("--imitate");
  sub->add_option("--calls", args->calls, "calls of --own")
      ->needs(own)
      ->check(CLI::Range(10, 1000000))
      ->capture_default_str();
  sub->add_option("--folder", args->folder, "folder in which the files are written")->capture_default_str();
  add_model_options(*sub, *args);
  add_report_options(*sub, args->report);
  sub->footer(
      "Examples:\n"
      "  mpirun -n 4 neve bench mpi\n"
      "  mpirun -n 8 neve bench mpi --input field.npy --bound rel=1e-4 --link 12.5 --cores 1,16,128\n"
      "  mpirun -n 2 neve bench mpi --input field.npy --imitate 12,2\n"
      "  neve mpi run --bound rel=1e-3 -- mpirun -n 2 neve bench mpi --own 64,1024\n"
      "  mpirun -n 2 --mca btl tcp,self neve bench mpi        # through the loopback device");
  Command command{sub, {}, {}};
  command.parallel = [args](const Ranks& ranks) { return run(ranks, *args); };
  return command;
}

}  // namespace neve::cli
