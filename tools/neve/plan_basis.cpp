// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include "tools/neve/plan_report.hpp"

namespace neve::cli::plan {
namespace {

using io_model::MpiIo;

std::string requests_basis(const Args& args) {
  switch (args.mpi_io) {
    case MpiIo::lustre:
      return "computed: MPI-IO writes, and POSIX writes if aggregators write up to stripe boundaries (ROMIO "
             "on "
             "Lustre); an independent write is one POSIX write";
    case MpiIo::romio:
      return "computed: MPI-IO writes, and POSIX writes by the rules of ROMIO without stripes: even parts "
             "for "
             "aggregators, one a node unless --aggregators is given, windows of 16 MiB, read first where "
             "something lacks; ranks that do not interleave write for themselves";
    case MpiIo::ompio:
      return "computed: MPI-IO writes, and POSIX writes by the rules of Open MPI 4.1's OMPIO without "
             "stripes: up "
             "to 2 ranks write for themselves, more through one aggregator for every 8 at most, half of 32 "
             "MiB "
             "at a time";
  }
  return {};
}

std::string metadata_basis(const Plan& plan) {
  if (plan.args.metadata_writes) return fmt::format("given: {}", plan.metadata_writes);
  if (plan.args.is_striped()) {
    return fmt::format("calibrated: {} ({})", plan.metadata_writes,
                       plan.args.ice ? "Tables II and III of the ACB paper, those of which it tells the size"
                                     : "Table I of the ACB paper: its MPI-IO writes minus its boxes");
  }
  return fmt::format(
      "fitted: {} (those of rank 0 for the structure of Neve's files of 3 and 5 levels; as many more as the "
      "table says of those by HDF5)",
      plan.metadata_writes);
}

void add_system_basis(const Args& args, std::vector<std::string>& basis) {
  if (!args.is_striped()) {
    Args as_it_is;
    as_it_is.mpi_io = args.mpi_io;
    const io_model::FileSystem disk = *system_of(as_it_is);
    basis.push_back(
        fmt::format("measured on one machine of two cores: {:.1f} GB/s to the disk, {:.1f} GB/s from rank to "
                    "rank and into the "
                    "page cache, {:.0f} us a request, {:.2f} ms a collective call",
                    disk.target_bytes_per_second / 1e9, disk.node_bytes_per_second / 1e9,
                    disk.request_seconds * 1e6, disk.call_seconds * 1e3));
    return;
  }
  const io_model::FileSystem named = *io_model::named_file_system(args.system);
  basis.push_back(fmt::format("published: {} targets of {:.2f} GB/s ({}, peak)", named.targets,
                              named.target_bytes_per_second / 1e9, named.name));
  basis.push_back(fmt::format("assumed: {:.1f} GB/s from a node", named.node_bytes_per_second / 1e9));
  basis.push_back(fmt::format(
      "calibrated: {:.2f} ms a request that does not fill a stripe, {:.1f} ms a lock that changes hands, "
      "{:.2f} us a rank for a collective call, fitted to the paper's scaling section (neve bench model)",
      named.request_seconds * 1e3, named.lock_seconds * 1e3, named.call_seconds_per_rank * 1e6));
}

std::string given_instead(const Args& args) {
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
  note(args.rank_us >= 0, "rank latency");
  return given;
}

}  // namespace

std::vector<std::string> basis_of(const Plan& plan) {
  const Args& args = plan.args;
  std::vector<std::string> basis = {requests_basis(args),
                                    metadata_basis(plan) +
                                        " metadata writes, shown beside every POSIX count; mean "
                                        "sizes are of data only"};
  add_system_basis(args, basis);
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
  const std::string given = given_instead(args);
  if (!given.empty()) basis.push_back("given instead of the above: " + given);
  return basis;
}

}  // namespace neve::cli::plan
