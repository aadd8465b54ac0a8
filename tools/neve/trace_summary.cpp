// SPDX-License-Identifier: BSD-3-Clause
#include "tools/neve/trace_summary.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "preload/trace/collect.hpp"
#include "preload/trace/path_pattern.hpp"
#include "tools/common/console.hpp"
#include "tools/common/visible.hpp"
#include "tools/neve/trace_log.hpp"

namespace neve::cli {
namespace {

using trace::Counters;
using trace::Direction;
using trace::Level;

bool selected(const TraceSelection& selection, const std::string& path, const trace::File& file) {
  if (selection.patterns.empty()) return true;
  for (const std::string& pattern : selection.patterns) {
    if (trace::path_matches(pattern.c_str(), path.c_str())) return true;
    for (const std::string& name : file.renamed_to) {
      if (trace::path_matches(pattern.c_str(), name.c_str())) return true;
    }
  }
  return false;
}

// What lies at `path`, with the log's own sizes of the selected files.
Status read_counts(TraceSummary& s, const TraceSelection& selection) {
  if (is_darshan_log(s.path)) {
    NEVE_ASSIGN(DarshanLog log, read_darshan_log(s.path));
    s.is_log = true;
    s.trace = std::move(log.trace);
    s.absent = std::move(log.absent);
    s.notes = std::move(log.notes);
    for (const auto& [path, sizes] : log.sizes) {
      const auto file = s.trace.files.find(path);
      if (file == s.trace.files.end() || !selected(selection, path, file->second)) continue;
      for (size_t level = 0; level < trace::level_count; ++level) {
        for (const auto& [bytes, count] : sizes[level]) s.log_sizes[level][bytes] += count;
      }
    }
  } else {
    NEVE_ASSIGN(trace::Collected collected, trace::collect(s.path));
    for (const std::string& why : collected.unreadable) say("trace report", why);
    s.trace = std::move(collected.trace);
  }
  s.unexplained_bytes = s.trace.unexplained_bytes();  // while all names of a file are there
  std::erase_if(s.trace.files,
                [&](const auto& entry) { return !selected(selection, entry.first, entry.second); });
  return {};
}

// Whether `a` comes before `b` in the report.
bool is_before(const Moved& a, const Moved& b, TraceSort sort) {
  if (sort == TraceSort::time) return a.seconds > b.seconds;
  if (sort == TraceSort::calls) return a.calls > b.calls;
  return a.bytes > b.bytes;
}

// `is_whole`: all files are asked for, with them those that no memory was left for.
void add_files(TraceSummary& s, TraceSort sort, bool is_whole) {
  for (const auto& [path, file] : s.trace.files) {
    const Counters all = file.total();
    const auto unexplained = s.unexplained_bytes.find(path);
    s.files.push_back(
        {&path, &file, moved_of(all), unexplained == s.unexplained_bytes.end() ? 0 : unexplained->second});
    s.total.merge(all);
    for (const auto& [name, counters] : file.phases) s.phases[name].merge(counters);
    if (all.values[trace::MPIIO_BYTES_WRITTEN] > 0) s.under_mpi.merge(all);
    Writers writers = writers_of(file);
    s.writers.mpiio.merge(writers.mpiio);
    s.writers.posix.merge(writers.posix);
    s.writers.stdio.merge(writers.stdio);
  }
  if (is_whole) s.total.merge(s.trace.overflow);
  std::stable_sort(s.files.begin(), s.files.end(),
                   [&](const FileRow& a, const FileRow& b) { return is_before(a.moved, b.moved, sort); });
}

// A launcher and a script beside an MPI program's ranks are rows only where they moved something.
void add_processes(TraceSummary& s, TraceSort sort, bool is_whole) {
  std::vector<trace::Share> shares(s.trace.processes.size());
  for (const auto& [path, file] : s.trace.files) {
    for (const auto& [process, share] : file.shares) shares[static_cast<size_t>(process)].merge(share);
  }
  for (size_t p = 0; is_whole && p < shares.size(); ++p) shares[p].merge(s.trace.processes[p].overflow);
  const bool has_ranks = std::any_of(s.trace.processes.begin(), s.trace.processes.end(),
                                     [](const trace::Process& p) { return p.rank >= 0; });
  for (size_t p = 0; p < shares.size(); ++p) {
    const Moved moved = moved_of(shares[p]);
    if (has_ranks && s.trace.processes[p].rank < 0 && moved.calls == 0) continue;
    s.processes.push_back({static_cast<int>(p), shares[p], moved});
  }
  std::stable_sort(s.processes.begin(), s.processes.end(), [&](const ProcessRow& a, const ProcessRow& b) {
    return is_before(a.moved, b.moved, sort);
  });
}

Moved larger_of(const Moved& mpiio, const Moved& posix, const Moved& stdio) {
  return {std::max(mpiio.calls, posix.calls) + stdio.calls, std::max(mpiio.bytes, posix.bytes) + stdio.bytes,
          std::max(mpiio.seconds, posix.seconds) + stdio.seconds};
}

int64_t opens_of(const Counters& counters, Level level) {
  const auto& values = counters.values;
  return level == Level::mpiio   ? values[trace::MPIIO_INDEP_OPENS] + values[trace::MPIIO_COLL_OPENS]
         : level == Level::posix ? values[trace::POSIX_OPENS]
                                 : values[trace::STDIO_OPENS];
}

// Calls on files that a process had no memory for.
void add_overflow_warnings(const trace::Trace& t, std::vector<std::string>& lines) {
  constexpr trace::Counter bytes[][trace::direction_count] = {
      {trace::MPIIO_BYTES_READ, trace::MPIIO_BYTES_WRITTEN},
      {trace::POSIX_BYTES_READ, trace::POSIX_BYTES_WRITTEN},
      {trace::STDIO_BYTES_READ, trace::STDIO_BYTES_WRITTEN}};
  const auto told = [&](Level level, Direction d) {
    const auto moved = t.overflow.values[bytes[static_cast<size_t>(level)][static_cast<size_t>(d)]];
    return fmt::format("{} {} ({})", t.overflow.at(level, d).calls(),
                       d == Direction::read ? "reads" : "writes", human_bytes(static_cast<uint64_t>(moved)));
  };
  for (const Level level : trace_levels) {
    if (!t.overflow.touched(level)) continue;
    lines.push_back(
        fmt::format("{}: {}, {}, {} opens are of files that no memory was left for: they are in the "
                    "totals and in the ranks, but in no file's row (--memory)",
                    level_title(level), told(level, Direction::write), told(level, Direction::read),
                    opens_of(t.overflow, level)));
  }
}

std::string program_of(const TraceSummary& s, const trace::File& file) {
  if (file.shares.size() != 1) return "its processes";
  const std::string& program = s.trace.processes[static_cast<size_t>(file.shares.begin()->first)].program;
  return visible_line(program.substr(program.rfind('/') + 1));
}

void add_unexplained_warnings(const TraceSummary& s, std::vector<std::string>& lines) {
  constexpr size_t told_files = 5;
  std::vector<std::pair<uint64_t, const FileRow*>> found;
  for (const FileRow& row : s.files) {
    if (row.unexplained_bytes > 0) found.push_back({row.unexplained_bytes, &row});
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  uint64_t rest = 0;
  for (size_t i = 0; i < found.size(); ++i) {
    const auto& [bytes, row] = found[i];
    if (i >= told_files) {
      rest += bytes;
      continue;
    }
    lines.push_back(fmt::format("{}: {} wrote {} that no counted call explains", shown_name(*row),
                                program_of(s, *row->file), human_bytes(bytes)));
  }
  if (found.size() > told_files) {
    lines.push_back(fmt::format("and {} more files with {} that no counted call explains",
                                found.size() - told_files, human_bytes(rest)));
  }
}

}  // namespace

Moved moved_of(const Counters& counters) {
  Moved by_level[trace::level_count];
  const auto value = [&](trace::Counter c) { return static_cast<uint64_t>(counters.values[c]); };
  by_level[0] = {value(trace::MPIIO_INDEP_OPENS) + value(trace::MPIIO_COLL_OPENS),
                 value(trace::MPIIO_BYTES_READ) + value(trace::MPIIO_BYTES_WRITTEN), 0};
  for (const Direction direction : {Direction::read, Direction::write}) {
    by_level[0].calls += counters.at(Level::mpiio, direction).calls();
  }
  by_level[1] = {value(trace::POSIX_OPENS) + value(trace::POSIX_READS) + value(trace::POSIX_WRITES),
                 value(trace::POSIX_BYTES_READ) + value(trace::POSIX_BYTES_WRITTEN), 0};
  by_level[2] = {value(trace::STDIO_OPENS) + value(trace::STDIO_READS) + value(trace::STDIO_WRITES),
                 value(trace::STDIO_BYTES_READ) + value(trace::STDIO_BYTES_WRITTEN), 0};
  for (size_t level = 0; level < trace::level_count; ++level) {
    for (const trace::Time t : {trace::READ_TIME, trace::WRITE_TIME, trace::META_TIME}) {
      by_level[level].seconds += counters.times[level][t];
    }
  }
  return larger_of(by_level[0], by_level[1], by_level[2]);
}

Moved moved_of(const trace::Share& share) {
  Moved by_level[trace::level_count];
  for (size_t level = 0; level < trace::level_count; ++level) {
    for (size_t d = 0; d < trace::direction_count; ++d) {
      by_level[level].calls += share.calls[level][d];
      by_level[level].bytes += share.bytes[level][d];
      by_level[level].seconds += share.seconds[level][d];
    }
  }
  return larger_of(by_level[0], by_level[1], by_level[2]);
}

Writers writers_of(const trace::File& file) {
  Writers writers;
  const auto write = static_cast<size_t>(Direction::write);
  for (const auto& [process, share] : file.shares) {
    // An empty collective call takes part, but writes nothing.
    if (share.bytes[static_cast<size_t>(Level::mpiio)][write] > 0) writers.mpiio.insert(process);
    if (share.bytes[static_cast<size_t>(Level::posix)][write] > 0) writers.posix.insert(process);
    if (share.bytes[static_cast<size_t>(Level::stdio)][write] > 0) writers.stdio.insert(process);
  }
  return writers;
}

std::string shown_name(const FileRow& row) {
  const std::string& name = row.file->renamed_to.empty() ? *row.path : row.file->renamed_to.front();
  return visible_line(name);
}

std::string process_name(const trace::Process& process) {
  return process.rank >= 0 ? std::to_string(process.rank)
                           : fmt::format("process {} on {}", process.id, process.host);
}

std::string amplification(const TraceSummary& s, const Counters& counters) {
  if (counters.values[trace::MPIIO_BYTES_WRITTEN] == 0 || s.lacks(trace::POSIX_BYTES_WRITTEN)) return "-";
  return fmt::format("{:.3f}", trace::write_amplification(counters));
}

SizeCounts frequent_sizes(const TraceSummary& s, Level level, size_t how_many) {
  if (!s.is_log) return trace::top_sizes({&s.total.at(level, Direction::write)}, how_many);
  trace::Accesses together;
  together.sizes = s.log_sizes[static_cast<size_t>(level)];
  return trace::top_sizes({&together}, how_many);
}

std::vector<std::string> trace_warnings(const TraceSummary& s) {
  std::vector<std::string> lines = s.notes;
  const trace::Trace& t = s.trace;
  if (t.dropped_calls > 0) {
    lines.push_back(fmt::format("{} calls ({}) were not counted for lack of memory: --memory",
                                t.dropped_calls, human_bytes(t.dropped_bytes)));
  }
  add_overflow_warnings(t, lines);
  add_unexplained_warnings(s, lines);
  for (const Level level : trace_levels) {
    const uint64_t beyond = s.total.at(level, Direction::read).overflow_calls +
                            s.total.at(level, Direction::write).overflow_calls;
    if (beyond == 0) continue;
    lines.push_back(
        fmt::format("{} {} accesses have sizes beyond the number of sizes kept: they are in bytes, counts "
                    "and histograms, but not among the sizes (--sizes)",
                    beyond, level_title(level)));
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

Result<TraceSummary> summarize_trace(const std::string& path, const std::string& label,
                                     const TraceSelection& selection) {
  TraceSummary summary;
  summary.path = path;
  summary.label = label;
  NEVE_TRY(read_counts(summary, selection));
  const bool is_whole = selection.patterns.empty();
  add_files(summary, selection.sort, is_whole);
  add_processes(summary, selection.sort, is_whole);
  return summary;
}

}  // namespace neve::cli
