// SPDX-License-Identifier: BSD-3-Clause
#include "tools/neve/plan_advice.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tools/common/console.hpp"

namespace neve::cli::plan {
namespace {

using io_model::MpiIo;
using io_model::Striping;

// Fewer ranks than that write for themselves in OMPIO, and hardly interleave in ROMIO.
constexpr int few_ranks = 4;

std::vector<std::string> caveats_of(const Args& args, const std::vector<Row>& rows, const Subject& subject) {
  std::vector<std::string> caveats;
  if (args.is_striped() && args.ranks < few_ranks) {
    caveats.push_back(fmt::format(
        "{} of a node write through one page cache: times of a parallel file system say little, and MPI "
        "libraries need not buffer collective writes of so few; --mpi-io romio or ompio counts those",
        counted(static_cast<uint64_t>(args.ranks), "rank")));
  }
  if (args.is_striped()) {
    caveats.push_back(
        "on a file system without stripes (a disk, NFS, tmpfs) the requests are others: --mpi-io romio or "
        "ompio");
  } else {
    caveats.push_back(
        "counted for boxes that lie together in memory, on a file system that can reserve space; the times "
        "are "
        "those of one measured machine, whose ranks share a disk");
  }
  if (args.mpi_io == MpiIo::ompio && args.ranks <= 2) {
    caveats.push_back("OMPIO buffers no collective write of one or two ranks: each writes for itself");
  }
  for (const Row& row : rows) {
    if (row.amplification(subject.values.bytes()) <= 1.05 || row.compresses) continue;
    caveats.push_back(
        fmt::format("{} writes {:.1f} times the bytes: the MPI library reads, changes and writes "
                    "back what lies between the pieces of a call",
                    row.name, row.amplification(subject.values.bytes())));
  }
  return caveats;
}

// "8M": as lfs takes sizes; a multiple of 64 KiB.
std::string lfs_size(uint64_t bytes) {
  constexpr uint64_t KiB = 1024, MiB = KiB * KiB;
  return bytes % MiB == 0 ? fmt::format("{}M", bytes / MiB) : fmt::format("{}K", bytes / KiB);
}

std::string option_size(uint64_t bytes) { return lfs_size(bytes) + "iB"; }

// Of the row "aggregated, 4 boxes".
std::string strategy_of(const Row& row) { return row.name.substr(0, row.name.find(',')); }

// Neve's default; the ratio that a plan is given does not say of which bound it is.
constexpr const char* example_bound = "rel=1e-3";

// As key and value, which each surface spells in its own way.
using Settings = std::vector<std::pair<std::string, std::string>>;

Settings settings_of(const Args& args, const Striping& striping, const Row& best) {
  Settings settings = {{"strategy", strategy_of(best)}};
  if (best.compresses) {
    settings.emplace_back("bound", example_bound);
  } else if (best.name.find(',') != std::string::npos) {
    settings.emplace_back("aggregate_boxes", std::to_string(args.aggregate_boxes));
  }
  // Frames are written by each rank for itself.
  const bool is_collective = strategy_of(best) != "independent" && !best.compresses;
  if (args.is_striped()) {
    settings.emplace_back("stripe_count", std::to_string(striping.stripe_count));
    settings.emplace_back("stripe_size", option_size(striping.stripe_bytes));
  }
  if (is_collective && (args.is_striped() || args.layout.aggregators > 0)) {
    settings.emplace_back("aggregators", std::to_string(striping.aggregators));
  }
  return settings;
}

std::string joined_settings(const Settings& settings, const std::string& between, const std::string& before,
                            const std::string& equals, bool has_dashes) {
  std::string text;
  for (auto [key, value] : settings) {
    if (has_dashes) {
      for (char& letter : key) letter = letter == '_' ? '-' : letter;
    }
    text += (text.empty() ? "" : between) + before + key + equals + value;
  }
  return text;
}

// The grid planned for, as `neve bench chombo` makes it.
std::string bench_grid(const Args& args) {
  std::string text;
  const auto add = [&](const char* option, const std::string& value) {
    text += fmt::format("{} {} ", option, value);
  };
  if (args.ice) add("--grid", "bisicles");
  if (args.checkpoint) add("--file", "checkpoint");
  if (!args.ice) {
    std::string units = args.chombo;
    std::ranges::replace(units, 'x', ',');
    add("--units", units);
  }
  if (args.box_cells != 0) add("--box-cells", std::to_string(args.box_cells));
  if (args.components != 0) add("--components", std::to_string(args.components));
  if (args.ghosts >= 0) add("--ghosts", std::to_string(args.ghosts));
  if (args.distribution != Args().distribution) add("--distribution", args.distribution);
  return text;
}

// Of any program. Ranks of a node that may be aggregators: else ROMIO takes one.
Settings mpi_hints(const Args& args, const Striping& striping, const io_model::FileSystem& system) {
  Settings hints;
  if (args.is_striped()) {
    hints = {{"striping_factor", std::to_string(striping.stripe_count)},
             {"striping_unit", std::to_string(striping.stripe_bytes)}};
  }
  if (args.is_striped() || args.layout.aggregators > 0) {
    const int nodes = (args.ranks + system.ranks_per_node - 1) / system.ranks_per_node;
    hints.emplace_back("cb_nodes", std::to_string(striping.aggregators));
    if (args.mpi_io != MpiIo::ompio) {
      hints.emplace_back("cb_config_list", fmt::format("*:{}", (striping.aggregators + nodes - 1) / nodes));
      hints.emplace_back("romio_cb_write", "enable");
    }
  }
  if (args.mpi_io == MpiIo::romio) hints.emplace_back("romio_ds_write", "disable");
  return hints;
}

// Colons part hints of that variable; a value that has one stands between #.
Settings cray_hints(Settings hints) {
  for (auto& [key, value] : hints) {
    if (value.find(':') != std::string::npos) value = "#" + value + "#";
  }
  return hints;
}

}  // namespace

Advice advise(const Args& args, const std::vector<Row>& rows, const Subject& subject) {
  Advice advice;
  for (size_t i = 1; i < rows.size(); ++i) {
    const bool is_eligible = rows[i].is_neves && !rows[i].compresses;
    if (is_eligible && rows[i].total() < rows[advice.best].total()) advice.best = i;
  }
  advice.caveats = caveats_of(args, rows, subject);
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

std::vector<PasteLine> paste_lines(const Args& args, const Striping& striping,
                                   const io_model::FileSystem& system, const Row& best) {
  std::vector<PasteLine> lines;
  if (args.is_striped()) {
    lines.push_back({"the folder, before files are made in it",
                     fmt::format("lfs setstripe -c {} -S {} DIR", striping.stripe_count,
                                 lfs_size(striping.stripe_bytes))});
  }
  const Settings hints = mpi_hints(args, striping, system);
  const Settings settings = settings_of(args, striping, best);
  const std::string options = joined_settings(settings, " ", "--", " ", true);
  lines.push_back({"neve convert", options});
  if (args.is_grid()) {
    const Settings rest(settings.begin() + 1, settings.end());  // the strategy has another name
    const std::string strategies = best.compresses ? "compressed" : strategy_of(best);
    lines.push_back({"neve bench chombo", fmt::format("{}--strategies {} {}", bench_grid(args), strategies,
                                                      joined_settings(rest, " ", "--", " ", true))});
  }
  lines.push_back({"options as text (C, Fortran, ADIOS2)", joined_settings(settings, ";", "", "=", false)});
  for (const auto& [key, value] : settings) {
    lines.push_back({"input file (AMReX)", fmt::format("neve.{} = {}", key, value)});
  }
  if (hints.empty()) return lines;
  lines.push_back({"environment, hints for Neve alone",
                   fmt::format("export NEVE_MPI_HINTS=\"{}\"", joined_settings(hints, ";", "", "=", false))});
  if (args.mpi_io != MpiIo::ompio) {
    for (const auto& [key, value] : hints) {
      lines.push_back({"a line of the file that ROMIO_HINTS names, for any program", key + " " + value});
    }
  }
  if (args.is_striped()) {
    lines.push_back({"environment, hints for any program on a Cray",
                     fmt::format("export MPICH_MPIIO_HINTS=\"*:{}\"",
                                 joined_settings(cray_hints(hints), ":", "", "=", false))});
  }
  return lines;
}

}  // namespace neve::cli::plan
