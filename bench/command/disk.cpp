// SPDX-License-Identifier: BSD-3-Clause
// `neve bench disk`: the bandwidth of the file system a folder lies on, from all ranks at once.
#include "bench/command/disk.hpp"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "bench/command/groups.hpp"
#include "bench/command/report.hpp"
#include "bench/harness/disk.hpp"

namespace neve::cli {
namespace {

constexpr uint64_t mebibyte = uint64_t{1} << 20;

struct Args {
  uint64_t mib = 256;
  int repeats = 3;
  std::string folder = ".";
  ReportArgs report;
};

Status run(const Ranks& ranks, const Args& args) {
  constexpr uint64_t max_mib = 1 << 20;
  if (args.mib < 1 || args.mib > max_mib) {
    return usage_error(fmt::format("--mib is {}; 1 to {} is allowed", args.mib, max_mib));
  }
  if (args.repeats < 1)
    return usage_error(fmt::format("--repeats is {}; at least 1 is allowed", args.repeats));
  NEVE_ASSIGN(const mpi::Comm comm, mpi::Comm::duplicate(ranks.comm()));
  NEVE_ASSIGN(const apps::Seconds seconds,
              apps::write_to_disk(comm, args.folder, args.mib * mebibyte, args.repeats));
  const double megabytes = static_cast<double>(args.mib * mebibyte) * ranks.size() / 1e6;
  const auto json = [&] {
    return nlohmann::ordered_json{{"ranks", ranks.size()},
                                  {"bytes_per_rank", args.mib * mebibyte},
                                  {"write_seconds", seconds.median},
                                  {"write_seconds_range", {seconds.min, seconds.max}},
                                  {"write_MBps", megabytes / seconds.median}};
  };
  return report(ranks, args.report, json, [&] {
    return fmt::format(
        "{} ranks, {} MiB each, written and made durable: {:.0f} MB/s ({:.0f} to {:.0f} in {} runs)\n",
        ranks.size(), args.mib, megabytes / seconds.median, megabytes / seconds.max, megabytes / seconds.min,
        args.repeats);
  });
}

}  // namespace

Command add_bench_disk(CLI::App& bench) {
  CLI::App* sub =
      bench.add_subcommand("disk", "Measure the file system: each rank writes a file and makes it durable");
  sub->group(machine_benches);
  auto args = std::make_shared<Args>();
  sub->add_option("--mib", args->mib, "MiB that each rank writes")->capture_default_str();
  sub->add_option("--repeats", args->repeats, "number of writes; the median counts")->capture_default_str();
  sub->add_option("--folder", args->folder, "folder in which the files are written")->capture_default_str();
  add_report_options(*sub, args->report);
  sub->footer(
      "Examples:\n  mpirun -n 4 neve bench disk\n  mpirun -n 4 neve bench disk --folder out --mib 1024");
  Command command{sub, {}, {}};
  command.parallel = [args](const Ranks& ranks) { return run(ranks, *args); };
  return command;
}

}  // namespace neve::cli
