// SPDX-License-Identifier: BSD-3-Clause
// `neve trace report`: tables, JSON, and the distribution of access sizes as a picture.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <iostream>
#include <memory>
#include <set>

#include "neve/status.hpp"
#include "preload/trace/collect.hpp"
#include "preload/trace/json.hpp"
#include "preload/trace/path_pattern.hpp"
#include "tools/common/console.hpp"
#include "tools/common/python.hpp"
#include "tools/neve/trace.hpp"

namespace neve::cli {
namespace {

using nlohmann::ordered_json;
using trace::Counters;
using trace::Direction;
using trace::Level;

struct Args {
  std::vector<std::string> traces, labels, patterns;
  std::string plot;
  bool json = false;
};

struct Writers {
  std::set<int> mpiio, posix;  // processes
};

struct Summary {
  std::string label, path;
  trace::Trace trace;
  Counters total;
  Counters under_mpi;  // of the files that were written through MPI-IO
  std::map<std::string, Counters> phases;
  Writers writers;
};

constexpr Level levels[] = {Level::mpiio, Level::posix, Level::stdio};

Writers writers_of(const trace::File& file) {
  Writers writers;
  const auto write = static_cast<size_t>(Direction::write);
  for (const auto& [process, share] : file.shares) {
    // An empty collective call takes part, but writes nothing.
    if (share.bytes[static_cast<size_t>(Level::mpiio)][write] > 0) writers.mpiio.insert(process);
    if (share.bytes[static_cast<size_t>(Level::posix)][write] > 0) writers.posix.insert(process);
  }
  return writers;
}

std::string shown_name(const std::string& path, const trace::File& file) {
  return file.renamed_to.empty() ? path : file.renamed_to.front();
}

bool selected(const Args& args, const std::string& path, const trace::File& file) {
  if (args.patterns.empty()) return true;
  for (const std::string& pattern : args.patterns) {
    if (trace::path_matches(pattern.c_str(), path.c_str())) return true;
    for (const std::string& name : file.renamed_to) {
      if (trace::path_matches(pattern.c_str(), name.c_str())) return true;
    }
  }
  return false;
}

Result<Summary> summarize(const Args& args, size_t index) {
  Summary summary;
  summary.path = args.traces[index];
  summary.label =
      index < args.labels.size() ? args.labels[index] : std::filesystem::path(summary.path).stem().string();
  NEVE_ASSIGN(trace::Collected collected, trace::collect(summary.path));
  for (const std::string& why : collected.unreadable) say("trace report", why);
  summary.trace = std::move(collected.trace);
  std::erase_if(summary.trace.files,
                [&](const auto& entry) { return !selected(args, entry.first, entry.second); });
  for (const auto& [path, file] : summary.trace.files) {
    for (const auto& [name, counters] : file.phases) {
      summary.phases[name].merge(counters);
      summary.total.merge(counters);
    }
    if (const Counters counters = file.total(); counters.values[trace::MPIIO_BYTES_WRITTEN] > 0) {
      summary.under_mpi.merge(counters);
    }
    Writers writers = writers_of(file);
    summary.writers.mpiio.merge(writers.mpiio);
    summary.writers.posix.merge(writers.posix);
  }
  return summary;
}

// What a reader must know before believing the counts.
std::vector<std::string> warnings(const Summary& s) {
  std::vector<std::string> lines;
  const trace::Trace& t = s.trace;
  if (t.dropped_calls > 0) {
    lines.push_back(fmt::format("{} calls ({}) were not counted for lack of memory: --memory",
                                t.dropped_calls, human_bytes(t.dropped_bytes)));
  }
  for (const Level level : levels) {
    const uint64_t beyond = s.total.at(level, Direction::read).overflow_calls +
                            s.total.at(level, Direction::write).overflow_calls;
    if (beyond == 0) continue;
    lines.push_back(
        fmt::format("{} {} accesses have sizes beyond the number of sizes kept: they are in bytes, counts "
                    "and histograms, but not among the sizes (--sizes)",
                    beyond, level_prefix(level)));
  }
  if (t.writable_maps > 0) {
    lines.push_back(fmt::format("{} shared writable mappings of files: writes through them cannot be seen",
                                t.writable_maps));
  }
  if (t.reentrant_calls > 0) {
    lines.push_back(
        fmt::format("{} calls from signal handlers or allocators were not counted", t.reentrant_calls));
  }
  if (t.phases_beyond > 0) lines.push_back("there were more phases than can be kept");
  if (t.unreadable_parts > 0) lines.push_back(fmt::format("{} parts could not be read", t.unreadable_parts));
  return lines;
}

std::string share_of(const std::set<int>& who, const trace::Trace& trace) {
  return fmt::format("{} of {}", who.size(), trace.processes.size());
}

std::string mean_bytes(int64_t bytes, uint64_t calls) {
  return calls == 0 ? "-" : human_bytes(static_cast<uint64_t>(bytes) / calls);
}

std::string seconds(double value) { return value == 0 ? "-" : fmt::format("{:.3g} s", value); }

std::string amplification(const Counters& counters) {
  return counters.values[trace::MPIIO_BYTES_WRITTEN] > 0
             ? fmt::format("{:.3f}", write_amplification(counters))
             : "-";
}

// A column for each run, a row for what any of them did.
class TotalsTable {
 public:
  explicit TotalsTable(const std::vector<Summary>& all) : all_(all), table_(heads_of(all)) {}

  template <class Cell>
  void row(const std::string& name, Cell&& cell) {
    std::vector<std::string> cells = {name};
    bool any = false;
    for (const Summary& s : all_) {
      cells.push_back(cell(s));
      any = any || (cells.back() != "0" && cells.back() != "-" && cells.back() != "0 B");
    }
    if (any) table_.add(std::move(cells));
  }
  void count(const std::string& name, trace::Counter c) {
    row(name, [&](const Summary& s) { return std::to_string(s.total.values[c]); });
  }
  void bytes(const std::string& name, trace::Counter c) {
    row(name, [&](const Summary& s) { return human_bytes(static_cast<uint64_t>(s.total.values[c])); });
  }
  void write_time(Level level) {
    row("  time, all processes", [&](const Summary& s) {
      return seconds(s.total.times[static_cast<size_t>(level)][trace::WRITE_TIME]);
    });
  }
  void mean_write(Level level, trace::Counter bytes) {
    row("  mean size", [&](const Summary& s) {
      return mean_bytes(s.total.values[bytes], s.total.at(level, Direction::write).calls());
    });
  }
  std::string text() const { return table_.text(); }

 private:
  static std::vector<std::string> heads_of(const std::vector<Summary>& all) {
    std::vector<std::string> heads = {""};
    for (const Summary& s : all) heads.push_back(s.label);
    return heads;
  }

  const std::vector<Summary>& all_;
  Table table_;
};

void add_mpi_writes(TotalsTable& table) {
  table.row("MPI-IO writes", [](const Summary& s) {
    return std::to_string(s.total.at(Level::mpiio, Direction::write).calls());
  });
  table.count("  independent", trace::MPIIO_INDEP_WRITES);
  table.count("  collective", trace::MPIIO_COLL_WRITES);
  table.count("  split collective", trace::MPIIO_SPLIT_WRITES);
  table.count("  nonblocking", trace::MPIIO_NB_WRITES);
  table.bytes("  bytes", trace::MPIIO_BYTES_WRITTEN);
  table.mean_write(Level::mpiio, trace::MPIIO_BYTES_WRITTEN);
  table.row("  by processes", [](const Summary& s) {
    return s.writers.mpiio.empty() ? "-" : share_of(s.writers.mpiio, s.trace);
  });
  table.write_time(Level::mpiio);
}

void add_posix_writes(TotalsTable& table) {
  table.count("POSIX writes", trace::POSIX_WRITES);
  table.bytes("  bytes", trace::POSIX_BYTES_WRITTEN);
  table.mean_write(Level::posix, trace::POSIX_BYTES_WRITTEN);
  table.row("  by processes", [](const Summary& s) {
    return s.writers.posix.empty() ? "-" : share_of(s.writers.posix, s.trace);
  });
  table.write_time(Level::posix);
  table.count("  sequential", trace::POSIX_SEQ_WRITES);
  table.count("  consecutive", trace::POSIX_CONSEC_WRITES);
  table.row("write amplification", [](const Summary& s) { return amplification(s.under_mpi); });
  table.count("stdio writes", trace::STDIO_WRITES);
  table.bytes("  bytes", trace::STDIO_BYTES_WRITTEN);
}

void add_reads(TotalsTable& table) {
  table.row("MPI-IO reads", [](const Summary& s) {
    return std::to_string(s.total.at(Level::mpiio, Direction::read).calls());
  });
  table.bytes("  bytes", trace::MPIIO_BYTES_READ);
  table.count("POSIX reads", trace::POSIX_READS);
  table.bytes("  bytes", trace::POSIX_BYTES_READ);
  table.count("stdio reads", trace::STDIO_READS);
  table.bytes("  bytes", trace::STDIO_BYTES_READ);
}

std::string totals_table(const std::vector<Summary>& all) {
  TotalsTable table(all);
  table.row("processes", [](const Summary& s) { return std::to_string(s.trace.processes.size()); });
  table.row("files", [](const Summary& s) { return std::to_string(s.trace.files.size()); });
  add_mpi_writes(table);
  add_posix_writes(table);
  add_reads(table);
  table.count("POSIX opens", trace::POSIX_OPENS);
  table.count("fsync, fdatasync", trace::POSIX_FSYNCS);
  return table.text();
}

std::string histogram_table(const std::vector<Summary>& all) {
  std::vector<std::string> heads = {"writes of size"};
  for (const Summary& s : all) {
    const std::string prefix = all.size() > 1 ? s.label + " " : "";
    heads.push_back(prefix + "MPI-IO");
    heads.push_back(prefix + "POSIX");
  }
  Table table(heads);
  for (size_t bin = 0; bin < trace::bin_count; ++bin) {
    std::vector<std::string> cells = {trace::bin_names[bin]};
    for (const Summary& s : all) {
      for (const Level level : {Level::mpiio, Level::posix}) {
        cells.push_back(std::to_string(s.total.at(level, Direction::write).bins[bin]));
      }
    }
    table.add(std::move(cells));
  }
  return table.text();
}

std::string top_table(const std::vector<Summary>& all) {
  Table table({"most frequent writes", "size", "count", "level"});
  for (const Summary& s : all) {
    for (const Level level : {Level::mpiio, Level::posix}) {
      for (const auto& [bytes, count] : trace::top_sizes({&s.total.at(level, Direction::write)}, 4)) {
        table.add({s.label, std::to_string(bytes), std::to_string(count), level_prefix(level)});
      }
    }
  }
  return table.text();
}

std::vector<std::string> counter_cells(const std::string& name, const Counters& total) {
  return {name,
          std::to_string(total.at(Level::mpiio, Direction::write).calls()),
          human_bytes(static_cast<uint64_t>(total.values[trace::MPIIO_BYTES_WRITTEN])),
          std::to_string(total.values[trace::POSIX_WRITES]),
          human_bytes(static_cast<uint64_t>(total.values[trace::POSIX_BYTES_WRITTEN])),
          amplification(total),
          std::to_string(total.values[trace::STDIO_WRITES]),
          human_bytes(static_cast<uint64_t>(total.values[trace::POSIX_BYTES_READ] +
                                            total.values[trace::STDIO_BYTES_READ]))};
}

std::string files_table(const Summary& s) {
  Table table({s.label + ": file", "MPI-IO writes", "bytes", "POSIX writes", "bytes", "amplification",
               "stdio writes", "bytes read", "writers MPI-IO/POSIX"});
  for (const auto& [path, file] : s.trace.files) {
    const Writers writers = writers_of(file);
    std::vector<std::string> cells = counter_cells(shown_name(path, file), file.total());
    cells.push_back(fmt::format("{}/{}", writers.mpiio.size(), writers.posix.size()));
    table.add(std::move(cells));
  }
  return table.text();
}

std::string phases_table(const Summary& s) {
  Table table({s.label + ": phase", "MPI-IO writes", "bytes", "POSIX writes", "bytes", "amplification",
               "stdio writes", "bytes read"});
  for (const auto& [name, counters] : s.phases) {
    table.add(counter_cells(name.empty() ? "(before any)" : name, counters));
  }
  return table.text();
}

ordered_json levels_json(const Counters& counters, double start) {
  ordered_json j;
  if (counters.values[trace::MPIIO_BYTES_WRITTEN] > 0)
    j["write_amplification"] = write_amplification(counters);
  j["mpiio"] = level_to_json(counters, Level::mpiio, start);
  j["posix"] = level_to_json(counters, Level::posix, start);
  j["stdio"] = level_to_json(counters, Level::stdio, start);
  return j;
}

// Ranks where there are some, else numbers of processes in the trace.
ordered_json who_json(const std::set<int>& processes, const trace::Trace& trace) {
  std::vector<int64_t> names;
  for (const int process : processes) {
    const int64_t rank = trace.processes[static_cast<size_t>(process)].rank;
    names.push_back(rank < 0 ? process : rank);
  }
  std::sort(names.begin(), names.end());
  return names;
}

ordered_json summary_json(const Summary& s) {
  const double start = s.trace.start();
  ordered_json j;
  j["trace"] = s.path;
  j["label"] = s.label;
  j["command"] = s.trace.command;
  j["seconds"] = s.trace.end() - start;
  j["processes"] = s.trace.processes.size();
  j["total"] = levels_json(s.total, start);
  if (s.under_mpi.values[trace::MPIIO_BYTES_WRITTEN] > 0) {
    // Of the files written through MPI-IO alone.
    j["total"]["write_amplification"] = write_amplification(s.under_mpi);
  }
  j["writers"] = {{"mpiio", who_json(s.writers.mpiio, s.trace)},
                  {"posix", who_json(s.writers.posix, s.trace)}};
  j["phases"] = ordered_json::object();
  for (const auto& [name, counters] : s.phases) j["phases"][name] = levels_json(counters, start);
  j["files"] = ordered_json::object();
  for (const auto& [path, file] : s.trace.files) {
    ordered_json f = levels_json(file.total(), start);
    const Writers writers = writers_of(file);
    f["renamed_to"] = file.renamed_to;
    f["writers"] = {{"mpiio", who_json(writers.mpiio, s.trace)}, {"posix", who_json(writers.posix, s.trace)}};
    j["files"][path] = std::move(f);
  }
  j["warnings"] = warnings(s);
  return j;
}

ordered_json report_json(const std::vector<Summary>& all) {
  ordered_json j;
  j["traces"] = ordered_json::array();
  for (const Summary& s : all) j["traces"].push_back(summary_json(s));
  return j;
}

void print_tables(const std::vector<Summary>& all) {
  for (const Summary& s : all) {
    fmt::print("{}: {}\n", s.label,
               s.trace.command.empty() ? s.path : fmt::format("{}", fmt::join(s.trace.command, " ")));
  }
  fmt::print("\n{}\n{}\n{}", totals_table(all), histogram_table(all), top_table(all));
  for (const Summary& s : all) {
    fmt::print("\n{}", files_table(s));
    if (s.phases.size() > 1) fmt::print("\n{}", phases_table(s));
  }
  for (const Summary& s : all) {
    for (const std::string& line : warnings(s)) fmt::print("{}: {}\n", s.label, line);
  }
  std::fflush(stdout);
}

int report(const Args& args) {
  if (args.labels.size() > args.traces.size()) {
    say("trace report", fmt::format("{} labels for {} traces; --label names them in order",
                                    args.labels.size(), args.traces.size()));
    return static_cast<int>(Code::usage);
  }
  std::vector<Summary> all;
  for (size_t i = 0; i < args.traces.size(); ++i) {
    auto summary = summarize(args, i);
    if (!summary.ok()) {
      say("trace report", summary.status().message());
      return static_cast<int>(summary.status().code());
    }
    all.push_back(std::move(*summary));
  }
  if (args.json) {
    std::cout << report_json(all).dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << std::endl;
  } else {
    print_tables(all);
  }
  if (args.plot.empty()) return 0;
  return exec_module("neve.trace", {"-", "-o", args.plot},
                     report_json(all).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

}  // namespace

TraceCommand add_trace_report(CLI::App& parent) {
  CLI::App* sub = parent.add_subcommand("report", "Print tables of traces, side by side");
  auto args = std::make_shared<Args>();
  sub->add_option("traces", args->traces, "a trace that `neve trace run` wrote")->required();
  sub->add_flag("--json", args->json, "as JSON on stdout, under Darshan's names");
  sub->add_option("--plot", args->plot, "picture of the distribution of write sizes, MPI-IO and POSIX")
      ->type_name("OUT.png");
  sub->add_option("--file", args->patterns, "only files that match this pattern")
      ->type_name("PATTERN")
      ->allow_extra_args(false);
  sub->add_option("--label", args->labels, "names of the traces in the report, in order (their file names)")
      ->allow_extra_args(false);
  sub->footer(
      "Parts that processes left beside a trace (killed, or without MPI_Finalize) are merged when it is\n"
      "read.\n"
      "Examples:\n"
      "  neve trace report trace.json\n"
      "  neve trace report independent.json collective.json aggregated.json --file '*.h5' --plot sizes.png\n"
      "  neve trace report trace.json --json");
  TraceCommand command{sub, {}};
  command.work = [args] { return report(*args); };
  return command;
}

}  // namespace neve::cli
