// SPDX-License-Identifier: BSD-3-Clause
#include "tools/neve/trace_tables.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "tools/common/console.hpp"
#include "tools/common/visible.hpp"

namespace neve::cli {
namespace {

using trace::Counters;
using trace::Direction;
using trace::Level;

const std::string none = "-";  // not known, or of nothing

constexpr size_t frequent_count = 4;

std::string share_of(const std::set<int>& who, const TraceSummary& s) {
  return s.lacks("SHARES") || who.empty() ? none
                                          : fmt::format("{} of {}", who.size(), s.trace.processes.size());
}

std::string mean_bytes(int64_t bytes, uint64_t calls) {
  return calls == 0 ? none : human_bytes(static_cast<uint64_t>(bytes) / calls);
}

// "37,770".
std::string grouped(uint64_t number) {
  std::string text = std::to_string(number);
  for (size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, 1, ',');
  return text;
}

std::string seconds(double value) {
  return value == 0 ? none : value >= 1000 ? fmt::format("{:.0f} s", value) : fmt::format("{:.3g} s", value);
}

std::string count_of(const TraceSummary& s, const Counters& counters, trace::Counter c) {
  return s.lacks(c) ? none : std::to_string(counters.values[c]);
}

std::string bytes_of(const TraceSummary& s, const Counters& counters, trace::Counter c) {
  return s.lacks(c) ? none : human_bytes(static_cast<uint64_t>(counters.values[c]));
}

std::string calls_of(const TraceSummary& s, const Counters& counters, Level level, Direction direction) {
  return s.lacks_sizes(level) ? none : std::to_string(counters.at(level, direction).calls());
}

// A column for each run, a row for what any of them did.
class TotalsTable {
 public:
  explicit TotalsTable(const std::vector<TraceSummary>& all) : all_(all), table_(heads_of(all)) {}

  template <class Cell>
  void row(const std::string& name, Cell&& cell) {
    std::vector<std::string> cells = {name};
    bool any = false;
    for (const TraceSummary& s : all_) {
      cells.push_back(cell(s));
      any = any || (cells.back() != "0" && cells.back() != none && cells.back() != "0 B");
    }
    if (any) table_.add(std::move(cells));
  }
  void count(const std::string& name, trace::Counter c) {
    row(name, [&](const TraceSummary& s) { return count_of(s, s.total, c); });
  }
  void bytes(const std::string& name, trace::Counter c) {
    row(name, [&](const TraceSummary& s) { return bytes_of(s, s.total, c); });
  }
  void calls(const std::string& name, Level level, Direction direction) {
    row(name, [&](const TraceSummary& s) { return calls_of(s, s.total, level, direction); });
  }
  void time(const std::string& name, Level level, trace::Time which) {
    row(name,
        [&](const TraceSummary& s) { return seconds(s.total.times[static_cast<size_t>(level)][which]); });
  }
  void mean_write(Level level, trace::Counter bytes) {
    row("  mean size", [&](const TraceSummary& s) {
      return mean_bytes(s.total.values[bytes], s.total.at(level, Direction::write).calls());
    });
  }
  std::string text() const { return table_.text(); }

 private:
  static std::vector<std::string> heads_of(const std::vector<TraceSummary>& all) {
    std::vector<std::string> heads = {""};
    for (const TraceSummary& s : all) heads.push_back(s.label);
    return heads;
  }

  const std::vector<TraceSummary>& all_;
  Table table_;
};

void add_mpi_writes(TotalsTable& table) {
  table.calls("MPI-IO writes", Level::mpiio, Direction::write);
  table.count("  independent", trace::MPIIO_INDEP_WRITES);
  table.count("  collective", trace::MPIIO_COLL_WRITES);
  table.count("  split collective", trace::MPIIO_SPLIT_WRITES);
  table.count("  nonblocking", trace::MPIIO_NB_WRITES);
  table.bytes("  bytes", trace::MPIIO_BYTES_WRITTEN);
  table.mean_write(Level::mpiio, trace::MPIIO_BYTES_WRITTEN);
  table.row("  by processes", [](const TraceSummary& s) { return share_of(s.writers.mpiio, s); });
  table.time("  time, all processes", Level::mpiio, trace::WRITE_TIME);
}

void add_posix_writes(TotalsTable& table) {
  table.count("POSIX writes", trace::POSIX_WRITES);
  table.bytes("  bytes", trace::POSIX_BYTES_WRITTEN);
  table.mean_write(Level::posix, trace::POSIX_BYTES_WRITTEN);
  table.row("  by processes", [](const TraceSummary& s) { return share_of(s.writers.posix, s); });
  table.time("  time, all processes", Level::posix, trace::WRITE_TIME);
  table.count("  sequential", trace::POSIX_SEQ_WRITES);
  table.count("  consecutive", trace::POSIX_CONSEC_WRITES);
  table.row("write amplification", [](const TraceSummary& s) { return amplification(s, s.under_mpi); });
}

void add_stdio_writes(TotalsTable& table) {
  table.count("stdio writes", trace::STDIO_WRITES);
  table.bytes("  bytes", trace::STDIO_BYTES_WRITTEN);
  table.bytes("  of them inlined (putc_unlocked)", trace::STDIO_BYTES_INLINED);
  table.row("  by processes", [](const TraceSummary& s) { return share_of(s.writers.stdio, s); });
  table.time("  time, all processes", Level::stdio, trace::WRITE_TIME);
}

void add_reads(TotalsTable& table) {
  table.calls("MPI-IO reads", Level::mpiio, Direction::read);
  table.bytes("  bytes", trace::MPIIO_BYTES_READ);
  table.count("POSIX reads", trace::POSIX_READS);
  table.bytes("  bytes", trace::POSIX_BYTES_READ);
  table.time("  time, all processes", Level::posix, trace::READ_TIME);
  table.count("stdio reads", trace::STDIO_READS);
  table.bytes("  bytes", trace::STDIO_BYTES_READ);
}

void add_other_calls(TotalsTable& table) {
  table.count("POSIX opens", trace::POSIX_OPENS);
  table.count("stdio opens", trace::STDIO_OPENS);
  table.row("syncs", [](const TraceSummary& s) {
    if (s.lacks(trace::POSIX_FSYNCS) || s.lacks(trace::POSIX_FDSYNCS)) return none;
    return std::to_string(s.total.values[trace::POSIX_FSYNCS] + s.total.values[trace::POSIX_FDSYNCS]);
  });
  table.count("  fsync", trace::POSIX_FSYNCS);
  table.count("  fdatasync", trace::POSIX_FDSYNCS);
}

std::string totals_table(const std::vector<TraceSummary>& all) {
  TotalsTable table(all);
  table.row("processes", [](const TraceSummary& s) { return std::to_string(s.trace.processes.size()); });
  table.row("files", [](const TraceSummary& s) { return std::to_string(s.files.size()); });
  table.row("duration", [](const TraceSummary& s) { return seconds(s.trace.end() - s.trace.start()); });
  add_mpi_writes(table);
  add_posix_writes(table);
  add_stdio_writes(table);
  add_reads(table);
  add_other_calls(table);
  return table.text();
}

// Those at which any run writes, or is not known to write nothing; if there is none, all of them.
std::vector<Level> levels_of_writes(const std::vector<TraceSummary>& all) {
  std::vector<Level> levels;
  for (const Level level : trace_levels) {
    const bool any = std::any_of(all.begin(), all.end(), [&](const TraceSummary& s) {
      return s.lacks_sizes(level) || s.total.at(level, Direction::write).calls() > 0;
    });
    if (any) levels.push_back(level);
  }
  return levels.empty() ? std::vector<Level>(std::begin(trace_levels), std::end(trace_levels)) : levels;
}

std::string histogram_table(const std::vector<TraceSummary>& all) {
  const std::vector<Level> levels = levels_of_writes(all);
  std::vector<std::string> heads = {"writes of size"};
  for (const TraceSummary& s : all) {
    for (const Level level : levels) {
      heads.push_back(all.size() > 1 ? fmt::format("{} {}", s.label, level_title(level))
                                     : level_title(level));
    }
  }
  Table table(heads);
  for (size_t bin = 0; bin < trace::bin_count; ++bin) {
    std::vector<std::string> cells = {trace::bin_names[bin]};
    for (const TraceSummary& s : all) {
      for (const Level level : levels) {
        cells.push_back(s.lacks_sizes(level) ? none
                                             : std::to_string(s.total.at(level, Direction::write).bins[bin]));
      }
    }
    table.add(std::move(cells));
  }
  return table.text();
}

std::string frequent_table(const std::vector<TraceSummary>& all) {
  Table table({"most frequent writes", "size", "count", "level"});
  for (const TraceSummary& s : all) {
    for (const Level level : trace_levels) {
      const std::string title = level_title(level);
      const bool has_reads = s.is_log && s.total.at(level, Direction::read).calls() > 0;
      for (const auto& [bytes, count] : frequent_sizes(s, level, frequent_count)) {
        table.add({s.label, std::to_string(bytes), std::to_string(count),
                   has_reads ? title + ", reads too" : title});
      }
    }
  }
  return table.text();
}

std::string bytes_read(const TraceSummary& s, const Counters& total) {
  if (s.lacks(trace::POSIX_BYTES_READ) && s.lacks(trace::STDIO_BYTES_READ)) return none;
  return human_bytes(
      static_cast<uint64_t>(total.values[trace::POSIX_BYTES_READ] + total.values[trace::STDIO_BYTES_READ]));
}

std::vector<std::string> counter_cells(const TraceSummary& s, const std::string& name,
                                       const Counters& total) {
  return {name,
          calls_of(s, total, Level::mpiio, Direction::write),
          bytes_of(s, total, trace::MPIIO_BYTES_WRITTEN),
          count_of(s, total, trace::POSIX_WRITES),
          bytes_of(s, total, trace::POSIX_BYTES_WRITTEN),
          amplification(s, total),
          count_of(s, total, trace::STDIO_WRITES),
          bytes_of(s, total, trace::STDIO_BYTES_WRITTEN),
          bytes_read(s, total),
          seconds(moved_of(total).seconds)};
}

std::vector<std::string> counter_heads(const std::string& first) {
  return {first,           "MPI-IO writes", "bytes", "POSIX writes", "bytes",
          "amplification", "stdio writes",  "bytes", "bytes read",   "time"};
}

// How many of `count` rows are shown.
size_t shown_rows(size_t count, size_t top) { return top == 0 ? count : std::min(count, top); }

// "and 37,770 more files: 1,234 calls, 5.0 MiB"; empty where all are shown.
template <class Row>
std::string rest_line(const std::vector<Row>& rows, size_t shown, const char* what) {
  if (shown >= rows.size()) return {};
  Moved rest;
  for (size_t i = shown; i < rows.size(); ++i) {
    rest.calls += rows[i].moved.calls;
    rest.bytes += rows[i].moved.bytes;
  }
  return fmt::format("and {} more {}{}: {} calls, {}\n", grouped(rows.size() - shown), what,
                     rows.size() - shown == 1 ? "" : "s", grouped(rest.calls), human_bytes(rest.bytes));
}

std::string files_table(const TraceSummary& s, size_t top) {
  std::vector<std::string> heads = counter_heads(s.label + ": file");
  heads.push_back("writers MPI-IO/POSIX/stdio");
  Table table(heads);
  const size_t shown = shown_rows(s.files.size(), top);
  for (size_t i = 0; i < shown; ++i) {
    const FileRow& row = s.files[i];
    const Writers writers = writers_of(*row.file);
    std::vector<std::string> cells = counter_cells(s, shown_name(row), row.file->total());
    cells.push_back(s.lacks("SHARES") ? none
                                      : fmt::format("{}/{}/{}", writers.mpiio.size(), writers.posix.size(),
                                                    writers.stdio.size()));
    table.add(std::move(cells));
  }
  return table.text() + rest_line(s.files, shown, "file");
}

std::string phases_table(const TraceSummary& s) {
  Table table(counter_heads(s.label + ": phase"));
  for (const auto& [name, counters] : s.phases) {
    table.add(counter_cells(s, name.empty() ? "(before any)" : visible_line(name), counters));
  }
  return table.text();
}

// The columns of a rank: what it wrote at the three levels, what it read, its time.
constexpr size_t rank_columns = 8;
using RankNumbers = std::array<double, rank_columns>;

RankNumbers rank_numbers(const ProcessRow& row) {
  constexpr auto read = static_cast<size_t>(Direction::read), write = static_cast<size_t>(Direction::write);
  const auto& [calls, bytes, spent] = row.share;
  const auto number = [](uint64_t value) { return static_cast<double>(value); };
  return {number(calls[0][write]),
          number(bytes[0][write]),
          number(calls[1][write]),
          number(bytes[1][write]),
          number(calls[2][write]),
          number(bytes[2][write]),
          number(bytes[1][read] + bytes[2][read]),
          row.moved.seconds};
}

std::vector<std::string> rank_cells(const std::string& name, const RankNumbers& numbers) {
  std::vector<std::string> cells = {name};
  for (size_t c = 0; c < rank_columns; ++c) {
    const bool is_bytes = c == 1 || c == 3 || c == 5 || c == 6;
    cells.push_back(c + 1 == rank_columns ? seconds(numbers[c])
                    : is_bytes            ? human_bytes(static_cast<uint64_t>(numbers[c]))
                                          : fmt::format("{:.10g}", std::round(numbers[c] * 10) / 10));
  }
  return cells;
}

// The busiest ranks, the idlest one, the mean, and how far the busiest of each column is above it.
std::string ranks_table(const TraceSummary& s, size_t top) {
  Table table({s.label + ": rank", "MPI-IO writes", "bytes", "POSIX writes", "bytes", "stdio writes", "bytes",
               "bytes read", "time"});
  const size_t shown = shown_rows(s.processes.size(), top);
  RankNumbers sum{}, largest{};
  for (size_t i = 0; i < s.processes.size(); ++i) {
    const RankNumbers numbers = rank_numbers(s.processes[i]);
    for (size_t c = 0; c < rank_columns; ++c) {
      sum[c] += numbers[c];
      largest[c] = std::max(largest[c], numbers[c]);
    }
    const std::string name = process_name(s.trace.processes[static_cast<size_t>(s.processes[i].process)]);
    if (i < shown) table.add(rank_cells(name, numbers));
    if (i >= shown && i + 1 == s.processes.size()) table.add(rank_cells("idlest: " + name, numbers));
  }
  std::vector<std::string> imbalance = {"busiest / mean"};
  for (size_t c = 0; c < rank_columns; ++c) {
    sum[c] /= static_cast<double>(s.processes.size());
    imbalance.push_back(sum[c] > 0 ? fmt::format("{:.3f}", largest[c] / sum[c]) : none);
  }
  table.add(rank_cells("mean", sum));
  table.add(std::move(imbalance));
  return table.text() + rest_line(s.processes, shown, "rank");
}

}  // namespace

std::string trace_tables(const std::vector<TraceSummary>& all, size_t top) {
  std::string text;
  for (const TraceSummary& s : all) {
    text += fmt::format(
        "{}: {}\n", s.label,
        s.trace.command.empty() ? s.path : visible_line(fmt::format("{}", fmt::join(s.trace.command, " "))));
  }
  text += fmt::format("\n{}\n{}\n{}", totals_table(all), histogram_table(all), frequent_table(all));
  for (const TraceSummary& s : all) {
    text += fmt::format("\n{}", files_table(s, top));
    if (s.processes.size() > 1 && !s.lacks("SHARES")) text += fmt::format("\n{}", ranks_table(s, top));
    if (s.phases.size() > 1) text += fmt::format("\n{}", phases_table(s));
  }
  for (const TraceSummary& s : all) {
    for (const std::string& line : trace_warnings(s)) text += fmt::format("{}: {}\n", s.label, line);
  }
  return text;
}

}  // namespace neve::cli
